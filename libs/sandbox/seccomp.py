"""The filter of system calls for sandboxed commands, as a program of classic BPF (seccomp(2)), without a C library.

It refuses ways to more kernel than a command needs: other namespaces, mounts, tracing, keys, io_uring, BPF, sockets of
odd families, and input pushed into a terminal. Everything else is permitted. The runner installs it in itself, in both
backends; Docker adds its own filter.
"""

from __future__ import annotations

import errno
import struct

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF_LD|W|ABS, BPF_JMP|JEQ, JGE and JSET with a constant, BPF_RET."""
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Offsets in struct seccomp_data; each argument has 8 bytes, the low half first."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH of linux/audit.h."""
REFUSED = {
    # name: numbers on x86_64 and aarch64 (asm/unistd.h)
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # The limit of CPUs is an affinity where there is no cgroup.
    "sched_setaffinity": (203, 122),
}
CLONE, SOCKET, IOCTL = (56, 220), (41, 198), (16, 29)
CLONE3 = (435, 435)
NEWEST = 463
"""System calls from this number on are unknown here, and answer as on an older kernel."""
X32 = 0x40000000
NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6. Others reach parts of the kernel, or as AF_VSOCK the machine below it, by no network."""
TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: they put input into a terminal."""


def program(machine: str) -> bytes:
    """Return the filter for a machine as `platform.machine()` names it; empty for one whose numbers are unknown."""
    if machine not in ARCHITECTURES:
        return b""
    column = list(ARCHITECTURES).index(machine)
    parts = [
        _load(ARCHITECTURE),
        _unless(EQUAL, ARCHITECTURES[machine], KILL),
        _load(NUMBER),
        _when(AT_LEAST, X32, ERRNO | errno.ENOSYS),
        _when(AT_LEAST, NEWEST, ERRNO | errno.ENOSYS),
        *(_when(EQUAL, numbers[column], ERRNO | errno.EPERM) for numbers in REFUSED.values()),
        # glibc falls back to clone, whose flags a filter can read.
        _when(EQUAL, CLONE3[column], ERRNO | errno.ENOSYS),
        _inside(CLONE[column], 0, [_when(ANY_BIT, NAMESPACES, ERRNO | errno.EPERM), _return(ALLOW)]),
        _inside(IOCTL[column], 1, [*(_when(EQUAL, one, ERRNO | errno.EPERM) for one in TERMINAL), _return(ALLOW)]),
        _inside(
            SOCKET[column], 0, [*(_when(EQUAL, one, ALLOW) for one in FAMILIES), _return(ERRNO | errno.EAFNOSUPPORT)]
        ),
        _return(ALLOW),
    ]
    return b"".join(parts)


def _instruction(code: int, constant: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Return a struct sock_filter; `then` and `otherwise` count the instructions to skip."""
    return struct.pack("=HBBI", code, then, otherwise, constant)


def _load(offset: int) -> bytes:
    return _instruction(LOAD, offset)


def _return(verdict: int) -> bytes:
    return _instruction(RETURN, verdict)


def _when(test: int, constant: int, verdict: int) -> bytes:
    return _instruction(test, constant, 0, 1) + _return(verdict)


def _unless(test: int, constant: int, verdict: int) -> bytes:
    return _instruction(test, constant, 1, 0) + _return(verdict)


def _inside(number: int, argument: int, rules: list[bytes]) -> bytes:
    """Apply rules to an argument of one system call."""
    body = b"".join([_load(ARGUMENTS + 8 * argument), *rules])
    return _instruction(EQUAL, number, 0, len(body) // 8) + body
