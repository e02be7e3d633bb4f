"""`python -m services`: the whole platform in one process; `python -m services gateway`: one service of it."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from libs.errors import Rejected, SumaError
from services import catalog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from libs.runtime.leaving import Leaving
    from services.settings import Process
    from services.start import Ready

BEGAN = time.monotonic()
THREADS_MOST = 96
"""Made as they are needed. asyncio's own default would be six on a machine with two cores."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when it was asked to stop, 2 when the caller can mend what is wrong, 1 when the world can."""
    chosen = _parser().parse_args(arguments)
    # Nothing of what a start makes is garbage, and looking for it costs a tenth of the start.
    gc.disable()
    try:
        return _run(chosen.service)
    except SumaError as error:
        sys.stderr.write(f"suma: {error}\n")
        return 2 if isinstance(error, Rejected) else 1
    except KeyboardInterrupt:
        # Before our own handlers stood.
        return 130


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, catalog.NAMES))
    services = "\n".join(f"  {entry.name:{width}}  :{entry.port}  {entry.says}" for entry in catalog.SERVICES)
    parser = argparse.ArgumentParser(
        prog="python -m services",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Start Suma: without a name the whole platform in one process, with a PostgreSQL and a Redis\n"
        "of its own. With a name, that service alone: it finds its servers by URL (SUMA_DATABASE_URL,\n"
        "SUMA_REDIS_URL) or in the data directory of a live platform, and starts none.",
        epilog=f"services:\n{services}\n\nSettings come from SUMA_… variables and a file; `suma config` shows them.",
    )
    parser.add_argument("service", nargs="?", metavar="SERVICE", help="one of the services below")
    return parser


def _run(name: str | None) -> int:
    # Imported once the arguments are known to be right: --help and a wrong name answer at once.
    entry = catalog.entry(name) if name is not None else None
    from services import settings as reading
    from services import start

    settings = reading.everything()
    _configure_logs(settings, reading.unknown(os.environ))
    with _tracing(settings, name or "suma"):
        if entry is None:
            return _until_asked_to_stop(partial(start.together, settings, _welcome))
        return _until_asked_to_stop(partial(start.alone, entry.name, settings, partial(_report, entry.name)))


@contextmanager
def _tracing(settings: Process, process: str) -> Iterator[None]:
    """Spans go to the file or the collector that was asked for, if one was."""
    with _exporter(settings) as exporter:
        if exporter is None:
            yield
            return
        from libs.telemetry import traces

        end = traces.configure(exporter, ratio=settings.traces_ratio, process=process)
        try:
            yield
        finally:
            end()


@contextmanager
def _exporter(settings: Process) -> Iterator[SpanExporter | None]:
    if settings.traces is not None:
        from libs.telemetry.traces import lines

        # Another service may write to it too.
        with settings.traces.open("a", buffering=1) as out:
            yield lines(out)
    elif settings.otlp_url is not None:
        from libs.telemetry.otlp import Otlp

        yield Otlp(settings.otlp_url)
    else:
        yield None


def _configure_logs(settings: Process, unknown: Sequence[str]) -> None:
    from libs.telemetry import logs

    json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    logs.configure(json=json, level=settings.log.upper())
    if unknown:
        logs.logger("settings").warning("these variables are no settings", names=unknown)


def _until_asked_to_stop(work: Callable[[Leaving], Awaitable[None]]) -> int:
    """Run until SIGINT or SIGTERM cancels the work, which then leaves everything in order; a second one hurries it."""
    import uvloop

    from libs.runtime.leaving import Leaving

    async def working() -> None:
        loop, leaving = asyncio.get_running_loop(), Leaving()
        task = asyncio.ensure_future(work(leaving))

        def stop() -> None:
            if not leaving.begun:
                task.cancel()
            leaving.ask()

        # More than an executor's calls and the handlers that decide at once: who has room there has a thread here.
        loop.set_default_executor(ThreadPoolExecutor(THREADS_MOST, "suma"))
        for asked in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(asked, stop)
        with suppress(asyncio.CancelledError):
            await task

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(working())
    return 0


def _settle() -> None:
    """What is there by now stays: collections need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _welcome(ready: Ready) -> None:
    _settle()
    suma = _command()
    lines = (
        f"Suma is ready at {ready.url} after {time.monotonic() - BEGAN:.1f} s (Ctrl-C stops it)",
        f"  the key     {ready.key}",
        f"  all data    {ready.data}",
        f"  the API     {ready.url}/docs",
        *(f"  note        {note}" for note in ready.notes),
        "",
        "Three things to try, in another terminal:",
        f'  {suma} run "clean up this folder: remove duplicates, sort by type" --in ~/Downloads',
        f"  {suma} chat",
        "  make demo",
    )
    _say(*lines)


def _report(name: str, ready: Ready) -> None:
    _settle()
    _say(f"{name} is ready at {ready.url}")


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _command() -> str:
    """How the person can call the command line from here."""
    if shutil.which("suma"):
        return "suma"
    return os.path.relpath(Path(sys.executable).with_name("suma"))


if __name__ == "__main__":
    sys.exit(main())
