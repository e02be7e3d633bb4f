"""Keys in a folder: the adapter for one machine, or for a volume that the machines share.

    keys/                         0700
      grants/current              the id of the key that signs
      grants/<id>.key             0600, 32 raw bytes; gone once the key is retired
      grants/<id>.pub             32 raw bytes; kept, so that old signatures still verify
      salt~3a…/secret             0600, 32 raw bytes; empty once it is erased

Each file is written to a temporary name, synced, and renamed into place. `current` and `secret` are first placed by a
hard link, which fails if the name exists: of two processes starting at once, both use the winner's. A process that has
only the `.pub` files verifies and cannot sign. To distrust a retired key, delete its `.pub` and restart.

Services with a folder each exchange public halves through another one: the `.pub` files of a name are in
`public/<name>/`, if that folder exists. Only the services that sign by that name may write there.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes, token_hex

from libs.keys import ed25519
from libs.keys.ports import KeyExposed, KeyUnavailable, Signature

_KEY_ID = re.compile(r"[0-9a-f]{16}")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class FileKeys:
    """`Keys` over a folder, which is created (0700) with the first key."""

    def __init__(self, folder: Path, public: Path | None = None) -> None:
        self._folder, self._shared = folder, public
        self._private: dict[str, bytes] = {}
        self._public: dict[tuple[str, str], bytes] = {}

    def sign(self, name: str, payload: bytes) -> Signature:
        key_id, private = self._signer(name, self._current(name) or self._first(name))
        return Signature(key_id, ed25519.sign(private, payload))

    def verify(self, name: str, payload: bytes, signature: Signature) -> bool:
        public = self._verifier(name, signature.key_id)
        return public is not None and ed25519.verify(public, payload, signature.value)

    def public(self, name: str) -> Mapping[str, bytes]:
        if not any(self._place(name).glob("*.pub")):
            self._first(name)
        found = {path.stem: self._verifier(name, path.stem) for path in sorted(self._place(name).glob("*.pub"))}
        return {key_id: public for key_id, public in found.items() if public is not None}

    def rotate(self, name: str) -> str:
        before = self._current(name)
        # The new key before `current` names it, the old one last: `current` names a usable key at every moment.
        key_id = self._make(name)
        _replace(self._home(name) / "current", key_id.encode())
        if before is not None:
            (self._home(name) / f"{before}.key").unlink(missing_ok=True)
        return key_id

    def secret(self, name: str) -> bytes:
        path = self._home(name) / "secret"
        if not path.exists():
            self._open_home(name)
            _place_first(path, token_bytes(32))
        value = self._read_private(path)
        # Never created again: digests under the old one would match no more.
        if not value:
            raise KeyUnavailable(f"the secret {name!r} is empty; restore the keys folder from a backup")
        return value

    def _home(self, name: str) -> Path:
        """Return the folder of a name. A name that is not a plain word is replaced by its digest, against path
        traversal.
        """
        if _PLAIN.fullmatch(name):
            return self._folder / name
        stem = "".join(re.findall(r"[a-z0-9]+", name.lower()))[:16]
        return self._folder / f"{stem}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"

    def _place(self, name: str) -> Path:
        """Return the folder of a name's public halves."""
        home = self._home(name)
        shared = self._shared / home.name if self._shared is not None else home
        return shared if shared.is_dir() else home

    def _open_home(self, name: str) -> Path:
        home = self._home(name)
        for folder in (self._folder, home):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return home

    def _current(self, name: str) -> str | None:
        # Read the current key each time (about 20 µs), so that a rotation takes effect at once in every process.
        try:
            return (self._home(name) / "current").read_text()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyUnavailable(f"key {name!r}: {error.strerror}") from error

    def _first(self, name: str) -> str:
        """Create the first key, or use the one that another process created meanwhile."""
        key_id = self._make(name)
        if _place_first(self._home(name) / "current", key_id.encode()):
            return key_id
        # Another process placed its key first; ours has signed nothing.
        (self._home(name) / f"{key_id}.key").unlink()
        (self._place(name) / f"{key_id}.pub").unlink()
        return (self._home(name) / "current").read_text()

    def _make(self, name: str) -> str:
        home, private = self._open_home(name), ed25519.generate()
        public = ed25519.public_of(private)
        key_id = ed25519.key_id(public)
        # The public half first: a signature can be verified as soon as it can be made.
        _replace(self._place(name) / f"{key_id}.pub", public)
        _replace(home / f"{key_id}.key", private)
        return key_id

    def _signer(self, name: str, key_id: str) -> tuple[str, bytes]:
        if key_id not in self._private:
            try:
                private = self._read_private(self._home(name) / f"{key_id}.key")
                if not (shown := self._place(name) / f"{key_id}.pub").exists():
                    # The key is older than the folder of public halves.
                    _replace(shown, ed25519.public_of(private))
                self._private[key_id] = private
            except KeyUnavailable:
                # A rotation came between reading `current` and this; a process with only public halves stops here.
                current = self._current(name)
                if current is None or current == key_id:
                    raise
                return self._signer(name, current)
        return key_id, self._private[key_id]

    def _verifier(self, name: str, key_id: str) -> bytes | None:
        """Return the public key with this id; None for a file whose content is another key."""
        if (name, key_id) not in self._public:
            # The id comes with a signature, from outside: it must not lead to another path.
            if not _KEY_ID.fullmatch(key_id):
                return None
            try:
                public = (self._place(name) / f"{key_id}.pub").read_bytes()
            except OSError:
                return None
            if ed25519.key_id(public) != key_id:
                return None
            self._public[name, key_id] = public
        return self._public[name, key_id]

    def _read_private(self, path: Path) -> bytes:
        for folder in (self._folder, path.parent):
            # Others who may write to a folder can replace the file in it.
            _refuse_exposed(folder, folder.stat())
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise KeyUnavailable(f"{path.name} of key {path.parent.name!r}: {error.strerror}") from error
        with os.fdopen(fd, "rb") as file:
            # The opened file, not its name, which may have been replaced since.
            _refuse_exposed(path, os.fstat(fd))
            return file.read()


def _refuse_exposed(path: Path, status: os.stat_result) -> None:
    if status.st_mode & 0o077:
        mode = status.st_mode & 0o777
        raise KeyExposed(f"{path} has mode {mode:04o}: others may use it; run `chmod go-rwx {path}`")
    if status.st_uid not in (os.geteuid(), 0):
        raise KeyExposed(f"{path} belongs to user {status.st_uid}, not to the user that runs this")


def _written_aside(path: Path, content: bytes) -> Path:
    aside = path.with_name(f".{path.name}.{token_hex(8)}")
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(fd)
    return aside


def _replace(path: Path, content: bytes) -> None:
    _written_aside(path, content).replace(path)
    _sync(path.parent)


def _place_first(path: Path, content: bytes) -> bool:
    """Put `content` at `path` unless something is there; return False in that case."""
    aside = _written_aside(path, content)
    try:
        with suppress(FileExistsError):
            os.link(aside, path)
            _sync(path.parent)
            return True
        return False
    finally:
        aside.unlink()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
