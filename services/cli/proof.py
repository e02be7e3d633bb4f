"""`suma audit verify`: check an export against given keys and checkpoints, or those of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from libs.audit import Report, trust, verify
from services import settings
from services.cli import words
from services.cli.terminal import console, print_json


def checked(export: Path, keys: Sequence[str], checkpoints: Path | None, *, as_json: bool) -> bool:
    """Verify the export and print the result; return True if it is valid. Raises BadTrust."""
    known = _known(export, keys, checkpoints)
    report = verify(export, trusted_keys=known.keys, outside_checkpoints=known.checkpoints)
    if as_json:
        shown = {name: getattr(report, name) for name in report.__slots__}
        print_json({**shown, "key_verified": known.keys is not None, "outside_checkpoints": len(known.checkpoints)})
    else:
        _tell(report, known)
    return report.ok


def _known(export: Path, keys: Sequence[str], checkpoints: Path | None) -> trust.Trust:
    """Return the trusted keys and checkpoints. This machine's checkpoints are used only with its own keys."""
    own = trust.of_folder(settings.process().data_dir)
    pinned = trust.of_keys(export, keys) if keys else own.keys
    if checkpoints is not None:
        return trust.Trust(pinned, trust.of_file(checkpoints))
    return trust.Trust(pinned, () if keys else own.checkpoints)


def _tell(report: Report, known: trust.Trust) -> None:
    if not report.ok:
        place = f" at record {report.first_bad}" if report.first_bad is not None else ""
        console.print(Text(f"✘ verification failed{place}: {words.plain(report.problem)}", style="red"))
        return
    console.print(Text(f"✔ {words.count(report.count, 'record')} verified ({report.tenant})", style="green"))
    by = ", ".join(report.signed_by)
    if known.keys is None:
        console.print(Text(f"  signed by {by}; the key is unverified: compare it, or pass --key", style="yellow"))
    else:
        outside = f"; checked against {words.count(len(known.checkpoints), 'outside checkpoint')}"
        console.print(Text(f"  signed by {by}, a known key{outside if known.checkpoints else ''}", style="dim"))
