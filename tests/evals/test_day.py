"""A person's days: requests about folders, played through a whole platform, each with the result that was judged right
by hand: how it ends, the paths that go and come, and the answer's words and figures. Dates are left out. The person
refuses the changes of a case with `refuse`: its answer begins with the question.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from typing_extensions import override

from services.cli.address import Address
from services.cli.client import Client
from services.cli.evals import folders, play
from services.cli.evals.folders import FolderSpec
from tests.evals.days import FOLDERS, ROUNDS

CASES: list[tuple[str, dict[str, Any]]] = [(stem, case) for stem, day in ROUNDS.items() for case in day["cases"]]
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Refusing(play.Observer):
    """Refuse each change, and keep the question."""

    asked = ""

    @override
    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked = f"{question['title']} "
        return {"verdict": "deny"}


@pytest.fixture(scope="module")
def platform() -> Iterator[tuple[Address, Path]]:
    with play.platform("offline") as running:
        yield running


@pytest.mark.parametrize(("day", "case"), CASES, ids=[f"{day}: {' | '.join(case['say'])}" for day, case in CASES])
def test_request_of_a_day_has_its_result(platform: tuple[Address, Path], day: str, case: dict[str, Any]) -> None:
    watched = Refusing() if case.get("refuse") else play.Observer()
    assert played(*platform, FOLDERS[day, case["folder"]], case["say"], watched) == {
        key: case[key] for key in ("ends", "gone", "new", "answer")
    }


def played(
    address: Address, root: Path, folder: FolderSpec, requests: Sequence[str], watched: play.Observer
) -> dict[str, Any]:
    """Say the requests in one session in a new folder; return the result of the last."""
    place = Path(mkdtemp(dir=root)) / "folder"
    place.mkdir()
    folders.make(folder, place, datetime.now(UTC))
    with Client(address) as suma:
        session = suma.open_session(root=place, hitl="bypass", title="day")
        for request in requests[:-1]:
            play._said(suma, session, place, request)
        did, _, _ = play._said(suma, session, place, requests[-1], watched)
    gone, new = did.before.keys() - did.after.keys(), did.after.keys() - did.before.keys()
    shutil.rmtree(place.parent, ignore_errors=True)
    asked = watched.asked if isinstance(watched, Refusing) else ""
    told = asked + DATE.sub("DATE", " ".join(did.said.split()))
    return {"ends": str(did.outcome), "gone": sorted(gone), "new": sorted(new), "answer": told}
