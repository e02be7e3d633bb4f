"""What an archive is called that nobody has named: after what goes into it.

"Zip the invoices from 2024" makes `Invoices 2024.zip`, where `Archive.zip` would say nothing to whoever finds it. What
is chosen by its kind alone has no such name.
"""

from __future__ import annotations

from collections.abc import Iterator

from libs.models.offline.clauses import Clause, Measure
from libs.models.offline.ground import Ground, singulars
from libs.models.offline.paths import below
from libs.retrieval.words import Word, fold


def archive_of(clause: Clause, folder: str, ground: Ground) -> str | None:
    """The path of the archive of what a clause chooses in a folder."""
    home = folder.rpartition("/")[2] if folder != "." else ""
    told = [word.text for word in clause.words if _chooses(word, home, ground)]
    words = [*([home] if home else []), *told, *_years(clause)]
    if len(words) < (2 if home else 1) or not (home or told):
        return None
    name = " ".join(words)
    return below(folder, f"{name[:1].upper()}{name[1:]}.zip")


def _chooses(word: Word, home: str, ground: Ground) -> bool:
    """Is it a word that names have, and not the folder's own?"""
    if not word.unknown or isinstance(word, Measure) or any(letter.isdigit() for letter in word.text):
        return False
    own = home and not singulars(word.folded).isdisjoint(singulars(fold(home)))
    return not own and bool(ground.anywhere(word.text))


def _years(clause: Clause) -> Iterator[str]:
    """The one year that a clause is about."""
    bounds = clause.filters
    after, before = (str(bounds.get(name, ""))[:10] for name in ("modified_after", "modified_before"))
    year = after[:4]
    if year.isdigit() and after == f"{year}-01-01" and before == f"{int(year) + 1}-01-01":
        yield year
