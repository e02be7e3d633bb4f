"""`python -m services`: the whole platform in one process; `python -m services gateway`: one service of it."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shlex
import shutil
import signal
import stat
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

    from libs.runtime import Shutdown
    from services.settings import Process
    from services.start import Ready

MIGRATE = "migrate"
"""The step that needs the database owner's URL, instead of the services."""
BEGAN = time.monotonic()
THREADS_MOST = 96
"""Threads are created on demand. asyncio's own default would be six on a machine with two cores."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 after a requested stop, 2 for an error that the caller can correct, 1 for an unavailable
    dependency.
    """
    chosen = _parser().parse_args(arguments)
    # A start creates no garbage, and collections would take a tenth of its time.
    gc.disable()
    try:
        return _run(chosen.service)
    except SumaError as error:
        sys.stderr.write(f"suma: {error}\n")
        return 2 if isinstance(error, Rejected) else 1
    except KeyboardInterrupt:
        # Interrupted before our own signal handlers were installed.
        return 130


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, catalog.NAMES))
    services = "\n".join(f"  {entry.name:{width}}  :{entry.port}  {entry.says}" for entry in catalog.SERVICES)
    parser = argparse.ArgumentParser(
        prog="python -m services",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Start Suma: without a name the whole platform in one process, with a PostgreSQL and a Redis\n"
        "of its own. With a name, that service alone: it finds its servers by URL (SUMA_DATABASE_URL,\n"
        "SUMA_REDIS_URL) or in the data directory of a live platform, and starts none. With `migrate`, what all of\n"
        "them need before they start: schemas and topics, as the owner of the database.",
        epilog=f"services:\n{services}\n\nSettings come from SUMA_… variables and a file; `suma config` shows them.",
    )
    parser.add_argument("service", nargs="?", metavar="SERVICE", help=f"one of the services below, or `{MIGRATE}`")
    return parser


def _run(name: str | None) -> int:
    # Validate the name before the slow imports below, so that a wrong one fails at once.
    entry = catalog.entry(name) if name not in (None, MIGRATE) else None
    from services import settings as reading
    from services import start

    settings = reading.everything()
    _configure_logs(settings, reading.unknown(os.environ))
    with _tracing(settings, name or "suma"):
        if name == MIGRATE:
            return _until_asked_to_stop(lambda leaving: _migrate(settings))
        if entry is None:
            return _until_asked_to_stop(partial(start.together, settings, _welcome))
        return _until_asked_to_stop(partial(start.alone, entry.name, settings, partial(_report, entry.name)))


@contextmanager
def _tracing(settings: Process, process: str) -> Iterator[None]:
    """Export spans to the configured file or collector, if any."""
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

        # Append: another service may write to the same file.
        with settings.traces.open("a", buffering=1) as out:
            yield lines(out)
    elif settings.otlp_url is not None:
        from libs.telemetry.otlp import Otlp

        yield Otlp(settings.otlp_url)
    else:
        yield None


async def _migrate(settings: Process) -> None:
    from services import start

    applied = await start.migrate(settings)
    _say(f"migrated: {', '.join(applied) or 'nothing was missing'}")


def _configure_logs(settings: Process, unknown: Sequence[str]) -> None:
    from libs.telemetry import logs

    json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    logs.configure(json=json, level=settings.log.upper())
    if unknown:
        logs.logger("settings").warning("ignored unknown variables", names=unknown)


def _until_asked_to_stop(work: Callable[[Shutdown], Awaitable[None]]) -> int:
    """Run until SIGINT, SIGTERM or the end of the terminal cancels the work and it has shut down in order; a second
    signal hurries it.
    """
    import uvloop

    from libs.runtime import Shutdown

    async def working() -> None:
        loop, leaving = asyncio.get_running_loop(), Shutdown()
        task = asyncio.ensure_future(work(leaving))

        def stop() -> None:
            if not leaving.begun:
                task.cancel()
            leaving.ask()

        def hang_up() -> None:
            _drop_terminal()
            # The kernel and the shell may both send it, which is no hurry.
            if not leaving.begun:
                stop()

        # More threads than an executor's calls and the deciding handlers together, so that each admitted job has one.
        loop.set_default_executor(ThreadPoolExecutor(THREADS_MOST, "suma"))
        for asked in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(asked, stop)
        # `nohup` starts it with the signal ignored.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, hang_up)
        with suppress(asyncio.CancelledError):
            await task

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(working())
    return 0


def _drop_terminal() -> None:
    """Discard further output, unless it goes to a file: writing to a closed terminal or pipe fails."""
    null = os.open(os.devnull, os.O_WRONLY)
    for out in (1, 2):
        if not stat.S_ISREG(os.fstat(out).st_mode):
            os.dup2(null, out)
    os.close(null)


def _settle() -> None:
    """Exclude the objects of the start from later garbage collections."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _welcome(ready: Ready) -> None:
    _settle()
    suma = _command()
    lines = (
        f"Suma is ready at {ready.url} after {time.monotonic() - BEGAN:.1f} s (Ctrl-C stops it)",
        f"  sign in     {ready.signin}  (once, within a minute; then `{suma} open`)",
        f"  the key     {ready.key}",
        f"  all data    {ready.data}",
        f"  the API     {ready.url}/docs",
        *(f"  note        {note}" for note in ready.notes),
        "",
        "Three things to try, in another terminal:",
        f'  {suma} run "clean up this folder: remove duplicates, sort by type" --in ~/Downloads',
        f"  {suma} chat",
        f"  {suma} demo",
    )
    _say(*lines)


def _report(name: str, ready: Ready) -> None:
    _settle()
    _say(f"{name} is ready at {ready.url}")


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _command() -> str:
    """Return the command that calls the command line from here and finds this platform."""
    own = Path(sys.executable).with_name("suma")
    found = shutil.which("suma")
    suma = "suma" if found and Path(found).resolve() == own.resolve() else os.path.relpath(own)
    chosen = os.environ.get("SUMA_DATA_DIR")
    return f"SUMA_DATA_DIR={shlex.quote(chosen)} {suma}" if chosen else suma


if __name__ == "__main__":
    sys.exit(main())
