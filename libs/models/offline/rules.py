"""How a rule of renaming is said where it is proposed: the first new names of a series, what takes whose place, what
stands in front. Who hears only "rename 5 files" cannot say yes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from libs.models.offline import phrasebook as say
from libs.models.offline.phrasebook import Phrases
from libs.retrieval.lexicon import Language
from libs.skills.categories import split_suffix
from libs.skills.shapes import reshaped

Quoted = Callable[[str], str]
DIGITS = 3
"""Of a series where nothing else is said, as in the tool."""


def ruled(args: Mapping[str, Any], language: Language, quoted: Quoted, *, files: Sequence[str] = ()) -> str:
    """What the rule makes of names, as it stands behind "rename 5 files"; nothing for one that has no words here."""
    told = [
        *_series(args, language, quoted, several=len(files) != 1),
        *_texts(args, language, quoted),
        *_put_anew(args, language, quoted, files),
        *_kept(args, language),
    ]
    return say.BOTH[language].join(told)


def _series(args: Mapping[str, Any], language: Language, quoted: Quoted, *, several: bool) -> list[str]:
    base = str(args.get("base", ""))
    if not base:
        return []
    apart, digits = " " if base[-1].isalnum() else "", int(args.get("digits", DIGITS))
    first, second = (quoted(f"{base}{apart}{number:0{digits}}") for number in (1, 2))
    form = say.IN_SERIES if several else say.TO_NAME
    return [form[language].format(first=first, second=second)]


def _texts(args: Mapping[str, Any], language: Language, quoted: Quoted) -> list[str]:
    given = {
        name: quoted(str(args[name])) for name in ("find", "replace", "prefix", "suffix", "extension") if args.get(name)
    }
    rules = {"prefix": say.PREFIXED, "suffix": say.SUFFIXED, "extension": say.ENDING}
    told = [form[language].format(text=given[name]) for name, form in rules.items() if name in given]
    if "find" not in given:
        return told
    form = say.SWAPPED if "replace" in given else say.WITHOUT
    return [form[language].format(find=given["find"], replace=given.get("replace", "")), *told]


def _put_anew(args: Mapping[str, Any], language: Language, quoted: Quoted, files: Sequence[str]) -> list[str]:
    """By the first name that it makes another of."""
    shape, becomes = str(args.get("shape", "")), str(args.get("becomes", ""))
    find, put = str(args.get("find") or "\0"), str(args.get("replace", ""))  # the one comes before the other
    stems = (split_suffix(path.rpartition("/")[2])[0] for path in files)
    told = ((stem, reshaped(stem.replace(find, put), shape, becomes)) for stem in stems if shape)
    pairs = ((stem, new) for stem, new in told if new not in (None, stem))
    old, new = next(pairs, (shape, becomes))
    return [say.RESHAPED[language].format(old=quoted(old), new=quoted(str(new)))] if shape else []


def _kept(args: Mapping[str, Any], language: Language) -> list[str]:
    """What the rule does with what is there: its date, its letters."""
    forms: list[Phrases | None] = [
        say.DATED_BY.get(str(args.get("dated")), say.DATED) if args.get("dated") else None,
        say.WRITTEN.get(str(args.get("written"))),
        say.LETTERS.get(str(args.get("case"))),
    ]
    return [form[language] for form in forms if form is not None]
