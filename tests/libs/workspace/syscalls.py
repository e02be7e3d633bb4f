"""System calls that fail in a test's child process, as on a file system that lacks them: by seccomp, for good."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

NUMBERS = {"x86_64": (316, 265, 263), "aarch64": (276, 37, 35)}
RENAMEAT2, LINKAT, UNLINKAT = NUMBERS.get(platform.machine(), (0, 0, 0))
KNOWN = platform.machine() in NUMBERS
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
"""Instructions of linux/bpf_common.h: BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K."""
FIFTH = 16 + 4 * 8
"""Place of the fifth argument in struct seccomp_data."""
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def without_rename_flags() -> None:
    """Let renames with flags fail, as ntfs-3g, sshfs, NFS and 9p do."""
    _install(
        struct.pack("=HBBI", LOAD, 0, 0, 0),
        struct.pack("=HBBI", EQUAL, 0, 3, RENAMEAT2),
        struct.pack("=HBBI", LOAD, 0, 0, FIFTH),
        struct.pack("=HBBI", EQUAL, 1, 0, 0),
        struct.pack("=HBBI", RETURN, 0, 0, FAIL | errno.EINVAL),
        struct.pack("=HBBI", RETURN, 0, 0, ALLOW),
    )


def without_hard_links() -> None:
    _install(*_one(LINKAT, FAIL | errno.EPERM))


def killed_by_unlinking() -> None:
    """Let the next removal of a name kill the process before it happens."""
    _install(*_one(UNLINKAT, KILL))


def _one(number: int, result: int) -> list[bytes]:
    return [
        struct.pack("=HBBI", LOAD, 0, 0, 0),
        struct.pack("=HBBI", EQUAL, 0, 1, number),
        struct.pack("=HBBI", RETURN, 0, 0, result),
        struct.pack("=HBBI", RETURN, 0, 0, ALLOW),
    ]


def _install(*instructions: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(instructions), b"".join(instructions))
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*call) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
