"""Which files: kinds, extensions, patterns and names, as the `include` and `exclude` of a listing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

from libs.models.offline.archives import into_archive, is_archive
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Item, Measure, Name, Named
from libs.models.offline.ground import Ground, has_word, singulars
from libs.models.offline.numerals import MODIFIED
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.retrieval.lexicon import FAMILIES, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold
from libs.skills import Categories, selected

TWINS = {
    "jpg": ("jpg", "jpeg"),
    "jpeg": ("jpg", "jpeg"),
    "html": ("html", "htm"),
    "tif": ("tif", "tiff"),
    "tiff": ("tif", "tiff"),
    "yaml": ("yaml", "yml"),
    "mpg": ("mpg", "mpeg"),
    "raw": ("raw", "cr2", "cr3", "nef", "arw", "dng", "orf", "rw2", "raf"),
}
"""Extensions that are one to whoever says one of them; raw pictures have one for each maker of cameras."""

Called = tuple[Word, tuple[str, ...]]
"""A word, and the files that have it in their names."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns for a listing, names said outright, and the words that nobody could turn into either."""

    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """What was said of them and could not be brought together with the rest: it is asked about, never dropped."""

    def __bool__(self) -> bool:
        return bool(self.patterns or self.names)


def select(clause: Clause, ground: Ground, categories: Categories) -> Selection:
    """What a clause picks out. Its folders are left aside, except where sparing: there a folder is spared whole."""
    rest = _choosing(clause, ground)
    called = named_words(clause, ground)
    groups = clause.groups(rest)
    picked = [_picked(group, called, categories) for group in _with_pieces(groups)]
    patterns = _named_like(rest, [pattern for found in picked for pattern in found.patterns])
    if patterns and mixed(clause, ground):
        patterns += [escaped(name) for found in picked for name in found.names]
    known = {item for item, _ in called}
    names = [item.text for item in rest if isinstance(item, Named) and item.kind is not Name.GLOB]
    strange = [
        item.text
        for item in rest
        if isinstance(item, Word) and item.unknown and item not in known and not extension_of(item.folded)
    ]
    strange += [word for found in picked for word in found.strange]
    lost = [word for found in picked for word in found.lost] + [
        word for group in groups for word in _not_told_by(group, known, ground)
    ]
    lost += [*_some(clause), *_beyond(clause)]
    lost += [*_one_more_piece(groups), *_elsewhere_than(glob_folders(clause), names)]
    return Selection(tuple(dict.fromkeys(patterns)), tuple(dict.fromkeys(names)), tuple(strange), tuple(lost))


def told_everywhere(clause: Clause, ground: Ground) -> Clause:
    """ "All files called a.tmp", "a.tmp in all subfolders": the name is one that several may have, as a pattern is."""
    ends = {place.item for place in places(clause, ground) if place.target}  # "… to Films"
    nouns = any(_files_noun(item) for item in clause.items if item not in ends)
    of_all = clause.says("all") and (clause.says("junk") or nouns)
    if not (of_all or clause.says("recursive")) or clause.says("rename", "create", "unpack"):
        return clause
    return replace(clause, items=tuple(_told_as_pattern(item, ground) for item in clause.items))


def told_one_by_one(clause: Clause, ground: Ground) -> Clause:
    """ "figures/*.png and todo.txt": one list goes through one folder, so that the files of a pattern are named."""
    named = [item.text for item in clause.names if item.kind is Name.PATH and file_like(item)]
    named = [name for name in named if not (clause.says("pack") and is_archive(name))]
    if not _elsewhere_than(glob_folders(clause), named) or ground.paths is None:
        return clause
    return replace(clause, items=tuple(one for item in clause.items for one in _files_of(item, ground)))


def _files_of(item: Item, ground: Ground) -> Sequence[Item]:
    if not isinstance(item, Named) or item.kind is not Name.GLOB or "/" not in item.text:
        return [item]
    held = [path for path in ground.within(item.text.rpartition("/")[0]) if selected(path, include=[item.text])]
    return [replace(item, kind=Name.PATH, text=path) for path in held] or [item]


def told_by_year(clause: Clause, ground: Ground) -> Clause:
    """ "The invoices of 2023", "everything from before 2023", where the names of most say their year: those of that
    name, whenever they were saved.
    """
    held = [path for _, paths in named_words(clause, ground) for path in paths]
    held = held or _all_of_it(clause, ground)
    return replace(clause, items=tuple(one for item in clause.items for one in by_years(item, held)))


def _all_of_it(clause: Clause, ground: Ground) -> list[str]:
    """ "Everything from 2023", "the files from 2023 in Bills": all that is there."""
    around = {place.item: place for place in places(clause, ground)}
    told = [item for item in clause.items if item not in around]
    kinds = {*KINDS} - ({"archives"} if into_archive(clause) else set())
    if not clause.says("all", "file") or any(isinstance(one, Named) or kinds & {*one.concepts} for one in told):
        return []
    where = next((place.said.strip("/") for place in around.values() if ground.below(place.said.strip("/"))), ".")
    return [*(ground.below(where) if where != "." else ground.files)]


def by_years(item: Item, paths: Sequence[str]) -> Sequence[Item]:
    """A time as the patterns of its years, where most of these files say theirs in their names."""
    names = [path.rpartition("/")[2] for path in paths]
    if sum(YEAR.search(name) is not None for name in names) * 3 < len(names) * 2:
        return [item]
    dated = (
        isinstance(item, Measure) and YEAR.search(item.text) is not None and not CHANGED & {*fold(item.text).split()}
    )
    if not isinstance(item, Measure) or not dated or not {*item.filters} <= WHEN:
        return [item]
    years = sorted({year for name in names for year in YEAR.findall(name) if _within_bounds(int(year), item)})
    return [Named(Name.GLOB, f"*{year}*", item.start, item.end) for year in years] or [item]


CHANGED = listed(MODIFIED)
"""With one of these it is said that the date counts, and not the name."""
WHEN = {"modified_after", "modified_before"}


def _within_bounds(year: int, item: Measure) -> bool:
    """All of it: "before 2019" is each year up to 2018; a bound within a year is none of years."""
    after, before = (str(item.filters.get(name, "")) for name in ("modified_after", "modified_before"))
    plain = all(not bound or NEW_YEAR.fullmatch(bound) for bound in (after, before))
    return plain and (not after or int(after[:4]) <= year) and (not before or year < int(before[:4]))


NEW_YEAR = regex(r"\d{4}-01-01")


def told_in_its_folder(clause: Clause, ground: Ground) -> Clause:
    """ "Put all minutes into a folder Archive inside Minutes": those that are there, where none is so called here, and
    not the folder, which can't go into itself.
    """
    told = places(clause, ground)
    above = told[0].said.strip("/").rpartition("/")[0] if len(told) == 1 and told[0].target else ""
    if not above or not ground.within(above) or not clause.says("move"):
        return clause
    name = above.rpartition("/")[2]
    for at, item in enumerate(clause.items):
        if isinstance(item, Named) and item.text == above and item is not told[0].item:
            item = Word(name, fold(name), item.start, item.end)
        strange = isinstance(item, Word) and item.unknown and not ground.called(item.text)
        if strange and ground.called(item.text, above):
            here = (Word("in", "in", item.end, item.end, filler=True), Named(Name.PATH, above, item.end, item.end))
            return replace(clause, items=(*clause.items[:at], item, *here, *clause.items[at + 1 :]))
    return clause


def told_by_its_form(clause: Clause, ground: Ground) -> Clause:
    """ "Aus den Protokollen": the one folder that is called so in another case, or deeper, where no file here is."""
    if not (clause.says("pack", "archives", "organize") or into_archive(clause)):
        return clause
    return replace(clause, items=tuple(_in_its_form(item, ground) for item in clause.items))


def _in_its_form(item: Item, ground: Ground) -> Item:
    if not isinstance(item, Word) or not item.unknown or ground.has(item.text) or ground.called(item.text):
        return item
    forms = singulars(item.folded)
    real = [name for name in ground.folders if fold(name) in forms] or ground.inner(item.text)
    return Named(Name.PATH, real[0], item.start, item.end) if len(real) == 1 else item


def _told_as_pattern(item: Item, ground: Ground) -> Item:
    if not isinstance(item, Named) or item.kind is not Name.PATH:
        return item
    bare = item.text.rpartition("/")[2]
    said = item.end - item.start < len(item.text) or bare == item.text
    return replace(item, kind=Name.GLOB, text=escaped(bare)) if said and ground.deep(bare) else item


def _with_pieces(groups: Sequence[list[Item]]) -> list[list[Item]]:
    """ "PDFs and photos with draft in the name": what is said of names at the end holds for all that is listed before
    it, as sizes and times do.
    """
    told = [list(group) for group in groups]
    for at, group in enumerate(told):
        pieces = [item for item in group if a_piece(item)]
        if not pieces or not any(_kind_noun(item) for item in group):
            continue
        for before in told[:at]:
            if any(_kind_noun(item) for item in before) and not any(isinstance(item, Named) for item in before):
                before.extend(pieces)
    return told


def _one_more_piece(groups: Sequence[Sequence[Item]]) -> list[str]:
    """ "PDFs with gas in the name and with bill in the name": whether both must be there is not plain. "Those that
    begin so, and those that end so" are both.
    """
    for at, group in enumerate(groups):
        pieces = [item.text for item in group if a_piece(item)]
        before = [item for one in groups[:at] for item in one]
        if not pieces or not any(map(a_piece, before)) or any(map(_kind_noun, group)):
            continue
        anew = any(isinstance(item, Word) and item.folded in THOSE for item in group)
        if not anew or any(map(_told_kind, before)):
            return pieces
    return []


def _elsewhere_than(folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """ "figures/*.png and todo.txt": one list goes through one folder."""
    return [name for name in names if folders and name.rpartition("/")[0] not in folders]


def _some(clause: Clause) -> Iterator[str]:
    """ "Delete some PDFs": which of them is not said. What was told before the deed is all that was told."""
    deeds = [word.start for word in clause.words if FILE_DEEDS & {*word.concepts}]
    return (word.text for word in clause.words if word.folded in SOME and deeds and deeds[0] < word.start)


def _beyond(clause: Clause) -> Iterator[str]:
    """ "Everything after inv 005": what comes after a file is not that file."""
    for before, item in pairwise(clause.items if clause.says(*FILE_DEEDS) else ()):
        if isinstance(before, Word) and before.folded in BEYOND and isinstance(item, Named):
            yield item.text


FILE_DEEDS = listed("remove move copy pack rename")
BEYOND = listed("after before beyond past following above below vor hinter ab despues antes")
SOME = listed("some several few half certain einige manche wenige paar gewisse algunos algunas unos unas varios varias")
THOSE = listed("los las those ones die diejenigen all alle everything anything todo todos")


def _not_told_by(group: Sequence[Item], known: AbstractSet[Item], ground: Ground) -> Iterator[str]:
    """ "The reciept pics": what tells which of the kind, and nobody knows, nor is it in any name."""
    kinds = any(_kind_noun(item) for item in group) or not known.isdisjoint(group)
    yield from (item.text for item in group if kinds and isinstance(item, Word) and item not in known and _a_year(item))
    yield from (item.text for item in _strangers_things(group) if item not in known and not ground.has(item.text))
    for before, item in pairwise(group):
        strange = isinstance(before, Word) and before.unknown and not extension_of(before.folded)
        beside = strange and before not in known and _kind_noun(item) and not before.text.isdigit()
        if beside and ground.has(before.text) is None and not ground.called(before.text):
            yield before.text


def _strangers_things(group: Sequence[Item]) -> Iterator[Word]:
    """ "The photos of Pepe": whose they are, right after the kind."""
    for noun, of, owner in zip(group, group[1:], group[2:], strict=False):
        led = isinstance(of, Word) and of.folded in OF and _told_kind(noun)
        if led and isinstance(owner, Word) and owner.unknown:
            yield owner


OF = listed("of von vom de del with mit con showing")


def _a_year(item: Word) -> bool:
    """One that no time was read from."""
    return YEAR.fullmatch(item.text) is not None


YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def glob_folders(clause: Clause) -> tuple[str, ...]:
    """The folders that patterns name: logs of "logs/*.gz"."""
    above = (name.text.rpartition("/")[0] for name in clause.names if name.kind is Name.GLOB)
    return tuple(dict.fromkeys(folder for folder in above if folder and "*" not in folder))


def a_piece(item: Item) -> bool:
    """A pattern that the words came to, rather than one that stands there: "with draft in the name"."""
    return isinstance(item, Named) and item.kind is Name.GLOB and len(item.text) < item.end - item.start


def _picked(group: Sequence[Item], called: Sequence[Called], categories: Categories) -> Selection:
    """What one noun and all that tells which of it pick out. All of it must hold: a kind, a piece of the name, and each
    word that the names have.
    """
    kinds = _of_all([patterns_of(item, categories) for item in group if isinstance(item, Word)])
    globs = [pattern for item in group if isinstance(item, Named) for pattern in patterns_of(item, categories)]
    patterns = _meeting(globs, kinds)
    lost = tuple(item.text for item in group if _is_glob(item)) if globs and not patterns else ()
    patterns = patterns or globs
    names = tuple(item.text for item in group if isinstance(item, Named) and file_like(item) and not _is_glob(item))
    here = [(word, held) for word, held in called if word in group]
    if not here:
        return Selection(tuple(patterns), names, (), lost)
    both = [path for path in here[0][1] if all(path in held for _, held in here)]
    told = [escaped(path.rpartition("/")[2]) for path in both]
    told = [name for name in told if _is_one(name, patterns)] if patterns else told
    if not told:
        return Selection(tuple(patterns), names, tuple(word.text for word, _ in here), tuple(w.text for w, _ in here))
    return Selection(tuple(told), names, (), lost)


def _of_all(told: Sequence[list[str]]) -> list[str]:
    """Two words of one noun narrow each other: "jpg photos". Where they share nothing, either will do."""
    kinds: list[str] = []
    for patterns in filter(None, told):
        kinds = [kind for kind in kinds if kind in patterns] or [*kinds, *patterns]
    return kinds


def _meeting(globs: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """The patterns for what is of one of the kinds and has one of these names."""
    if not globs or not kinds:
        return [*globs, *kinds]
    return [met for glob in globs for kind in kinds if (met := _both(glob, kind)) is not None]


def _both(glob: str, kind: str) -> str | None:
    ending = kind.removeprefix("*")
    if glob.casefold().endswith(ending):
        return glob
    if glob.endswith(".*"):
        return glob.removesuffix(".*") + ending
    return f"{glob}{ending}" if glob.endswith("*") else None


def odd_kind(clause: Clause, ground: Ground) -> str | None:
    """A word beside an extension, listed with it, that is none: what "the foo and npz files" are is not plain."""
    said = [item for item in clause.items if not (isinstance(item, Word) and item.filler)]
    for one, other in pairwise(said):
        if any(one.start < link <= other.start for link in clause.links):
            for word, beside in ((one, other), (other, one)):
                if _nobody_knows(word, ground) and isinstance(beside, Word) and extension_of(beside.folded):
                    return word.text
    return None


def _nobody_knows(item: Item, ground: Ground) -> bool:
    strange = isinstance(item, Word) and item.unknown and not extension_of(item.folded)
    return strange and not ground.called(item.text) and not ground.has(item.text)


def mixed(clause: Clause, ground: Ground) -> bool:
    """ "song.mp3 and the pdfs", "the invoices and song.mp3": a file by its name, and beside it some of a kind, or some
    that are called so and that it is none of.
    """
    groups = clause.groups(_choosing(clause, ground))
    named = [any(_file_by_name(item) for item in group) for group in groups]
    names = {item.text for item in clause.names if _file_by_name(item)}
    called = {word for word, held in named_words(clause, ground) if names.isdisjoint(held)}
    kinds = [any(_told_kind(item) or _is_glob(item) or item in called for item in group) for group in groups]
    return any(named) and any(kinds) and not any(one and other for one, other in zip(named, kinds, strict=True))


def _file_by_name(item: Item) -> bool:
    return isinstance(item, Named) and item.kind is Name.PATH and file_like(item) and "/" not in item.text


def _is_glob(item: Item) -> bool:
    return isinstance(item, Named) and item.kind is Name.GLOB


def named_words(clause: Clause, ground: Ground) -> list[Called]:
    """The words that tell files by their names, and those files; none where something is looked for in them."""
    if clause.says("find", "content"):
        return []
    return _called(_choosing(clause, ground), ground, _within(clause, ground))


def _choosing(clause: Clause, ground: Ground) -> list[Item]:
    """What may choose: all but its folders and its deed."""
    where = {place.item for place in places(clause, ground)}
    return [item for item in clause.items if item not in where and not _acts(item)]


def _acts(item: Item) -> bool:
    """A verb chooses nothing: the zip of "zip the PDFs" is no kind of file."""
    return isinstance(item, Word) and not ACTIONS.isdisjoint(item.concepts)


def _within(clause: Clause, ground: Ground) -> str:
    """The folder that the clause speaks of, as far as it is known."""
    said = [place.said for place in places(clause, ground) if not place.target and not place.beside]
    return (ground.has(said[0]) or said[0].strip("/")) if said else "."


def _called(items: Sequence[Item], ground: Ground, within: str) -> list[Called]:
    """Words that several files have in their names: "the invoices", "the DSC files". One thing alone is named, not
    called so.
    """
    found = []
    for at, item in enumerate(items):
        if not isinstance(item, Word) or not item.unknown:
            continue
        many = _all_of_them(items, at) or (item.folded.endswith("s") and len(ground.everywhere(item.text)) > 1)
        held = ground.called(item.text, within) or (_elsewhere(item.text, ground) if many else ())
        if not held:
            continue
        after = items[at + 1] if at + 1 < len(items) else None
        if (
            _plural(item, held)
            or _all_of_them(items, at)
            or _sole(items, at, held=held, ground=ground)
            or (after is not None and _kind_noun(after))
            or any(_files_noun(other) for other in items[max(0, at - 3) : at + 3] if other is not item)
        ):
            found.append((item, held))
    return [*found, *_telling_which(items, found, ground, within=within)]


def _elsewhere(word: str, ground: Ground) -> tuple[str, ...]:
    """Those of subfolders, where none is here: the listing finds none and says where there are some."""
    return () if ground.has(word) else ground.everywhere(word)


def _all_of_them(items: Sequence[Item], at: int) -> bool:
    """ "Alle Stundenzettel", "die Stundenzettel alle": many, whatever the word ends with."""
    before = [item for item in items[max(0, at - 2) : at] if not (isinstance(item, Word) and item.filler)]
    beside = (*before[-1:], *items[at + 1 : at + 2])
    return any(isinstance(item, Word) and "all" in item.concepts for item in beside)


def _telling_which(items: Sequence[Item], found: Sequence[Called], ground: Ground, *, within: str) -> Iterator[Called]:
    """The words beside one that tell which: "bank statements", "test shots"."""
    of_all = dict(found)
    for before, item in pairwise(items):
        for one, other in ((before, item), (item, before)):
            if isinstance(one, Word) and isinstance(other, Word) and one.unknown and one not in of_all:
                held = ground.called(one.text, within) or _elsewhere(one.text, ground)
                if other in of_all and {*held} & {*of_all[other]}:
                    yield one, held


THE = listed("the my der die das den el la mi")


def _sole(items: Sequence[Item], at: int, *, held: Sequence[str], ground: Ground) -> bool:
    """ "The podcast", where one file in the whole tree is called so."""
    item, before = items[at], items[at - 1] if at else None
    anywhere = ground.everywhere(item.text)
    definite = isinstance(before, Word) and before.folded in THE
    alone = not any(isinstance(other, Named) and other.kind is not Name.GLOB for other in items)
    return definite and alone and len(item.text) >= 4 and len(held) == len(anywhere) == 1


def _kind_noun(item: Item) -> bool:
    """ "The lecture video" is told by both words."""
    return isinstance(item, Word) and bool({"file", *KINDS} & {*item.concepts} or extension_of(item.folded))


def _told_kind(item: Item) -> bool:
    """Of which kind, and not only that they are files."""
    return isinstance(item, Word) and bool({*KINDS} & {*item.concepts} or extension_of(item.folded))


def _plural(word: Word, held: Sequence[str]) -> bool:
    """ "Invoices" where the names say "invoice"; a word that stands in the names as it was said may be just one."""
    if word.folded.endswith("s"):
        return True
    return word.folded.endswith(("en", "er", "n", "e")) and not any(has_word(path, word.folded) for path in held)


def _files_noun(item: Item) -> bool:
    if not isinstance(item, Word):
        return False
    several = item.folded.endswith(("s", "en", "er")) or extension_of(item.folded) is not None
    return several and bool({"file", *KINDS} & {*item.concepts} or extension_of(item.folded))


def _is_one(name: str, patterns: Sequence[str]) -> bool:
    return selected(re.sub(r"\[(.)\]", r"\1", name), include=patterns)


def escaped(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def _named_like(items: Sequence[Item], patterns: list[str]) -> list[str]:
    """ "that start with IMG", "ending in _old"."""
    for at, item in enumerate(items):
        if not isinstance(item, Word) or not {"starts", "ends"} & {*item.concepts} or at + 1 == len(items):
            continue
        if "_" not in item.folded:
            continue  # "die auf .tmp enden": what it ends with stands before
        named = items[at + 1]
        if isinstance(named, Named) and named.kind is Name.GLOB:
            return patterns
        part = escaped(named.text)
        if "starts" in item.concepts:
            return [f"{part}{pattern}" for pattern in patterns if pattern.startswith("*")] or [f"{part}*"]
        return [f"*{part}"] if part.startswith(".") or extension_of(part.casefold()) else [f"*{part}.*"]
    return patterns


def spared(clause: Clause, ground: Ground, categories: Categories) -> Selection:
    """What a clause wants left alone, folders included. Raises `Outside` or `NoSuchPlace`."""
    if the_rest(clause) and not clause.names:
        return Selection()
    picked = select(clause, ground, categories)
    folders = [ground.path(place.said) for place in places(clause, ground)]
    named = [ground.path(name) for name in picked.names]
    bare = [real for word in clause.words if word.unknown and (real := ground.has(word.text))]
    inner = [word.text for word in clause.words if word.text[0].isupper() or (word.unknown and not clause.acts)]
    bare += [escaped(path) for word in inner for path in ground.inner(word)]
    called = [escaped(path) for group in clause.groups(clause.words) for path in _told_by_all(group, picked, ground)]
    found = tuple(dict.fromkeys((*picked.patterns, *folders, *named, *bare, *called)))
    strange = tuple(
        word for word in picked.strange if not (ground.has(word) or ground.anywhere(word) or ground.inner(word))
    )
    # Which files are alike is known only once they have been read.
    strange += tuple(word.text for word in clause.words if "duplicate" in word.concepts)
    if not found and not strange and not clause.says("untouched", "all"):
        strange = tuple(word.text for word in clause.words if "except" not in word.concepts)
    return Selection(found, (), strange)


def _told_by_all(group: Sequence[Item], picked: Selection, ground: Ground) -> list[str]:
    """ "The solution of the test": the files that have each of these words in their names; where none has, those of
    any.
    """
    told = [item for item in group if item.text in picked.strange or (isinstance(item, Word) and item.unknown)]
    said = [held for item in told if (held := ground.anywhere(item.text))]
    both = [path for path in said[0] if all(path in held for held in said)] if said else []
    return both or [path for held in said for path in held]


REST = listed(
    "rest else others other remaining remainder ubrigen ubrige restlichen anderen andere resto demas otros otras"
)


def the_rest(clause: Clause) -> bool:
    """What was not chosen: leaving that alone goes without saying."""
    said = any(word.folded in REST for word in clause.words)
    return said and not clause.says(*KINDS) and not any(extension_of(word.folded) for word in clause.words)


def _spelt(item: Named) -> list[str]:
    """A piece of a name of several words is spelt in several ways: "gas bill", gas_bill, gas-bill, GasBill."""
    said = item.text.rpartition("/")[2] if "*" not in item.text.rpartition("/")[0] else item.text
    if "**" in said:
        return list(dict.fromkeys((said, said.replace("**/", ""))))
    if " " not in said or not a_piece(item):
        return [said]
    return [said.replace(" ", "[ _.-]"), said.replace(" ", "")]


def patterns_of(item: Word | Named, categories: Categories) -> list[str]:
    """What a kind, an extension or a pattern comes to."""
    if isinstance(item, Named):
        return _spelt(item) if item.kind is Name.GLOB else []
    extension = extension_of(item.folded)
    if extension:
        return [f"*.{twin}" for twin in TWINS.get(extension, (extension,))]
    families = [FAMILIES[kind] for kind in item.concepts if kind in FAMILIES]
    if families:
        return [f"*.{known}" if known.isalnum() else known for known in families[0]]
    kinds = [kind for kind in KINDS if kind in item.concepts]
    return [f"*.{known}" for kind in kinds for known in sorted(categories.extensions.get(kind.capitalize(), ()))]
