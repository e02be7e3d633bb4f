"""Case files: requests, their folders and the expected results. `README.md` explains the format.

Case files are written by hand, so every error names the file, the case and the field.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from libs.errors import Rejected
from libs.skills import LOADER
from services.cli.evals import folders, trees
from services.cli.evals.folders import FolderSpec
from services.cli.evals.trees import Tree, Unfit

BUNDLED = Path(__file__).parent
FOLDERS = BUNDLED / "folders.yaml"
HALVES = ("tuned", "held-out")
KINDS = (
    *("plain", "terse", "polite", "several-goals", "negation", "earlier-turns", "impossible", "ambiguous", "dangerous"),
    *("sizes", "dates", "counts", "targets"),
)
M = TypeVar("M", bound=BaseModel)


class BadCases(Rejected):
    """A case file contains an error."""

    code = "BAD_CASES"


class Outcome(StrEnum):
    """The ways in which a turn can end."""

    DOES = "does"
    """It acts; a look counts."""
    ASKS = "asks"
    """It asks back and changes nothing."""
    DECLINES = "declines"
    """It says that it cannot or may not."""
    TALKS = "talks"
    """It answers in words alone."""


class Expected(trees.Changes):
    """One correct result of a turn: the named changes and no others, and what the answer must hold."""

    outcome: Outcome = Outcome.DOES
    tools: tuple[str, ...] = ()
    """The tools that act, in order. They explain a failure and decide nothing."""
    shows: tuple[str, ...] | None = None
    """The paths that a look returns: a listing shows these and no others."""
    answer: tuple[str, ...] = ()
    """Texts that the answer contains; case is ignored."""

    @model_validator(mode="after")
    def _only_doing_changes(self) -> Self:
        if self.changes and self.outcome is not Outcome.DOES:
            raise ValueError(f"a turn that {self.outcome} changes nothing")
        return self


class Turn(Expected):
    """An earlier turn of the session; it must be right before the request counts."""

    request: str = Field(min_length=1)


class Case(Turn):
    """A request with its correct results: the case's own, and those of `or`."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    folder: str
    kinds: tuple[str, ...] = Field(min_length=1)
    before: tuple[Turn, ...] = ()
    or_: tuple[Expected, ...] = Field(default=(), alias="or")

    @field_validator("kinds")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(value) - set(KINDS)):
            raise ValueError(f"{', '.join(unknown)} is not one of {', '.join(KINDS)}")
        return value

    @property
    def ways(self) -> tuple[Expected, ...]:
        return (self, *self.or_)

    def earlier(self, turn: Turn) -> Case:
        """Wrap an earlier turn as a case, to judge it."""
        return Case.model_validate(turn.model_dump() | {"id": self.id, "folder": self.folder, "kinds": self.kinds})


class Cases(BaseModel):
    """The cases of a file, with the folders that they name."""

    model_config = ConfigDict(frozen=True)

    cases: tuple[Case, ...]
    folders: dict[str, FolderSpec]

    def of(self, *, id: str | None = None, kind: str | None = None) -> Cases:
        """Select cases by id and kind. Raises BadCases if none matches."""
        found = tuple(
            case for case in self.cases if (id is None or case.id == id) and (kind is None or kind in case.kinds)
        )
        if not found:
            wanted = " and ".join([f"id {id}"] * (id is not None) + [f"kind {kind}"] * (kind is not None))
            raise BadCases(f"there is no case with {wanted}" if wanted else "there are no cases")
        return Cases(cases=found, folders=self.folders)

    def make(self, folder: str, root: Path) -> None:
        """Create `root` and put the files of the named folder into it."""
        root.mkdir(parents=True)
        folders.make(self.folders[folder], root, datetime.now(UTC))


def half(name: str) -> Cases:
    """Read one half of the bundled cases. Raises BadCases for an unknown half."""
    if name not in HALVES:
        raise BadCases(f"unknown half {name!r}: choose {' or '.join(HALVES)}")
    return read(BUNDLED / f"{name}.yaml")


def read(path: Path) -> Cases:
    """Read a case file, with its own folders and the bundled ones.

    Raises BadCases, which names the file, the case and the field.
    """
    raw = _mapping(path)
    if unknown := sorted(set(raw) - {"cases", "folders"}):
        raise BadCases(f"{path.name}: {unknown[0]!r} is unknown; a case file holds `cases` and `folders`")
    known = {**_folders(FOLDERS, _mapping(FOLDERS).get("folders")), **_folders(path, raw.get("folders", {}))}
    cases = tuple(_cases(path, raw.get("cases")))
    for case in cases:
        if case.folder not in known:
            raise BadCases(f"{path.name}: case {case.id}: folder: unknown folder {case.folder!r}")
    return Cases(cases=cases, folders=known)


def check(cases: Cases) -> None:
    """Make each folder and try each change on it, before anything starts.

    Raises BadCases, which names the case and the field.
    """
    made: dict[str, Tree] = {}
    for case in cases.cases:
        if case.folder not in made:
            made[case.folder] = _tree(cases, case.folder)
        try:
            _check(case, made[case.folder])
        except Unfit as error:
            raise BadCases(f"case {case.id}: {error}") from None


def _tree(cases: Cases, folder: str) -> Tree:
    with tempfile.TemporaryDirectory(prefix="suma-eval-") as place:
        cases.make(folder, Path(place) / folder)
        return trees.seen(Path(place) / folder)


def _check(case: Case, tree: Tree) -> None:
    for before in _after(case.before, tree):
        for way in case.ways:
            if way.changes and all(after == before for after in trees.ought(before, way)):
                raise Unfit("the named changes change nothing")
            if missing := sorted(set(way.shows or ()) - set(before)):
                raise Unfit(f"shows: {missing[0]!r} does not exist")


def _after(turns: Sequence[Turn], tree: Tree) -> Iterator[Tree]:
    """Yield each tree that the earlier turns may leave."""
    if not turns:
        yield tree
        return
    for after in trees.ought(tree, turns[0]):
        yield from _after(turns[1:], after)


def _cases(path: Path, raw: object) -> Iterator[Case]:
    if not isinstance(raw, list) or not raw:
        raise BadCases(f"{path.name}: `cases` must be a list of at least one case")
    seen: set[str] = set()
    for number, one in enumerate(raw, 1):
        named = isinstance(one, Mapping) and isinstance(one.get("id"), str)
        name = f"case {one['id']}" if named else f"the case at place {number}"
        case = _parsed(Case, one, f"{path.name}: {name}")
        if case.id in seen:
            raise BadCases(f"{path.name}: case {case.id}: id: used twice")
        seen.add(case.id)
        yield case


def _folders(path: Path, raw: object) -> dict[str, FolderSpec]:
    if not isinstance(raw, Mapping):
        raise BadCases(f"{path.name}: `folders` must map names to folders")
    return {str(name): _parsed(FolderSpec, one, f"{path.name}: folder {name}") for name, one in raw.items()}


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
        raise BadCases(f"{path} is not UTF-8 text") from None
    except yaml.YAMLError as error:
        raise BadCases(f"{path.name} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise BadCases(f"{path.name} is not a mapping; a case file begins with `cases:`")
    return raw
