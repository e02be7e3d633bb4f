"""What fits into an event: facts of a folder are told whole or not at all, and of more files where little was said."""

from __future__ import annotations

from services.conversation_worker.domain import event_sizes

PATHS = [f"Invoices/{n:04} Hartley and Sons.pdf" for n in range(1000)]
EVENT_MOST = 256 * 1024


def test_a_thousand_paths_stay_in_the_facts() -> None:
    assert event_sizes.facts({"paths": PATHS, "files": 1000}) == {"paths": PATHS, "files": 1000}


def test_facts_beside_a_long_message_leave_out_long_lists() -> None:
    assert event_sizes.facts({"paths": PATHS, "files": 1000}, event_sizes.TEXT_MOST) == {"files": 1000}
    assert event_sizes.facts({"paths": PATHS[:300]}, event_sizes.TEXT_MOST) == {"paths": PATHS[:300]}


def test_largest_parts_together_fit_into_an_event() -> None:
    around = event_sizes.HISTORY_BYTES + event_sizes.OBSERVED_BYTES + event_sizes.MEMORY_BYTES + event_sizes.READ_BYTES
    assert event_sizes.TEXT_MOST + 2 * event_sizes.FEW_BYTES + around < EVENT_MOST
    assert event_sizes.TEXT_MOST // 2 + event_sizes.NAMES_BYTES + event_sizes.PATHS_BYTES + around < EVENT_MOST
