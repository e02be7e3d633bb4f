"""The files that a turn named: the meaning of "those" and "the rest" in the next one.

After a look, these are the files that were found; after a change that was not carried out, those that it was about.
After a change, names alone do not say which files are meant, so none are remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from libs.events import Args, Json
from services.conversation_worker.domain.event_sizes import size
from services.conversation_worker.turn.state import CommitResult, StepRun

BYTES_MOST = 6 * 1024
ABOUT = ("paths", "source", "path", "groups")
"""The args that say what a change is about."""


def named_files(commit_result: CommitResult | None, steps: Sequence[StepRun]) -> tuple[str, ...]:
    """Return all files that the turn named, or none."""
    if commit_result is not None and (commit_result.operations or commit_result.left_out):
        return ()
    changes = [run.args or run.step.args for run in steps if run.step.mutates]
    looks = (run.data.json_ for run in steps if run.data is not None)
    return whole(of_changes(changes) if changes else of_looks(looks))


def of_looks(shown: Iterable[Json]) -> Iterator[str]:
    """Yield the paths that lists, searches and comparisons found; of duplicates, the removable ones."""
    for found in shown:
        if not isinstance(found, Mapping):
            continue
        yield from _texts(found.get("nodes"))
        yield from (str(match["path"]) for match in _mappings(found.get("matches")) if "path" in match)
        yield from _surplus(found.get("groups"))


def of_changes(args: Iterable[Args]) -> Iterator[str]:
    for given in args:
        value = next((given[name] for name in ABOUT if name in given), None)
        yield from [value] if isinstance(value, str) else [*_texts(value), *_surplus(value)]


def whole(paths: Iterable[str]) -> tuple[str, ...]:
    """Return each path once; none if there are too many, or if they are not known by name."""
    named = tuple(dict.fromkeys(paths))
    return () if "." in named or size(named) > BYTES_MOST else named


def _texts(value: Json) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


def _mappings(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def _surplus(groups: Json) -> list[str]:
    return [path for group in _mappings(groups) for path in _texts(group.get("remove"))]
