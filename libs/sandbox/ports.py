"""The sandbox's port: run a command where it can harm neither the host nor its neighbours (S2-10 to S2-19).

A `Backend` opens sessions. A session is one warm, closed room: its processes see a read-only system, an empty network,
their own `/tmp`, and at `/workspace` one scratch folder that the caller prepared. A backend that cannot start is
refused with the cure; a limit that it cannot give is in its report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from libs.errors import Rejected, Unavailable

MB = 1 << 20
UID = GID = 1000
"""The user of the processes (S2-11). Where the host itself is not root, it is the host's own user."""
ARGUMENTS_MOST, STDIN_MOST = 256 * 1024, 4 * MB
"""Bytes of a command's words with its environment, and of its standard input."""
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108 - the guest's
WORKSPACE = "/workspace"


class Refused(Rejected):
    """The command cannot be given to a sandbox."""

    code = "SANDBOX_REFUSED"


class NoSandbox(Unavailable):
    """No sandbox can be started here."""

    code = "NO_SANDBOX"

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem}: {cure}")
        self.problem, self.cure = problem, cure


class Broken(Unavailable):
    """The sandbox failed and was removed; the next command gets a new one."""

    code = "SANDBOX_BROKEN"


class TimedOut(Unavailable):
    """The sandbox did not answer in time and was removed."""

    code = "SANDBOX_TIMED_OUT"


@dataclass(frozen=True)
class Limits:
    """The limits of a session (S2-11, S2-12, S2-19), and of each command in it."""

    memory: int = 512 * MB
    cpus: int = 1
    processes: int = 128
    tmp: int = 64 * MB
    disk: int = 256 * MB
    """Bytes that `/workspace` may hold."""
    entries: int = 50_000
    """Files and folders that `/workspace` may hold."""
    files: int = 1024
    """Open files of a process."""
    output: int = 16 * MB
    """Bytes that one command may write to its output; more ends it."""
    seconds: float = 120.0
    """Longest duration of one command."""


@dataclass(frozen=True)
class Command:
    """A program with its arguments; no shell reads them. `cwd` is relative to the workspace."""

    argv: Sequence[str]
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    seconds: float | None = None
    """A shorter time limit than the session's."""


@dataclass(frozen=True)
class Mount:
    """A folder or file of the host that the session sees at `target`, such as `/skill`.

    The sandbox's user must be able to reach the source. What the guest writes to a writable one is not trusted: read it
    through `SafeDir`, which follows no link. A unix socket in a read-only one can be connected to, and not replaced.
    """

    source: Path
    target: str
    writable: bool = False


Stream = Literal["stdout", "stderr"]
Limit = Literal["time", "output", "memory", "disk", "cancelled"]


@dataclass(frozen=True)
class Piece:
    """Some output of a command, at most 32 KiB."""

    stream: Stream
    data: bytes


Show = Callable[[Piece], None]
"""Receives each piece of output as it comes; it must not block."""


def ignore(piece: Piece) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Ended:
    """The end of a command, after which none of its processes is left."""

    code: int
    """The exit code; negative for the number of a signal."""
    seconds: float
    truncated: bool
    """Whether output is missing."""
    limit: Limit | None
    """The limit that ended it. `memory` is inferred from a SIGKILL that the sandbox did not send."""


class Session(Protocol):
    """One warm sandbox. Commands run one after the other; each leaves files behind, and no process."""

    id: str

    async def run(self, command: Command, show: Show = ignore) -> Ended:
        """Run a command to its end or to a limit. If this task is cancelled, the command and all its processes end.

        Raises:
            Refused: it contains a NUL, leaves the workspace, or is too long. Nothing was run.
            Broken: the sandbox failed; what the command did so far is in the scratch folder.
            TimedOut: the sandbox did not answer, and was killed.
        """
        ...

    async def cancel(self) -> None:
        """End the running command, if there is one, with all its processes; `run` returns with `cancelled`."""
        ...

    async def close(self) -> None:
        """Remove the sandbox. The scratch folder stays. Repeatable."""
        ...


State = Literal["enforced", "missing"]


@dataclass(frozen=True)
class Check:
    """One property of a backend, as a real run found it. `cure` is empty if it is enforced."""

    name: str
    state: State
    detail: str
    cure: str = ""


@dataclass(frozen=True)
class Report:
    """The findings of a probe; `suma doctor` prints them."""

    backend: str
    checks: Sequence[Check]

    @property
    def missing(self) -> Sequence[Check]:
        return [check for check in self.checks if check.state == "missing"]


class Backend(Protocol):
    """An isolation mechanism, with at most one warm sandbox for each session id."""

    name: str

    async def probe(self) -> Report:
        """Open a small session and try what must not work; see `probe.ESSENTIAL`.

        Raises:
            NoSandbox: it does not start, or does not isolate. The text names the cure.
        """
        ...

    async def open(
        self, session: str, workspace: Path, limits: Limits | None = None, *, mounts: Sequence[Mount] = ()
    ) -> Session:
        """Return the session's warm sandbox, started if it has none or one with another workspace or mounts.

        `workspace` is a scratch folder, never a user's. The limit of disk holds for each writable mount, too.

        Raises:
            Refused: the id is not a short word, or a mount has no source or would cover the system.
            NoSandbox: it does not start. The text names the cure.
        """
        ...
