"""Keys by name: signing, verifying, and secrets that can be erased (architecture.md 9, 14, 16).

A name is a purpose (`grants`, `internal`, `audit`); a signature made for one is invalid for another.
"""

from libs.keys.canonical import canonical
from libs.keys.ports import KeyExposed, Keys, KeyUnavailable, Signature

__all__ = [
    "KeyExposed",
    "KeyUnavailable",
    "Keys",
    "Signature",
    "canonical",
    "certificates",
    "file",
    "sealing",
]
