"""The probe's guest: runs inside a sandbox and tries what must not work there. It prints its findings as JSON.

It imports nothing of Suma: its source is the standard input of a Python in the sandbox. Each finding is a pair: whether
the wall holds, and what was seen.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping

OUTSIDE = ("192.0.2.1", "169.254.169.254")
"""An address for documentation (RFC 5737), and the one at which clouds serve credentials."""
NEW_USER = 0x10000000
KEYCTL = {"x86_64": 250, "aarch64": 219}
CPU_SECONDS, CPU_SLACK = 0.4, 1.5

Finding = tuple[bool, str]


def network() -> Finding:
    with open("/proc/net/dev") as lines:  # noqa: PTH123 - it runs in any Python
        interfaces = [line.partition(":")[0].strip() for line in lines if ":" in line]
    others = [name for name in interfaces if name != "lo"]
    for address in OUTSIDE:
        with socket.socket() as tried:
            tried.settimeout(1)
            answer = tried.connect_ex((address, 80))
        if answer not in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EPERM):
            return False, f"{address}: {os.strerror(answer)}"
    return not others, f"there is {others[0]}" if others else "unreachable"


def root() -> Finding:
    for folder in ("/", "/usr", "/etc", "/opt", "/dev"):
        try:
            with open(f"{folder}/suma-probe", "w"):  # noqa: PTH123
                return False, f"{folder} can be written"
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.ENOENT):
                return False, f"{folder}: {error.strerror}"
    return os.statvfs("/").f_flag & os.ST_RDONLY != 0, "read-only"


def user() -> Finding:
    return os.getuid() != 0 and os.geteuid() != 0, f"{os.getuid()}:{os.getgid()}"


def status(name: str) -> str:
    with open("/proc/self/status") as lines:  # noqa: PTH123
        return next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "")


def capabilities() -> Finding:
    held = {name: status(name) for name in ("CapPrm", "CapEff", "CapAmb")}
    return all(int(value or "1", 16) == 0 for value in held.values()), "none" if held else ""


def privileges() -> Finding:
    return status("NoNewPrivs") == "1", "no new privileges"


def calls() -> Finding:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER) == 0:
        return False, "a user namespace can be made"
    number = KEYCTL.get(os.uname().machine)
    if number is None:
        return False, f"no filter for {os.uname().machine}"
    libc.syscall(number, 0, -3, 0)
    refused = ctypes.get_errno()
    return refused == errno.EPERM and status("Seccomp") == "2", f"filtered ({os.strerror(refused)})"


def processes() -> Finding:
    seen = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return len(seen) <= 2, f"{len(seen)} visible"


def tmp(limit: int) -> Finding:
    return filled("/tmp", limit)  # noqa: S108


def disk(limit: int) -> Finding:
    return filled("/workspace", limit)


def filled(folder: str, limit: int) -> Finding:
    """Write half as much again as the limit permits, into files that are each smaller than it."""
    piece, written, paths = bytes(limit // 8), 0, list[str]()
    try:
        while written < limit * 3 // 2:
            paths.append(f"{folder}/probe{len(paths)}")
            with open(paths[-1], "wb", buffering=0) as file:  # noqa: PTH123
                written += sum(file.write(piece) for _ in range(4))
        return False, f"{written >> 20} MB were written"
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT), f"{error.strerror} after {written >> 20} MB"
    finally:
        for path in paths:
            os.unlink(path)  # noqa: PTH108


def memory(limit: int) -> Finding:
    """Take 1.35 of the limit in three processes at once, each well below what one may have."""
    share = limit * 45 // 100
    alive = children(3, lambda: taken(share))
    return alive < 3, f"{alive} of 3 processes with {share >> 20} MB each"


def single(limit: int) -> Finding:
    alive = children(1, lambda: taken(limit * 3 // 2))
    return alive == 0, f"{alive} processes with {limit * 3 // 2 >> 20} MB"


def taken(size: int) -> bytearray:
    """Return memory that is really used: each page is written, and nothing is copied."""
    held = bytearray(size)
    for at in range(0, size, mmap.PAGESIZE):
        held[at] = 1
    return held


def children(count: int, act: Callable[[], object]) -> int:
    """Return how many of so many children were alive together after they acted."""
    reader, writer = os.pipe()
    started = []
    try:
        for _ in range(count):
            child = os.fork()
            if child == 0:
                held = None
                try:
                    held = act()
                    os.write(writer, b"1")
                    time.sleep(60)
                finally:
                    os._exit(0 if held else 1)
            started.append(child)
    except OSError:
        pass
    os.close(writer)
    until = time.monotonic() + 3
    seen = b""
    os.set_blocking(reader, False)
    while len(seen) < len(started) and time.monotonic() < until:
        try:
            seen += os.read(reader, 64) or b""
        except BlockingIOError:
            time.sleep(0.02)
        if all(os.waitid(os.P_PID, one, os.WEXITED | os.WNOWAIT | os.WNOHANG) for one in started):
            break
    alive = [one for one in started if not os.waitid(os.P_PID, one, os.WEXITED | os.WNOWAIT | os.WNOHANG)]
    for one in started:
        os.kill(one, signal.SIGKILL)
        os.waitpid(one, 0)
    os.close(reader)
    return min(len(alive), len(seen))


def pids(limit: int) -> Finding:
    alive = children(limit + 4, lambda: True)
    return alive < limit, f"{alive} started"


def cpu(limit: int) -> Finding:
    """Spin on one more CPU than the limit, and compare what was used with what was allowed."""
    if len(os.sched_getaffinity(0)) <= limit:
        try:
            os.sched_setaffinity(0, range(os.cpu_count() or 1))
        except OSError:
            return True, f"bound to {limit}"
        if len(os.sched_getaffinity(0)) <= limit:
            return True, f"the machine has {limit}"
    began = time.monotonic()
    spinning = []
    for _ in range(limit + 1):
        child = os.fork()
        if child == 0:
            while time.monotonic() < began + CPU_SECONDS:
                pass
            os._exit(0)
        spinning.append(child)
    used = sum(os.wait4(one, 0)[2].ru_utime for one in spinning)
    return used <= CPU_SECONDS * limit * CPU_SLACK, f"{used / CPU_SECONDS:.1f} used"


def main(limits: Mapping[str, int]) -> None:
    """Try the walls, or only that of the disk if it alone is given: a backend may end the command that fills it."""
    plain = {each.__name__: each for each in (network, root, user, capabilities, privileges, calls, processes)}
    bounded = {"tmp": tmp, "disk": disk, "cpu": cpu, "process count": pids, "memory of one": single, "memory": memory}
    found: dict[str, Finding] = {name: attempt(act) for name, act in plain.items() if "disk" not in limits}
    found |= {name: attempt(bounded[name], limit) for name, limit in limits.items()}
    sys.stdout.write(json.dumps(found))


def attempt(act: Callable[..., Finding], *arguments: int) -> Finding:
    try:
        return act(*arguments)
    except OSError as error:
        return False, f"the attempt failed: {error.strerror}"


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
