"""The walls of the renderer: limits, Landlock and a filter of system calls. They are set before the first byte is read.

Landlock (Linux 5.13) refuses all files but the libraries and fonts of this machine. The filter refuses sockets, new
processes and programs, so that nothing outlives the process. `confine` returns the walls that hold.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sysconfig
from collections.abc import Iterable
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls; the numbers are the same on each architecture."""
READ_FILE, READ_DIR = 1 << 2, 1 << 3
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of file rights by the version of Landlock; 16 from version 5 on (linux/landlock.h)."""
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
DEATH_SIGNAL, KILLED = 1, 9
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
"""SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM and ENOSYS."""
THREAD = 0x00010000
REFUSED = {
    # socket, execve, execveat, kill, pidfd_send_signal, fork, vfork; then clone and clone3
    "x86_64": ((41, 59, 322, 62, 424, 57, 58), 56, 435),
    "aarch64": ((198, 221, 281, 129, 424), 220, 435),
}
SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/fonts", "/usr/local/share/fonts")
OTHER = ("/etc/fonts", "/usr/share/fontconfig", "/usr/share/zoneinfo", "/etc/localtime")


def confine(memory: int, seconds: int, output: int, filters: Iterable[bytes]) -> list[str]:
    """Set all walls for this process. `filters` are further programs of classic BPF."""
    for bound, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(bound, (most, most))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(DEATH_SIGNAL, KILLED, 0, 0, 0)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    held = ["limits"]
    if _landlocked(libc):
        held.append("landlock")
    programs = [program for program in (_filter(platform.machine()), *filters) if program]
    if programs and all(_filtered(libc, program) for program in programs):
        held.append("seccomp")
    return held


def _landlocked(libc: ctypes.CDLL) -> bool:
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << RIGHTS.get(version, 16)) - 1
    handled = struct.pack("QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    # Older kernels know a shorter struct, and refuse a longer one unless the rest is zero.
    ruleset = libc.syscall(CREATE_RULESET, handled, len(handled), 0)
    if ruleset < 0:
        return False
    for path in {*SYSTEM, *OTHER, *sysconfig.get_paths().values()}:
        if path and Path(path).exists():
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            reading = READ_FILE | READ_DIR if Path(path).is_dir() else READ_FILE
            libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", reading, fd), 0)
            os.close(fd)
    return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _filtered(libc: ctypes.CDLL, program: bytes) -> bool:
    asked = _Program(len(program) // 8, program)
    return bool(libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(asked), 0, 0) == 0)


def _filter(machine: str) -> bytes:
    """Return the filter; `libs.sandbox.seccomp` checks the architecture, and is installed beside it."""
    if machine not in REFUSED:
        return b""
    refused, clone, clone3 = REFUSED[machine]
    load, equal, bit, answer = 0x20, 0x15, 0x45, 0x06
    parts = [(load, 0, 0, 0)]
    for number in refused:
        parts += [(equal, 0, 1, number), (answer, 0, 0, REFUSE)]
    # The C library falls back to clone, whose flags a filter can read: only threads are let through.
    parts += [(equal, 0, 1, clone3), (answer, 0, 0, UNKNOWN), (equal, 0, 3, clone), (load, 0, 0, 16)]
    parts += [(bit, 1, 0, THREAD), (answer, 0, 0, REFUSE), (answer, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *part) for part in parts)
