"""The doctor: examines this machine and the settings, whether or not the platform runs, and says how to mend a problem.

It changes nothing: it creates no data directory, starts no server, and spends no tokens. Each check has a time limit.
"""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from libs import __version__
from libs.embedded import datadir, postgres, redis
from libs.errors import NotFound, SumaError
from libs.models.choice import OFFLINE
from libs.remote_tools import Server
from libs.remote_tools.a2a_agent import A2aAgent
from libs.remote_tools.mcp_server import McpServer
from libs.resilience import GuardedCall
from libs.sandbox import NoSandbox
from libs.telemetry.logs import quiet
from services import http_server, model_factory, wiring
from services.settings import BadSettings, Process, config_file, everything, unknown

State = Literal["ok", "note", "problem"]

PROBE_SECONDS = 12.0
"""Longer than any adapter's own limit, so that its message is the one shown."""
RUN_SECONDS, SANDBOX_SECONDS = 5.0, 60.0
DISK_LOW = 0.1
"""The free share below which the alert SumaDiskFilling fires (deploy/prometheus/alerts.yml)."""
DISK_FULL_BYTES = 256 << 20
"""Room for one WAL segment cycle of the embedded server and a commit; below it writes begin to fail."""
FILES_MOST = 1024
"""Most systems' default; half of it is for clients (services/connections.py)."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `mend` says what to do; it is empty if nothing needs to be done."""

    group: str
    name: str
    state: State
    detail: str
    mend: str = ""


async def examine(environment: dict[str, str]) -> list[Finding]:
    """Return all findings. Invalid settings end the examination, since everything else depends on them."""
    found = [*_machine()]
    try:
        settings = await asyncio.to_thread(everything)
    except BadSettings as error:
        mend = f"correct it in the environment or in {config_file(environment)}"
        return [*found, Finding("settings", "settings", "problem", str(error), mend)]
    found += _settings(environment)
    live = _live(settings)
    found += [*_data_directory(settings), *_disks(settings), *_ports(settings, live)]
    with quiet():
        found += [finding async for finding in _dependencies(settings, live)]
        found.append(await _model(settings))
        found += [finding async for finding in _tool_servers(settings)]
        found += [finding async for finding in _sandbox(settings)]
    return found


def _machine() -> Iterator[Finding]:
    yield Finding("machine", "suma", "ok", __version__)
    yield Finding("machine", "python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}")
    yield _sqlite()
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < FILES_MOST:
        mend = f"run `ulimit -n {FILES_MOST}` or more before `suma up`"
        yield Finding("machine", "open files", "note", f"at most {files}, so few clients can connect", mend)


def _sqlite() -> Finding:
    """Check for FTS5, which the index of file contents needs."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("create virtual table words using fts5(word)")
        except sqlite3.OperationalError:
            mend = "use a Python whose SQLite has FTS5, such as one from python.org or uv"
            return Finding("machine", "sqlite", "problem", f"{sqlite3.sqlite_version} lacks FTS5", mend)
    return Finding("machine", "sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def _settings(environment: dict[str, str]) -> Iterator[Finding]:
    file = config_file(environment)
    yield Finding("settings", "file", "ok", str(file) if file.exists() else f"{file} (none; it is optional)")
    for name in unknown(environment):
        yield Finding("settings", name.split()[0], "note", f"{name} is not a setting", "unset it, or correct its name")


def _live(settings: Process) -> datadir.Owner | None:
    try:
        return datadir.existing(settings.data_dir).live_owner()
    except (NotFound, OSError):
        return None


def _data_directory(settings: Process) -> Iterator[Finding]:
    path = settings.data_dir
    try:
        yield _folder(path) if path.exists() else _future_folder(path)
        key = path / "key"
        if key.exists():
            yield _private(key, 0o600)
    except OSError as error:
        mend = "set SUMA_DATA_DIR to a folder of your own"
        yield Finding("data", "data directory", "problem", f"{path}: {error.strerror}", mend)


def _future_folder(path: Path) -> Finding:
    parent = next(above for above in path.parents if above.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        mend = "set SUMA_DATA_DIR to a folder of your own"
        return Finding("data", "data directory", "problem", f"{path} cannot be created in {parent}", mend)
    return Finding("data", "data directory", "ok", f"{path} (the first start creates it)")


def _folder(path: Path) -> Finding:
    marker = path / "format"
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        mend = f"run `chown {os.geteuid()} {path}`, or set SUMA_DATA_DIR to a folder of your own"
        return Finding("data", "data directory", "problem", f"this user cannot write to {path}", mend)
    if not marker.is_file() and any(path.iterdir()):
        mend = "set SUMA_DATA_DIR to an empty folder"
        return Finding("data", "data directory", "problem", f"{path} holds files of another program", mend)
    written = marker.read_text().strip() if marker.is_file() else ""
    if written.isdigit() and int(written) > datadir.FORMAT:
        mend = "update Suma, or set SUMA_DATA_DIR to another folder"
        return Finding("data", "data directory", "problem", f"{path} was written by a newer Suma", mend)
    return _private(path, 0o700)


def _private(path: Path, mode: int) -> Finding:
    """Check that a path belongs to this user, and is closed to all others."""
    name = "data directory" if mode == 0o700 else path.name
    state = path.stat()
    if state.st_uid != os.geteuid():
        mend = f"run `chown {os.geteuid()} {path}`, or run Suma as its owner"
        return Finding("data", name, "problem", f"{path} belongs to user {state.st_uid}", mend)
    open_to = stat.S_IMODE(state.st_mode)
    if open_to & 0o077:
        return Finding(
            "data", name, "problem", f"{path} is open to others ({open_to:o})", f"run `chmod {mode:o} {path}`"
        )
    return Finding("data", name, "ok", f"{path} ({open_to:o}, user {state.st_uid})")


def _disks(settings: Process) -> Iterator[Finding]:
    yield _disk("data", settings.data_dir)
    for root in settings.roots:
        if not root.path.is_dir():
            mend = "create it, or correct SUMA_ROOTS"
            yield Finding("disk", str(root.path), "problem", "this allowed folder does not exist", mend)
        elif not os.access(root.path, os.R_OK | os.W_OK | os.X_OK):
            mend = "give this user the right to write there, or correct SUMA_ROOTS"
            yield Finding("disk", str(root.path), "problem", "this user cannot change this allowed folder", mend)
        else:
            yield _disk(str(root.path), root.path)


def _disk(name: str, path: Path) -> Finding:
    place = next(existing for existing in (path, *path.parents) if existing.exists())
    usage = shutil.disk_usage(place)
    detail = f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f} GB"
    mend = "free some space; `suma purge` frees the history of a folder"
    if usage.free < DISK_FULL_BYTES:
        return Finding("disk", name, "problem", detail, mend)
    if usage.free < DISK_LOW * usage.total:
        return Finding("disk", name, "note", detail, mend)
    return Finding("disk", name, "ok", detail)


def _ports(settings: Process, live: datadir.Owner | None) -> Iterator[Finding]:
    """Check that the ports are free, unless the platform that runs here holds them."""
    if live is not None:
        yield Finding("ports", "gateway", "ok", f"process {live.pid} listens at {live.url or 'no address yet'}")
        return
    yield _port("gateway", settings.host, settings.port, "SUMA_PORT", "problem")
    # Nothing in one process needs the memory service's own port.
    yield _port("memory service", "127.0.0.1", settings.memory_port, "SUMA_MEMORY_PORT", "note")


def _port(name: str, host: str, port: int, variable: str, otherwise: State) -> Finding:
    try:
        http_server.bind(host, port, variable=variable).close()
    except SumaError as error:
        reason, _, mend = str(error).partition(": ")
        return Finding("ports", name, otherwise, reason, mend)
    return Finding("ports", name, "ok", f"{host} port {port} is free" if port else f"{host}, any free port")


async def _dependencies(settings: Process, live: datadir.Owner | None) -> AsyncIterator[Finding]:
    own = wiring.embedded(settings)
    if live is None:
        for name in sorted(own):
            yield await _program(name)
    for name, ask in wiring.probes(settings, live=live is not None).items():
        yield await _asked(name, ask, own=name in own)


MENDS = {
    "PostgreSQL": "check SUMA_DATABASE_URL, its _BUS_URL and its _OWNER_URL, and that the server runs",
    "Redis": "check SUMA_REDIS_URL, and that the server runs",
    "Kafka": "check SUMA_KAFKA__BOOTSTRAP and its credentials, and that the brokers run",
    "policy": "check SUMA_POLICY, or SUMA_OPA_URL and that OPA runs",
    "objects": "check SUMA_S3__BUCKET, its endpoint and keys, or the disk of the data directory",
}
EMBEDDED_MEND = "run `suma stop`, then `suma up`; the server's log is in the data directory"


async def _asked(name: str, ask: wiring.Ask, *, own: bool) -> Finding:
    mend = EMBEDDED_MEND if own else MENDS[name]
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            detail = await ask()
    except TimeoutError:
        return Finding("dependencies", name, "problem", f"no answer within {PROBE_SECONDS:g} s", mend)
    except SumaError as error:
        return Finding("dependencies", name, "problem", str(error), mend)
    return Finding("dependencies", name, "ok", f"{detail}{' (embedded)' if own else ''}")


PROGRAMS = {"PostgreSQL": postgres.program, "Redis": redis.program}


async def _program(name: str) -> Finding:
    """Return the version of an embedded server that does not run now."""
    try:
        said = await _output(PROGRAMS[name](), "--version")
    except (SumaError, OSError):
        said = None
    if said is None:
        mend = "run `make setup`, or install Suma again"
        return Finding("dependencies", name, "problem", "its program does not run", mend)
    return Finding("dependencies", name, "ok", f"{_version(said)} (embedded, not running)")


def _version(said: str) -> str:
    words = (word.removeprefix("v=") for word in said.split())
    return next((word for word in words if word[:1].isdigit()), said)


async def _model(settings: Process) -> Finding:
    """Check that the model's server answers and accepts the key; the request is free."""
    try:
        which = model_factory.chosen(settings)
        if which is None:
            return Finding("model", OFFLINE, "ok", "the built-in planner; SUMA_MODEL selects another")
        async with model_factory.vendor(settings, which) as behind:
            status = await behind(GuardedCall(model_factory.GUARD), None, None).status()
    except SumaError as error:
        return Finding("model", settings.model, "problem", str(error), "run `suma models check`")
    if status in (401, 403):
        return Finding("model", which.name, "problem", f"{which.url} does not accept the key", "correct SUMA_MODEL_KEY")
    return Finding("model", which.name, "ok", f"{which.url} answers (HTTP {status}); `suma models check` tests it")


async def _tool_servers(settings: Process) -> AsyncIterator[Finding]:
    """Check that each server of tools answers and accepts our credentials; nothing is called there."""
    executor: Any = settings.of("tool_executor")
    servers: Sequence[tuple[str, Server]] = (
        *(("MCP_SERVERS", McpServer(name, given, GuardedCall(name))) for name, given in executor.mcp_servers.items()),
        *(("A2A_AGENTS", A2aAgent(name, given, GuardedCall(name))) for name, given in executor.a2a_agents.items()),
    )
    for setting, server in servers:
        name, given = server.name, server.settings
        if given.command:
            # Its sandbox is tried as such.
            yield Finding("tools", name, *_tool_program(settings, given.address))
            continue
        mend = f"correct SUMA_TOOL_EXECUTOR__{setting}__{name.upper()}, its token, or the server"
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                tools = await server.tools()
        except TimeoutError:
            yield Finding("tools", name, "problem", f"{given.address}: no answer within {PROBE_SECONDS:g} s", mend)
        except SumaError as error:
            yield Finding("tools", name, "problem", f"{given.address}: {error}", mend)
        else:
            detail = f"{given.address} lists {len(tools)} tools; `suma tools list` shows which are offered"
            yield Finding("tools", name, "ok", detail)


def _tool_program(settings: Process, address: str) -> tuple[State, str, str]:
    """Return the state of a server that is a program, without starting it."""
    if settings.sandbox == "none":
        return "problem", f"{address}: NO_SANDBOX, so it is refused", "set SUMA_SANDBOX, or remove the server"
    return "ok", f"{address}; `suma tools list` starts it and shows its tools", ""


NO_TURNS = "turns run in containers, and no sandbox works, so each is refused"
NO_TURNS_MEND = "mend a sandbox, or unset SUMA_COMMITTEE_WORKER__CONTAINERS__ENABLED"


async def _sandbox(settings: Process) -> AsyncIterator[Finding]:
    """Open a small sandbox and try its walls and limits; the first backend that works is the one in use."""
    containers: Any = settings.of("committee_worker").containers  # type: ignore[attr-defined]
    if settings.sandbox == "none":
        yield Finding(
            "sandbox", "sandbox", "ok", "off, so commands and programs of skills are refused; SUMA_SANDBOX selects one"
        )
        if containers.enabled:
            yield Finding("sandbox", "turns", "problem", NO_TURNS, NO_TURNS_MEND)
        return
    for backend in wiring.sandboxes(settings):
        try:
            async with asyncio.timeout(SANDBOX_SECONDS), backend:
                report = await backend.probe()
        except TimeoutError:
            yield Finding("sandbox", backend.name, "note", f"no answer within {SANDBOX_SECONDS:g} s", "try it by hand")
        except NoSandbox as error:
            yield Finding("sandbox", backend.name, "note", error.problem, error.cure)
        else:
            held = [check.name for check in report.checks if check.state == "enforced"]
            yield Finding("sandbox", backend.name, "ok", f"tried and enforced: {', '.join(held)}")
            for check in report.missing:
                yield Finding("sandbox", check.name, "note", f"not enforced: {check.detail}", check.cure)
            if containers.enabled:
                program = containers.program or f"the bundled program, mode {containers.mode}"
                yield Finding("sandbox", "turns", "ok", f"each runs in a container of {backend.name}: {program}")
            return
    mend = "mend one of those above, or set SUMA_SANDBOX=none"
    state: State = "note" if settings.sandbox == "auto" else "problem"
    yield Finding("sandbox", "sandbox", state, "none works, so commands and programs of skills are refused", mend)
    if containers.enabled:
        yield Finding("sandbox", "turns", "problem", NO_TURNS, NO_TURNS_MEND)


async def _output(*command: str | Path) -> str | None:
    """Return a command's output; None if it fails or takes too long."""
    child = await asyncio.create_subprocess_exec(
        *map(str, command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            output, _ = await child.communicate()
    except TimeoutError:
        child.kill()
        await child.wait()
        return None
    return output.decode(errors="replace").strip() if child.returncode == 0 else None
