"""What fits into an event: facts of a folder are told whole or not at all, and of more files where little was said."""

from __future__ import annotations

from services.conversation_worker.domain import bounds

PATHS = [f"Invoices/{n:04} Hartley and Sons.pdf" for n in range(1000)]
EVENT_MOST = 256 * 1024


def test_a_thousand_files_are_told_by_name() -> None:
    assert bounds.facts({"paths": PATHS, "files": 1000}) == {"paths": PATHS, "files": 1000}


def test_beside_a_long_message_so_many_are_not_told_at_all() -> None:
    assert bounds.facts({"paths": PATHS, "files": 1000}, bounds.TEXT_MOST) == {"files": 1000}
    assert bounds.facts({"paths": PATHS[:300]}, bounds.TEXT_MOST) == {"paths": PATHS[:300]}


def test_all_of_it_together_fits() -> None:
    around = bounds.HISTORY_BYTES + bounds.OBSERVED_BYTES + bounds.MEMORY_BYTES + bounds.READ_BYTES
    assert bounds.TEXT_MOST + 2 * bounds.FEW_BYTES + around < EVENT_MOST
    assert bounds.TEXT_MOST // 2 + bounds.NAMES_BYTES + bounds.PATHS_BYTES + around < EVENT_MOST
