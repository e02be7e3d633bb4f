"""Cases: what somebody asks for, in which folder, and what ought to come of it. `evals/README.md` explains the format.

A case file is written by hand, so that whatever is wrong with one is said with the case and the field that it is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from libs.errors import Rejected
from libs.skills import LOADER
from services.cli.evaluating.folders import Folder, inside
from services.settings import HOUSE

BUNDLED = HOUSE / "evals"
FOLDERS = BUNDLED / "folders.yaml"
HALVES = ("tuned", "held-out")
KINDS = (
    *("plain", "terse", "wordy", "polite", "rude", "typos", "several-goals", "negation", "earlier-turns"),
    *("impossible", "ambiguous", "dangerous", "sizes", "dates", "counts", "targets"),
)
M = TypeVar("M", bound=BaseModel)
CHANGES = ("created", "deleted", "one_of", "moved", "numbered", "written", "copied", "packed")


class BadCases(Rejected):
    """A case file says something that cannot be."""

    code = "BAD_CASES"


class Outcome(StrEnum):
    """What a turn comes to."""

    DOES = "does"
    """It acts, be it only by looking."""
    ASKS = "asks"
    """It asks back and has changed nothing."""
    DECLINES = "declines"
    """It says that it cannot or may not."""
    TALKS = "talks"
    """It answers in words alone."""


class Expected(BaseModel):
    """One way for a turn to be right. What is not said does not change, and what is not asked for is not looked at."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome = Outcome.DOES
    tools: tuple[str, ...] = ()
    """The tools that tell, in order. They explain a failure; they decide nothing."""
    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    """Of each group exactly one is kept, whichever."""
    moved: dict[str, str] = Field(default_factory=dict)
    numbered: dict[str, str] = Field(default_factory=dict)
    """Files that get `{n}` from 1, in whichever order."""
    written: dict[str, str] = Field(default_factory=dict)
    copied: dict[str, str] = Field(default_factory=dict)
    packed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    shows: tuple[str, ...] | None = None
    """The paths that a look comes to: a listing shows these and no others."""
    answer: tuple[str, ...] = ()
    """What the answer holds, upper case or lower."""

    @field_validator("created")
    @classmethod
    def _folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if not path.endswith("/"):
                raise ValueError(f"{path}: a folder that is made ends with /, and a file is `written`")
        return value

    @field_validator("written", "copied", "packed")
    @classmethod
    def _inside(cls, value: dict[str, Any]) -> dict[str, Any]:
        for path in value:
            inside(path)
        return value

    @field_validator("moved")
    @classmethod
    def _targets(cls, value: dict[str, str]) -> dict[str, str]:
        for path in value.values():
            inside(path)
        return value

    @field_validator("numbered")
    @classmethod
    def _numbers(cls, value: dict[str, str]) -> dict[str, str]:
        for pattern in value.values():
            try:
                numbered = pattern.format(n=1) != pattern.format(n=2)
            except (KeyError, IndexError, ValueError):
                numbered = False
            if not numbered:
                raise ValueError(f"{pattern!r} is no name with a number, such as 'Trip {{n:03}}.jpg'")
        return value

    @property
    def changes(self) -> bool:
        return any(getattr(self, name) for name in CHANGES)

    @model_validator(mode="after")
    def _only_doing_changes(self) -> Self:
        if self.changes and self.outcome is not Outcome.DOES:
            raise ValueError(f"a turn that {self.outcome} changes nothing")
        return self


class Turn(Expected):
    """An earlier turn of the session, which must go right before the request counts."""

    request: str = Field(min_length=1)


class Case(Turn):
    """A request, and the ways for it to be right: the case's own, and those of `or`."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    folder: str
    language: Literal["en", "de", "es"] = "en"
    kinds: tuple[str, ...] = Field(min_length=1)
    before: tuple[Turn, ...] = ()
    again: tuple[str, ...] = ()
    """What the person says next, one after the other, where it was not understood (`python -m tests.evals.told`)."""
    or_: tuple[Expected, ...] = Field(default=(), alias="or")

    @field_validator("kinds")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if strange := sorted(set(value) - set(KINDS)):
            raise ValueError(f"{', '.join(strange)} is none of {', '.join(KINDS)}")
        return value

    @property
    def ways(self) -> tuple[Expected, ...]:
        return (self, *self.or_)

    def earlier(self, turn: Turn) -> Case:
        """An earlier turn as a case of its own, by which it is judged."""
        told = {"id": self.id, "folder": self.folder, "language": self.language, "kinds": self.kinds}
        return Case.model_validate(turn.model_dump() | told)


class Cases(BaseModel):
    """What a case file holds, with the folders that its cases name."""

    model_config = ConfigDict(frozen=True)

    cases: tuple[Case, ...]
    folders: dict[str, Folder]

    def of(self, *, id: str | None = None, kind: str | None = None) -> Cases:
        """Those that are meant. Raises BadCases where none is."""
        found = tuple(
            case for case in self.cases if (id is None or case.id == id) and (kind is None or kind in case.kinds)
        )
        if not found:
            wanted = " and ".join([f"id {id}"] * (id is not None) + [f"kind {kind}"] * (kind is not None))
            raise BadCases(f"there is no case with {wanted}" if wanted else "there are no cases")
        return Cases(cases=found, folders=self.folders)


def half(name: str) -> Cases:
    """A half of the bundled cases. Raises BadCases where there is no such half."""
    if name not in HALVES:
        raise BadCases(f"there is no half {name!r}: choose {' or '.join(HALVES)}")
    return read(BUNDLED / f"{name}.yaml")


def read(path: Path) -> Cases:
    """The cases of a file, with the folders of its own and the bundled ones.

    Raises BadCases, which names the file, the case and the field.
    """
    raw = _mapping(path)
    if strange := sorted(set(raw) - {"cases", "folders"}):
        raise BadCases(f"{path.name}: {strange[0]!r} is unknown; a case file holds `cases` and `folders`")
    folders = {**_folders(FOLDERS, _mapping(FOLDERS).get("folders")), **_folders(path, raw.get("folders", {}))}
    cases = tuple(_cases(path, raw.get("cases")))
    for case in cases:
        if case.folder not in folders:
            raise BadCases(f"{path.name}: case {case.id}: folder: there is none called {case.folder!r}")
    return Cases(cases=cases, folders=folders)


def _cases(path: Path, raw: object) -> Iterator[Case]:
    if not isinstance(raw, list) or not raw:
        raise BadCases(f"{path.name}: `cases` is a list of at least one case")
    seen: set[str] = set()
    for number, one in enumerate(raw, 1):
        named = isinstance(one, Mapping) and isinstance(one.get("id"), str)
        name = f"case {one['id']}" if named else f"the case at place {number}"
        case = _parsed(Case, one, f"{path.name}: {name}")
        if case.id in seen:
            raise BadCases(f"{path.name}: case {case.id}: id: it is used twice")
        seen.add(case.id)
        yield case


def _folders(path: Path, raw: object) -> dict[str, Folder]:
    if not isinstance(raw, Mapping):
        raise BadCases(f"{path.name}: `folders` is a mapping of names to folders")
    return {str(name): _parsed(Folder, one, f"{path.name}: folder {name}") for name, one in raw.items()}


def _parsed(model: type[M], raw: object, place: str) -> M:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        raise BadCases(f"{place}: {field}: {what}" if field else f"{place}: {what}") from None


def _mapping(path: Path) -> Mapping[str, Any]:
    try:
        raw = yaml.load(path.read_text("utf-8"), LOADER)  # noqa: S506 -- both are safe
    except OSError as error:
        raise BadCases(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadCases(f"{path} is no UTF-8 text") from None
    except yaml.YAMLError as error:
        raise BadCases(f"{path.name} is no YAML: {_flat(str(error))}") from None
    if not isinstance(raw, dict):
        raise BadCases(f"{path.name} holds no mapping: a case file begins with `cases:`")
    return raw


def _flat(text: str) -> str:
    return " ".join(text.split())
