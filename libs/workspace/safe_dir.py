"""Safe directory access: file operations beneath one folder that no link, mount or `..` can escape.

A path is resolved by openat2 (RESOLVE_BENEATH, NO_SYMLINKS, NO_XDEV), called through ctypes because Python has no
wrapper. If a kernel or a seccomp filter lacks it, the path is resolved component by component with O_NOFOLLOW. Further
operations use *at calls on the opened folder and the last component alone, so that a link put there meanwhile changes
nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol

from libs.workspace import names
from libs.workspace.errors import BadRoot, Unsupported
from libs.workspace.signature import Signature

OPENAT2 = 437  # the same number on every architecture
RENAMEAT2 = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH = 0x01, 0x02, 0x04, 0x08
RESOLVE = NO_XDEV | NO_MAGICLINKS | NO_SYMLINKS | BENEATH
NOREPLACE, EXCHANGE = 1, 2
UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of a file system that lacks a flag or a call."""
LONGEST = 4000  # the kernel takes 4,095 bytes of path in one call
FOLDER = os.O_PATH | os.O_DIRECTORY
LISTED = os.O_RDONLY | os.O_DIRECTORY


class Resolver(Protocol):
    def __call__(self, fd: int, path: bytes, flags: int) -> int:
        """Open `path`, at most LONGEST bytes, beneath the folder `fd`; OSError ELOOP, EXDEV, ENOTDIR if it escapes."""
        ...


class _How(ctypes.Structure):
    """struct open_how of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def openat2(fd: int, path: bytes, flags: int) -> int:
    """Call openat2; repeat it while the kernel answers EAGAIN because a rename elsewhere disturbed it."""
    how = _How(flags | os.O_CLOEXEC, 0, RESOLVE)
    for _ in range(100):
        opened: int = _openat2()(OPENAT2, fd, path, ctypes.byref(how), ctypes.sizeof(how))
        if opened >= 0:
            return opened
        if ctypes.get_errno() != errno.EAGAIN:
            break
    raise _failure(path)


def by_component(fd: int, path: bytes, flags: int) -> int:
    """Open a path step by step. Each step refuses links, and compares the device so that no mount is entered."""
    device = os.fstat(fd).st_dev
    *folders, last = [part for part in path.split(b"/") if part not in (b"", b".")] or [b"."]
    here = os.dup(fd)
    for part in folders:
        here = _step(here, part, FOLDER, device)
    return _step(here, last, flags, device)


def _step(here: int, part: bytes, flags: int, device: int) -> int:
    try:
        # openat2 refuses it by RESOLVE_BENEATH; here it has to be refused by name.
        if part == b"..":
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), part)
        there = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
    finally:
        os.close(here)
    # What RESOLVE_NO_XDEV does: another device means that a mount was entered.
    if os.fstat(there).st_dev == device:
        return there
    os.close(there)
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), part)


@cache
def resolver() -> Resolver:
    """Return openat2 if this kernel permits it."""
    try:
        os.close(openat2(-100, b".", FOLDER))  # AT_FDCWD
    except OSError as error:
        # ENOSYS: a kernel before 5.6. EPERM: a seccomp filter, as of older container engines.
        if error.errno in (errno.ENOSYS, errno.EPERM):
            return by_component
    return openat2


class SafeDir:
    """One open folder. Paths are the text of `names`, relative, `""` for the folder itself. Callers close the fds that
    they open.
    """

    def __init__(self, fd: int, resolve: Resolver | None = None) -> None:
        self.fd = fd
        self._resolve = resolve or resolver()

    @classmethod
    @contextmanager
    def open(cls, root: Path, resolve: Resolver | None = None) -> Iterator[SafeDir]:
        try:
            fd = os.open(root, LISTED | os.O_CLOEXEC)
        except OSError as error:
            raise BadRoot(f"{root}: {error.strerror}") from error
        try:
            yield cls(fd, resolve)
        finally:
            os.close(fd)

    def at(self, path: str, flags: int) -> int:
        """Open a path; a long one in pieces, because the kernel limits the length of a single call."""
        raw = names.decode(path) or b"."
        if len(raw) <= LONGEST:
            return self._resolve(self.fd, raw, flags)
        head, _, rest = raw[:LONGEST].rpartition(b"/")
        fd = self._resolve(self.fd, head, FOLDER)
        try:
            return SafeDir(fd, self._resolve).at(names.encode(rest + raw[LONGEST:]), flags)
        finally:
            os.close(fd)

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, bytes]]:
        """Yield the open folder that holds `path`, and the last component."""
        folder, _, name = path.rpartition("/")
        if not folder:
            yield self.fd, names.decode(name) or b"."
            return
        fd = self.at(folder, FOLDER)
        try:
            yield fd, names.decode(name)
        finally:
            os.close(fd)

    @contextmanager
    def entries(self, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        fd = self.at(path, LISTED)
        try:
            with os.scandir(fd) as found:
                yield found
        finally:
            os.close(fd)

    def stat(self, path: str) -> os.stat_result:
        with self.parent(path) as (fd, name):
            return os.stat(name, dir_fd=fd, follow_symlinks=False)

    def signature(self, path: str) -> Signature | None:
        """Return the signature; None if nothing is at the path. Raises OSError if the path leaves the folder."""
        try:
            return Signature.of(self.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def set_mtime(self, path: str, mtime_ns: int) -> None:
        if not path:
            os.utime(self.fd, ns=(os.fstat(self.fd).st_atime_ns, mtime_ns))
            return
        with self.parent(path) as (fd, name):
            # utime sets both times; only the mtime is to change.
            atime_ns = os.stat(name, dir_fd=fd, follow_symlinks=False).st_atime_ns
            os.utime(name, ns=(atime_ns, mtime_ns), dir_fd=fd, follow_symlinks=False)

    def listing(self, path: str, skip: Callable[[str], bool] = lambda path: False) -> dict[str, Signature]:
        """Return everything beneath a folder by path relative to that folder, without following links or the paths that
        `skip` matches.
        """
        found: dict[str, Signature] = {}
        pending = [""]
        while pending:
            inner = pending.pop()
            with self.entries(names.join(path, inner) if inner else path) as entries:
                for entry in entries:
                    here = names.join(inner, names.encode(os.fsencode(entry.name)))
                    if skip(names.join(path, here)):
                        continue
                    found[here] = Signature.of(entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(here)
        return found


def place(source: int, name: bytes | str, target: int, new_name: bytes | str) -> None:
    """Rename between open folders; FileExistsError if the new name is taken, never a replacement.

    A file system that lacks the flag of renameat2 takes two steps for a file: a second name, then the removal of the
    first (record 0100). A process that is killed between them leaves both names; a repetition removes the first.
    OSError EOPNOTSUPP if the file system has no hard links either.
    """
    try:
        _moved(source, name, target, new_name)
    except FileExistsError:
        if Signature.at(source, name) != Signature.at(target, new_name):
            raise
        os.unlink(name, dir_fd=source)


def _moved(source: int, name: bytes | str, target: int, new_name: bytes | str) -> None:
    try:
        _renameat2(source, os.fsencode(name), target, os.fsencode(new_name), NOREPLACE)
    except OSError as error:
        if error.errno not in UNKNOWN:
            raise
        _moved_without_flags(source, name, target, new_name)


def _moved_without_flags(source: int, name: bytes | str, target: int, new_name: bytes | str) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
        if Signature.at(target, new_name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
        # A rename of a folder replaces only an empty folder, if one appeared since the check.
        os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
        return
    try:
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (*UNKNOWN, errno.EPERM):
            raise
        why = f"the file system ({file_system(target)}) can neither rename without replacing nor make hard links"
        raise OSError(errno.EOPNOTSUPP, why, new_name) from error
    os.unlink(name, dir_fd=source)


def file_system(fd: int) -> str:
    """Return the kind of the file system that holds an open file, as `/proc` names it."""
    device = os.fstat(fd).st_dev
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
        fields = line.split()
        if fields[2] == f"{os.major(device)}:{os.minor(device)}":
            return fields[fields.index("-") + 1]
    return "unknown"


def exchange(source: int, name: bytes | str, target: int, other: bytes | str) -> None:
    """Exchange two names in one step, so that neither is ever absent."""
    _renameat2(source, os.fsencode(name), target, os.fsencode(other), EXCHANGE)


def syncfs(fd: int) -> None:
    """Write everything that the file system of `fd` buffers to the disk."""
    if _libc().syncfs(fd) < 0:
        raise _failure(b"")


def _renameat2(source: int, name: bytes, target: int, new_name: bytes, flags: int) -> None:
    if _rename_call()(source, name, target, new_name, flags) < 0:
        raise _failure(name)


def _failure(path: bytes) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code), os.fsdecode(path))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _openat2() -> Callable[..., int]:
    call = _libc()["syscall"]
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return call


@cache
def _rename_call() -> Callable[[int, bytes, int, bytes, int], int]:
    """Return renameat2 of the C library, or by number if the library is older than the kernel."""
    signature = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if hasattr(_libc(), "renameat2"):
        call = _libc()["renameat2"]
        call.argtypes = signature
        return call
    number = RENAMEAT2.get(platform.machine())
    if number is None:
        raise Unsupported("this system has no renameat2")
    raw = _libc()["syscall"]
    raw.restype, raw.argtypes = ctypes.c_long, (ctypes.c_long, *signature)
    return lambda *arguments: raw(number, *arguments)
