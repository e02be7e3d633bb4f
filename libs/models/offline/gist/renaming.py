"""New names in a story: "those are all of the harbour, might they be called Harbour 1, Harbour 2 and so forth".

Each reader looks for another sort of evidence. What says its new names outright comes first: a series, and names that
are there but for the way they are written. Who speaks of folders, archives or of deleting means no names, unless these
are spoken of as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist import (
    dating,
    dropping,
    edging,
    exchanging,
    lettering,
    padding,
    replacing,
    series,
    shifting,
    titling,
    trimming,
)
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.stances import spoken
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex

READERS = (trimming, padding, replacing, series, lettering, dropping, dating, shifting, edging, exchanging, titling)
OF_THEMSELVES = (trimming, padding, replacing, series, dropping, dating, shifting)
"""These need no word of names: what they look for is nowhere else."""
NAMES = regex(
    r"\brenam\w*|\b(?:file\s?)?names\b|\bname(?!\s+(?:it|on)\b)(?!\w)|\bnamed\b|\bcall\s+(?:them|'?em|those"
    r"|these)\b|\bspel(?:t|l|ling)\b|\bunderscores?\b|\bcapitals?\b|\bletters\b"
    r"|\b(?:datei)?namen?\b|\w*benenn\w*|\bnenne?\s+(?:die|sie)\b|unterstrich|leerzeichen|buchstaben"
    r"|\bdurchnummer\w*|\bhei(?:ß|ss)en\b|\bstatt\b"
    r"|\bnombres?\b|\brenombr\w*|\bll[aá]m(?:en|alas|alos|ar)\b|min[uú]scul|may[uú]scul|guion|espacios"
    r"|\bpalabra\b|\badelante\b|\bdelante\b|\bcalled\b|\bin\s+front\b|\bnimm\b[^.;!?\n]{0,60}\braus\b"
    r"|\b(?:qu[ií]ta|s[aá]ca|b[oó]rra)(?:se|le)l?[oae]?s?\b|\b(?:at|on)\s+the\s+end\b|\bmach\w*\s+aus\b"
    r"|\bvorne\b|\bhinten\b"
    r"|\bbetween\s+the\s+words\b|\bspaces\b|\bordinary\s+spaces?\b|\blücken\b|\bwhere\s+it\s+(?:sa(?:ys|id)"
    r"|should\s+say)\b"
    r"|\bponle\b|\bponele\b|\bcall\s+it\b|\b1\b.{1,60}\b2\b"
    r"|\b(?:that|the)\s+word\b|\bdavor\b|\bdahinter\b|\b(?:begin|start)s?\s+with\b|\b(?:empiec|comienc)en?\b"
    r"|\b(?:an(?:fangen|hängen)|beginnen)\b|\bvor\s+(?:die|den|alle|jede\w*)\b",
    re.IGNORECASE,
)
ELSEWHERE = regex(
    r"\b(?:zip\w*|archives?|archiv(?:e|ier\w*)?|pack\w*|comprim\w*|move\w*|verschieb\w*|mueve\w*|mover|gather)\b"
    r"|\b(?:new|own|a|one|another|separate|neue[nr]?|eigene[nr]?|einen|nen|unter|una|nueva|propia"
    r"|sub)\s*(?:folder|directory|ordner|carpeta)s?\b|\bfolder\s+(?:called|named|of)\b"
    r"|\b(?:carpeta|ordner)\s+(?:llamad|que\s+se\s+llame|namens)\w*",
    re.IGNORECASE,
)
STRONG = regex(r"\brenam\w*|\b(?:file\s?)names?\b|dateinamen|umbenenn|renombr", re.IGNORECASE)


OF_NAMES = regex(
    r"\brenam|\b(?:file\s?)?names?\b(?!\s+(?:it|on)\b)|namen?\b|benenn|nombre|\bponl|\bponel|\bcall|\bll[aá]m"
    r"|\bnenn|\bhei(?:ß|ss)en|\binstead\s+of\b|\bstatt\b"
    r"|\bword\b|\bpalabra|leerzeichen|\bspaces\b|underscore|unterstrich|\bgui[oó]n|\bespacios\b|bindestrich|\bhyphens?\b",
    re.IGNORECASE,
)


ASKS = regex(
    r"^\W*(?:(?:hi|hello|hey|hallo|hola)\W+)?(?:which|what|who|where|when|how|is|are|do|does|did|welche\w*"
    r"|was|wer|wo|wann|wie|gibt|sind|ist|hat"
    r"|habe?|qu[eé]|cu[aá]l\w*|qui[eé]n|d[oó]nde|cu[aá]nd?t?o\w*|hay|tengo)\b",
    re.IGNORECASE,
)


def surely(story: Story) -> bool:
    """Is a text of names exchanged or taken out, whatever else the words might ask or delete?"""
    if ASKS.search(story.text) or _elsewhere(story):
        return False
    if any(dropping.only_dates(story)) or dropping.off_files(story) is not None or lettering.surely(story):
        return True
    if not NAMES.search(story.text):
        return False
    if titling.spelled_anew(story) is not None:
        return True
    if dropping.STRONG.search(story.text) is not None:
        return any(dropping.heard(story))
    plain = exchanging.NAMING.search(story.text) is not None and not story.says("remove")
    return plain and any(exchanging.heard(story))


def outright(story: Story) -> Iterator[Deed]:
    """What names are surely spoken of for."""
    spoken = NAMES.search(story.text) or dropping.ONLY_DATE.search(story.text) or dropping.off_files(story)
    if spoken and not _elsewhere(story):
        yield from _all(story)


def heard(story: Story) -> Iterator[Deed]:
    """Every renaming that the story may want."""
    if not _elsewhere(story):
        yield from _all(story)


def _all(story: Story) -> Iterator[Deed]:
    if (deed := titling.spelled_anew(story)) is not None and not spoken(story.text):
        yield deed
    for reader in READERS:
        if reader in OF_THEMSELVES or not story.says("remove", "clean", "junk") or OF_NAMES.search(story.text):
            yield from reader.heard(story)


def _elsewhere(story: Story) -> bool:
    return ELSEWHERE.search(story.text) is not None and STRONG.search(story.text) is None
