"""What gathers in a folder and nobody made: what is left of downloads and of programs, and installers long used.

Each is known by the words that people have for it and by the patterns that its names always have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.retrieval.regexes import regex
from libs.skills import Categories, selected

UNFINISHED = ("*.crdownload", "*.part", "*.partial", "*.opdownload", "*.!ut")
LEFT_BEHIND = ("*.tmp", "*.temp", "~$*", "*~", ".~lock.*")
OF_SYSTEMS = ("Thumbs.db", "desktop.ini", ".DS_Store", "ehthumbs.db")
LITTER = (*UNFINISHED, *LEFT_BEHIND, *OF_SYSTEMS)
"""What nobody keeps."""

WORDS: Sequence[tuple[re.Pattern[str], Sequence[str]]] = (
    (
        regex(
            r"(?:un|half[ -]?|never[ -]?|not[ -]?)(?:finish(?:ed)?|complete[d]?|done)\s+(?:\w+\s+)?downloads?"
            r"|downloads?\s+(?:\w+\s+){0,3}?(?:never|not|n'?t|half|un)\s*(?:\w+\s+)?(?:finish\w*|complete\w*|done|through)"
            r"|half[ -]?(?:down)?loaded(?: (?:things?|files?|stuff|ones))?|halb (?:herunter|runter)?geladen\w*"
            r"|(?:broken|aborted|partial|incomplete|interrupted|cancelled)\s+downloads?"
            r"|(?:abgebrochen\w*|unfertig\w*|halb\w*|unvollstandig\w*|angefangen\w*)\s+downloads?"
            r"|downloads?\s+(?:\w+\s+){0,3}?(?:abgebrochen|nicht fertig|nie fertig|unvollstandig)"
            r"|descargas?\s+(?:\w+\s+){0,4}?"
            r"(?:a medias|sin terminar|incomplet\w+|no (?:se )?(?:termin|acab|complet)\w*|cortad\w+)"
        ),
        UNFINISHED,
    ),
    (regex(r"~\$|squiggles?|tildes?(?= files?)|lock ?files?|sperrdatei\w*|lockdatei\w*"), ("~$*", ".~lock.*")),
    (
        regex(
            r"temp(?:orary)?\s+(?:files?|ones|stuff|things)|temp-?datei\w*|temporare[nrs]?\s+\w+|archivos\s+temporales|temporales"
        ),
        LEFT_BEHIND,
    ),
    (
        regex(
            r"(?:things?|files?|stuff)\s+(?:that\s+)?windows\s+(?:makes|made|puts|leaves)|system\s+(?:files|junk|litter)"
            r"|system(?:dateien|mull|kram)|archivos\s+(?:del?|de)\s+sistema"
        ),
        OF_SYSTEMS,
    ),
)
JUNK = regex(
    r"(?<!\w)(?:junk|rubbish|garbage|clutter|leftovers?|mull|datenmull|schrott|gerumpel|basura|morralla|porqueria)(?!\w)"
)
"""Of which no one says what it is."""
SETUPS = regex(
    r"(?<!\w)(?:setup|install\w*|installation\w*)[ -]?(?:programs?|programme?|files?|exes?|packages?|datei\w*|things?)"
    r"|(?<!\w)(?:setups|installers?|installer|installationsdatei\w*|instalador(?:es)?)(?!\w)"
)


def mentioned(plain: str, categories: Categories) -> Iterator[tuple[int, int, Sequence[str]]]:
    """What is spoken of, by its place in the text, and the patterns of its names."""
    for said, patterns in WORDS:
        yield from ((*found.span(), patterns) for found in said.finditer(plain))
    setups = tuple(f"*.{end}" for end in sorted(categories.extensions.get("Programs", ())))
    yield from ((*found.span(), setups) for found in SETUPS.finditer(plain) if setups)


def installs(patterns: Sequence[str]) -> bool:
    return "*.exe" in patterns


def only_litter(paths: Sequence[str]) -> bool:
    return all(selected(path, include=LITTER) for path in paths)
