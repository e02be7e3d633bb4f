"""Check whether a text names something inside the workspace, by the text alone.

A path outside is refused, never clipped to another file. Symbolic links are handled later, by opening with
RESOLVE_BENEATH (architecture.md 10); this check refuses early and explains why.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from typing import Any

from libs.guards.blocked import PathRefused

FORMAT = "workspace-path"
"""The `format` by which a tool's schema marks a text as a workspace path."""

UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, line separators, lone surrogates and bidirectional marks, which a diff could not display truthfully. Other
odd characters occur in real file names.
"""

LONGEST = 4096
"""Most bytes of a path (PATH_MAX of Linux)."""

_SECRETS = """
    .env .env.* *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk id_rsa* id_dsa* id_ecdsa* id_ed25519*
    .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .htpasswd credentials credentials.* secrets secrets.*
    .ssh .gnupg .aws .azure .kube .docker
"""
SECRET = re.compile("|".join(map(translate, _SECRETS.split())), re.IGNORECASE)
"""Names of files and folders that hold keys, passwords or tokens by the custom of widespread programs."""

DEEPEST = 32
"""Deepest nesting of args; deeper values are refused."""


def within(root: str, path: str, *, home: str | None = None) -> str:
    """Return the path relative to `root`, in posix form, `.` for the root itself. Raises PathRefused.

    `root` is absolute and normalised. `~` expands to `home` where given, else it is refused. `..` is refused anywhere,
    even where it would stay inside: through a link it might not.
    """
    _legible(path)
    if at_home(path):
        path = _at_home(path, home)
    if ".." in path.split("/"):
        raise PathRefused("path.parent", f"{path!r} steps out with '..'.")
    if not path.startswith("/"):
        return posixpath.normpath(path)
    # `normpath` keeps two leading slashes (POSIX), and such a path would match no root.
    return _relative(root, posixpath.normpath("/" + path.lstrip("/")))


def is_secret(path: str) -> bool:
    """Return whether the file, or a folder on the way to it, has the name of one that holds secrets."""
    return any(SECRET.match(name) for name in path.split("/"))


def at_home(path: str) -> bool:
    """Return whether the path is `~`, `~/x` or `~ann`; not `~WRL0003.tmp` or `~$letter.docx`, which are office lock
    files.
    """
    first = path.partition("/")[0]
    return first.startswith("~") and not ("$" in first or "." in first)


def path_args(schema: Mapping[str, Any], args: Mapping[str, Any]) -> list[str]:
    """Return every path among `args`, found by the schema's `format: workspace-path`, nested and in arrays.

    Every subschema that could apply counts (`anyOf`, `$ref` …): a path that only one branch declares is still a path.
    """
    return list(dict.fromkeys(_found(schema, schema, args, depth=0)))


def check_paths(root: str, schema: Mapping[str, Any], args: Mapping[str, Any], *, home: str | None = None) -> None:
    """Check all paths of `args`. Raises PathRefused for the first one that is not within `root`."""
    for path in path_args(schema, args):
        within(root, path, home=home)


def _legible(path: str) -> None:
    if not path or not path.strip():
        raise PathRefused("path.empty", "The path is empty.")
    if found := UNSHOWN.search(path):
        raise PathRefused("path.characters", f"The path holds the character {found[0]!a}.")
    if len(path.encode()) > LONGEST:
        raise PathRefused("path.length", f"The path is longer than {LONGEST} bytes.")


def _at_home(path: str, home: str | None) -> str:
    user, _, rest = path.partition("/")
    if home is None or user != "~":
        raise PathRefused("path.home", f"{path!r} names a home folder.")
    return f"{home}/{rest}"


def _relative(root: str, path: str) -> str:
    if path == root:
        return "."
    folder = root.rstrip("/") + "/"
    if not path.startswith(folder):
        raise PathRefused("path.outside", f"{path!r} is outside the workspace.")
    return path[len(folder) :]


def _found(whole: Mapping[str, Any], schema: Any, value: Any, *, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise PathRefused("path.depth", "The args nest too deeply.")
    if not isinstance(schema, Mapping):
        return
    if isinstance(value, str) and schema.get("format") == FORMAT:
        yield value
    for branch in _branches(whole, schema):
        yield from _found(whole, branch, value, depth=depth + 1)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _in_member(whole, schema, key, item, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _found(whole, _element(schema, number), item, depth=depth + 1)


def _branches(whole: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    for word in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(word, ())
    for word in ("if", "then", "else"):
        yield schema.get(word)
    if isinstance(pointer := schema.get("$ref"), str):
        yield _referenced(whole, pointer)


def _in_member(
    whole: Mapping[str, Any], schema: Mapping[str, Any], key: str, item: Any, *, depth: int
) -> Iterator[str]:
    properties = schema.get("properties", {})
    named = properties.get(key, schema.get("additionalProperties"))
    for candidate in (named, *schema.get("patternProperties", {}).values()):
        yield from _found(whole, candidate, item, depth=depth)
    # A key may be a path, too.
    names = schema.get("propertyNames")
    yield from _found(whole, names, key, depth=depth)


def _element(schema: Mapping[str, Any], number: int) -> Any:
    fixed = schema.get("prefixItems", ())
    return fixed[number] if number < len(fixed) else schema.get("items")


def _referenced(whole: Mapping[str, Any], pointer: str) -> Any:
    """Return the subschema that a local JSON pointer names. Raises PathRefused where it names none, so that none is
    missed.
    """
    found: Any = whole
    for part in pointer.removeprefix("#").split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or part not in found:
            raise PathRefused("path.schema", f"The schema refers to {pointer!r}, which is not there.")
        found = found[part]
    if not pointer.startswith("#"):
        raise PathRefused("path.schema", f"The schema refers outside itself: {pointer!r}.")
    return found
