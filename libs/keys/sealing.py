"""Sealed content: AES-256-GCM in frames, so that a part can be read alone, under a data key of its own.

Frame n is encrypted with the nonce n, which also says whether it is the last one (the STREAM construction of Hoang,
Reyhanitabar, Rogaway and Vizár, 2015). Frames that are changed, moved, or missing at the end do not open. A data key
seals one content only, so no nonce repeats; it is kept wrapped by a key that is derived from a secret.
"""

from __future__ import annotations

from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from libs.errors import Rejected

FRAME, TAG = 64 * 1024, 16
"""Bytes of content in a frame, and those that sealing adds to each."""


class SealBroken(Rejected):
    """Sealed content was changed, or its key is another one; restore the object store and the keys from one backup."""

    code = "SEAL_BROKEN"


def new_key() -> bytes:
    return AESGCM.generate_key(256)


def wrapped(secret: bytes, purpose: str, key: bytes, about: bytes) -> bytes:
    """Return a data key, encrypted for its purpose and bound to what it is about."""
    nonce = token_bytes(12)
    return nonce + AESGCM(_wrapping(secret, purpose)).encrypt(nonce, key, about)


def unwrapped(secret: bytes, purpose: str, value: bytes, about: bytes) -> bytes:
    """Return the data key. Raises SealBroken."""
    try:
        return AESGCM(_wrapping(secret, purpose)).decrypt(value[:12], value[12:], about)
    except (InvalidTag, ValueError) as error:
        raise SealBroken from error


def seal(key: bytes, content: bytes, about: bytes) -> bytes:
    """Return the content as frames. The same key must never seal another content."""
    cipher, last = AESGCM(key), _last(len(content))
    return b"".join(
        cipher.encrypt(_nonce(n, last), content[n * FRAME : (n + 1) * FRAME], about) for n in range(last + 1)
    )


def frames(start: int, end: int) -> range:
    """Return the bytes of the sealed content that hold these bytes of the content; the last frame may be shorter."""
    return range(start // FRAME * (FRAME + TAG), (_last(end) + 1) * (FRAME + TAG))


def opened(key: bytes, sealed: bytes, about: bytes, *, first: int, size: int) -> bytes:
    """Return the content of whole frames, the first of which has this number. `size` is that of the whole content.

    Raises:
        SealBroken: a frame was changed, moved or cut off.
    """
    cipher, last, step = AESGCM(key), _last(size), FRAME + TAG
    pieces = [sealed[at : at + step] for at in range(0, len(sealed), step)]
    try:
        return b"".join(cipher.decrypt(_nonce(n, last), piece, about) for n, piece in enumerate(pieces, first))
    except (InvalidTag, ValueError) as error:
        raise SealBroken from error


def _last(size: int) -> int:
    return max(0, size - 1) // FRAME


def _nonce(n: int, last: int) -> bytes:
    return n.to_bytes(11) + bytes([n == last])


def _wrapping(secret: bytes, purpose: str) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt=None, info=f"suma seal {purpose}".encode()).derive(secret)
