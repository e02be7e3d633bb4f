"""Keys by name: what may sign, what may verify, and the secrets that can be forgotten (DESIGN §8, §13, §17).

A name is a purpose (`grants`, `internal`, `audit`), so that a signature made for one is worth nothing for another.
"""

from libs.keys.ports import KeyExposed, Keys, KeyUnavailable, SecretForgotten, Signature

__all__ = ["KeyExposed", "KeyUnavailable", "Keys", "SecretForgotten", "Signature"]
