"""Producers whose programs an operator installs: D2, PlantUML and Chromium, each inside bubblewrap.

Inside there is /usr, read-only, an empty /tmp, no network, no environment, and none of this machine's other files.
Without bubblewrap these producers have a problem, since nothing else keeps such a program from files.
"""

# ruff: noqa: S108 -- each /tmp is the one inside bubblewrap
from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from libs.errors import Unavailable
from libs.multimodal.ports import Brief, CannotProduce, Capability, Made, Modality, StepType
from libs.multimodal.producers.isolated import Limits, ended, render, run
from libs.multimodal.producers.local import IMAGES, SIDE_MOST, form, labels, result, side

LIMITS = Limits(seconds=40, wait=90.0, memory=4 << 30, output=32 << 20)
DRAWING = Limits(seconds=30, wait=60.0)
PAGE_MOST = 4 << 20
SOURCE_MOST = 50_000
SHARED = ("/usr", "/etc/fonts", "/etc/alternatives", "/etc/chromium.d", "/etc/java-17-openjdk", "/etc/ld.so.cache")
LINKED = ("bin", "lib", "lib64", "sbin")
WALLS = ["limits", "bubblewrap"]
TRIAL_SECONDS = 10.0
TRY_AGAIN_SECONDS = 60.0
"""How long the finding that bubblewrap does not work is believed."""
KILLED = (137, 152)
"""The exit statuses of a shell whose program ended by SIGKILL or SIGXCPU."""
LINE = re.compile(r"-:(?P<d2>\d{1,6}):\d{1,6}: |string:(?P<plantuml>\d{1,6}):error:")
TITLE = re.compile(r"^err: (failed to compile -: )?", re.M)
TOLD = """"$@" >/tmp/drawn 2>/tmp/told; code=$?
[ $code = 0 ] && exec cat /tmp/drawn
head -c 2000 /tmp/told; exit $code"""
"""A script that writes the drawing of a program, or what it told about its failure."""
OUT_OF_MEMORY = re.compile("OutOfMemory|out of memory|cannot allocate memory")
INSTALL_BUBBLEWRAP = "install bubblewrap and util-linux, and permit user namespaces"


def boxed(command: Sequence[str], limits: Limits, shown: Sequence[tuple[Path, str]] = ()) -> list[str]:
    """Return a command that runs another inside bubblewrap. `shown` are files, each with its path inside."""
    bounds = [f"--cpu={limits.seconds}", f"--data={limits.memory}", f"--fsize={limits.output}"]
    bounds += ["--core=0", "--nofile=1024"]
    walls = [
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--uid",
        "1000",
        "--gid",
        "1000",
    ]
    shared = [part for path in SHARED for part in ("--ro-bind-try", path, path)]
    linked = [part for name in LINKED for part in ("--symlink", f"usr/{name}", f"/{name}")]
    files = [part for path, inside in shown for part in ("--ro-bind", str(path), inside)]
    kernel = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]
    known = [
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin:/bin",
        "--setenv",
        "HOME",
        "/tmp",
        "--setenv",
        "LANG",
        "C.UTF-8",
    ]
    return ["prlimit", *bounds, "bwrap", *walls, *shared, *linked, *kernel, *files, *known, "--", *command]


class Box:
    """Knows whether bubblewrap works here. A real run finds out once; a failure is tried again after a minute."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._problem: str | None = None
        self._until = 0.0

    async def problem(self) -> str:
        """Return why bubblewrap does not work here; empty if it does."""
        if self._problem is None or (self._problem and self._now() >= self._until):
            self._problem = await _trial()
            self._until = self._now() + TRY_AGAIN_SECONDS
        return self._problem


async def _trial() -> str:
    if not (shutil.which("bwrap") and shutil.which("prlimit")):
        return f"bubblewrap is missing; {INSTALL_BUBBLEWRAP}"
    try:
        status, _ = await run(boxed(["true"], LIMITS), b"", replace(LIMITS, wait=TRIAL_SECONDS), lambda: None)
    except (CannotProduce, Unavailable):
        status = 1
    return "" if status == 0 else f"bubblewrap does not start; {INSTALL_BUBBLEWRAP}"


@dataclass(frozen=True, slots=True)
class Text:
    """Draws diagram text by a program that reads it on standard input and writes an SVG."""

    capability: Capability
    box: Box
    program: str
    file: Path | None
    """The program's file, or its jar."""
    inside: str
    command: tuple[str, ...]
    """Its first word is a file inside, or a program on the PATH that must be there too."""
    cure: str
    limits: Limits = DRAWING

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Draw it; the contract is `Producer.produce`."""
        made = form(self.capability, brief)
        if not brief.source.strip():
            raise CannotProduce("the field source is empty; give the text to draw")
        if len(brief.source) > SOURCE_MOST:
            raise CannotProduce(f"{self.program} reads at most {SOURCE_MOST:,} characters; draw fewer nodes")
        if missing := await self.problem():
            raise Unavailable(missing)
        assert self.file is not None
        command = boxed(["sh", "-c", TOLD, "sh", *self.command], self.limits, [(self.file, self.inside)])
        status, raw = await run(command, brief.source.encode(), self.limits, check)
        if status != 0 or not raw:
            raise self._failed(status, raw.decode(errors="replace"))
        head = {"format": made, "side": side(brief), "model": self.program, "labels": labels(brief)}
        answer, drawn = await render("clean", head, [raw], check=check)
        return result(made, answer | {"walls": WALLS}, drawn[0])

    async def problem(self) -> str:
        """Return why it cannot draw; empty if it can."""
        runs = self.command[0] == self.inside or shutil.which(self.command[0])
        if self.file is None or not runs or not await asyncio.to_thread(self.file.is_file):
            return f"{self.program} is not installed; {self.cure}"
        return await self.box.problem()

    def _failed(self, status: int, told: str) -> CannotProduce:
        """Return the error of a run, with the line of the source that the program names."""
        if status in KILLED or not told or OUT_OF_MEMORY.search(told):
            return CannotProduce(f"{self.program} failed: {ended(-9 if status in KILLED else status, self.limits)}")
        found = LINE.search(told)
        words = " ".join(LINE.sub("", TITLE.sub("", told)).split())
        line = int(found[found.lastgroup or 0]) if found else None
        return CannotProduce(f"{self.program} cannot read the source: {words[:400]}", line=line)


@dataclass(frozen=True, slots=True)
class Capture:
    """Captures the page in `brief.content["html"]`, `width` × `height` pixels, with Chromium."""

    capability: Capability
    box: Box

    async def produce(self, brief: Brief, *, check: Callable[[], None]) -> Made:
        """Capture it; the contract is `Producer.produce`."""
        page = brief.content.get("html")
        if not isinstance(page, str) or not page.strip():
            raise CannotProduce("the field html is empty; give the page as text")
        if len(page) > PAGE_MOST:
            raise CannotProduce(f"the page has more than {PAGE_MOST >> 20} MiB; make it smaller")
        if missing := await self.problem():
            raise Unavailable(missing)
        made, size = form(self.capability, brief), []
        for name, otherwise in (("width", 1280), ("height", 800)):
            value = brief.content.get(name, otherwise)
            if not isinstance(value, int) or not 16 <= value <= SIDE_MOST:
                raise CannotProduce(f"the field {name} is {value!r}; give a number from 16 to {SIDE_MOST}")
            size.append(str(value))
        browser = (
            f"chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage"
            f" --user-data-dir=/tmp/profile --window-size={','.join(size)} --virtual-time-budget=2000"
            f" --screenshot=/tmp/shot.png file:///tmp/page.html"
        )
        script = f"cat >/tmp/page.html; {browser} >/dev/null 2>&1; cat /tmp/shot.png"
        status, raw = await run(boxed(["sh", "-c", script], LIMITS), page.encode(), LIMITS, check)
        if status != 0 or not raw:
            raise CannotProduce("Chromium made no picture of the page within its limits; make the page simpler")
        head = {"format": made, "side": side(brief), "layout": "row", "columns": 1, "gap": 0}
        answer, shot = await render("arrange", head, [raw], check=check)
        return result(made, answer | {"walls": WALLS, "model": "Chromium"}, shot[0])

    async def problem(self) -> str:
        """Return why it cannot capture; empty if it can."""
        if not shutil.which("chromium"):
            return "Chromium is not installed; install the package chromium"
        return await self.box.problem()


def installed(plantuml: Path | None = None) -> list[Text | Capture]:
    """Return the producers of programs, also of those that are missing; `plantuml` is the path of its jar."""
    diagram, capture, image = frozenset({StepType.DIAGRAM}), frozenset({StepType.CAPTURE}), frozenset({Modality.IMAGE})
    found, box = shutil.which("d2"), Box()
    d2 = Capability("d2", "local", diagram, IMAGES, ("svg", "png"), frozenset({"d2"}), priority=30)
    uml = Capability("plantuml", "local", diagram, IMAGES, ("svg", "png"), frozenset({"plantuml"}), priority=30)
    page = Capability("chromium", "local", capture, image, ("png",), constraints={"max_resolution": SIDE_MOST})
    java = ("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError")
    safe = ("-Djava.awt.headless=true", "-DPLANTUML_SECURITY_PROFILE=SANDBOX")
    drawn = ("-tsvg", "-pipe", "-noerror", "-stdrpt:2", "-SdefaultFontName=DejaVu Sans")
    return [
        Text(
            d2,
            box,
            "D2",
            Path(found) if found else None,
            "/tmp/d2",
            ("/tmp/d2", "--bundle=false", "-", "-"),
            "put d2 on the PATH",
        ),
        Text(
            uml,
            box,
            "PlantUML",
            plantuml,
            "/tmp/plantuml.jar",
            (*java, *safe, "-jar", "/tmp/plantuml.jar", *drawn),
            "give the path of plantuml.jar, and install Java",
        ),
        Capture(page, box),
    ]
