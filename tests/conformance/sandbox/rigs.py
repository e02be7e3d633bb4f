"""The suite's view of a backend: how it is launched, with the true runner or with one that lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.local.runner_image import RUNNER
from libs.sandbox import Command, Ended, Piece, Session
from libs.sandbox.bubblewrap import Bubblewrap
from libs.sandbox.docker import Docker, image_of
from libs.sandbox.sessions import Launcher

PLATFORM = "conformance"


@dataclass(frozen=True)
class Rig:
    name: str
    launcher: Callable[[], Launcher]
    lying: Callable[[Path], Launcher]
    """Launches a program of the test in the place of the runner."""


def _docker(engine: str) -> Rig:
    image = image_of(RUNNER)

    def lying(runner: Path) -> Launcher:
        return Docker(image, PLATFORM, engine=engine, command=("python3", "-Ic", runner.read_text()))

    return Rig("docker", lambda: Docker(image, PLATFORM, engine=engine), lying)


def _bubblewrap(engine: str) -> Rig:
    return Rig("bubblewrap", lambda: Bubblewrap(RUNNER / "runner.py"), Bubblewrap)


RIGS: Mapping[str, Callable[[str], Rig]] = {"docker": _docker, "bubblewrap": _bubblewrap}


async def output(session: Session, command: Command) -> tuple[str, Ended]:
    """Run a command; return what it wrote to both streams, and its end."""
    pieces: list[Piece] = []
    ended = await session.run(command, pieces.append)
    return b"".join(piece.data for piece in pieces).decode(errors="replace"), ended


async def said(session: Session, *argv: str, seconds: float | None = None) -> str:
    return (await output(session, Command(argv, seconds=seconds)))[0].strip()


async def is_usable(session: Session) -> bool:
    return await said(session, "echo", "ok") == "ok"
