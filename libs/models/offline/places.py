"""Where: folders and targets, read from words and names and checked against what the workspace holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from libs.models.offline.archives import is_archive
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Item, Name, Named
from libs.models.offline.ground import Ground
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES
from libs.models.offline.paths import file_like
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

INTO = frozenset(
    ("to", "into", "onto", "nach", "zu", "zum", "zur", "a", "al", "under", "beneath", "below", "underneath")
)
UNDER = frozenset(("under", "beneath", "below", "underneath"))
"""Where something is, unless it is put there."""
OFF = frozenset(("a", "al"))
"""What Spanish takes off something, or puts on it, it does "to" it: "quítale el _v1 a las fotos"."""
IN = frozenset(
    (
        *("in", "inside", "within", "from", "of", "across", "throughout"),
        *("im", "ins", "aus", "von", "vom", "en", "de", "del", "desde"),
    )
)
PUTS = listed(
    "put puts pack packe packen leg lege legen verschiebe verschieben verschieb pon poner mete meter collect gather"
    " stick sammle sammel sammeln steck stecke tu tue reune junta coloca place drop store stash dump throw shove schieb"
    " schiebe mueve guarda ponlos should_go_in go_in bring"
    " park parks tuck slot stow haul slide lump deposit plonk plop settle keep kept sit reside place placed schaff"
    " schaffe raum raume stell stelle zieh hol deponier deposita ubica situa vuelca almacena"
    " meter ponga metan pongan guarde"
    " poner ponerlas belong belongs live lives should_live gehort gehoren kommt kommen wandert wandern"
)
"""Verbs after which "in X" is where something goes."""
FOLDER_WORDS = frozenset(("folder", "wellknown"))


NO_PLACE = listed("type size age date name content here file folder all recursive newest oldest largest smallest")
"""What a capital after a preposition does not make a place: German writes every noun with one ("nach Typ")."""


NEW = listed("new neuen neue neuer nueva nuevo called named")


@dataclass(frozen=True, slots=True)
class Place:
    """A place as it was said: after which preposition, or only beside the word folder (`a folder X`)."""

    said: str
    item: Item
    after: str = ""
    beside: bool = False

    @property
    def target(self) -> bool:
        return self.after in INTO


def places(clause: Clause, ground: Ground) -> tuple[Place, ...]:
    """The folders that a clause speaks of, in order: "in Photos and Music" are two. Asked again and again of the same
    clause, so the ground keeps the answers.
    """
    known = ground.answers.get(id(clause))
    if known is None or known[0] is not clause:
        known = ground.answers[id(clause)] = (clause, _places(clause, ground))
    return known[1]


def _places(clause: Clause, ground: Ground) -> tuple[Place, ...]:
    found: list[Place] = []
    for at, item in enumerate(clause.items):
        if item in clause.exchanged:
            continue  # "in the names in Docs KV by Q"
        place = _place(clause.items, at, ground)
        if place is None and _with_its_kind(clause, at, ground):
            place = Place(item.text, item, "in")
        if place is None and found and found[-1].item is clause.items[at - 1] and _like_a_name(item):
            place = Place(item.text, item, found[-1].after)
        if place is not None and not (clause.says("rename") and _new_to(place, ground)):
            found.append(place)
    return _turned(clause, found, ground)


def _with_its_kind(clause: Clause, at: int, ground: Ground) -> bool:
    """ "All figures png": those of the folder."""
    item, after = clause.items[at], clause.items[at + 1] if at + 1 < len(clause.items) else None
    if not isinstance(item, Named) or not isinstance(after, Word) or after.start in clause.links:
        return False
    kind = extension_of(after.folded) or {*KINDS} & {*after.concepts} - {"archives"}
    return bool(kind) and not file_like(item) and bool(ground.below(item.text))


def _new_to(place: Place, ground: Ground) -> bool:
    """After "rename", what is not there is what something shall be called: "in Finanzen umbenennen"."""
    known = ground.names is None or ground.has(place.said.strip("/").partition("/")[0]) is not None
    if isinstance(place.item, Named):
        return place.item.kind is Name.QUOTE and not known and not place.beside
    return not known and not place.beside and "wellknown" not in place.item.concepts


def _after_things(clause: Clause, place: Place) -> bool:
    """Is it a folder by that word, with something before it that could go there?"""
    at = clause.items.index(place.item)
    folder = any(_folder_word(item) for item in clause.items[max(0, at - 2) : at])
    return folder and any(not isinstance(item, Word) or not item.filler for item in clause.items[: max(0, at - 2)])


def _turned(clause: Clause, found: list[Place], ground: Ground) -> tuple[Place, ...]:
    """What is searched for ("suche nach X") is no target; what is put in a folder goes into it."""
    if clause.says("find") and not clause.says("move", "copy"):
        return tuple(place for place in found if not place.target)
    if not clause.says("move", "copy", "create", "organize", "pack", "unpack") and _deed(clause):
        of = UNDER | (OFF if clause.says("remove", "prefix", "suffix") else frozenset())
        found = [replace(place, after="in") if place.after in of else place for place in found]
    packs = any(is_archive(name.text) for name in clause.names) and not clause.says("copy")
    packs = packs and not _of_an_archive(clause, ground)
    puts = not packs and clause.says("move", "copy") and any(_puts(word) for word in clause.words)
    wished = not packs and not _deed(clause) and any(word.folded in WISHES for word in clause.words)
    if not packs and clause.concepts.isdisjoint(ACTIONS) and not any(place.target for place in found):
        # Without a verb, what is not there yet is where something goes: "mp3s in Ordner Ton", "a.pdf: folder New".
        new = [place for place in found if not _there(place, ground) and _after_things(clause, place)]
        found = [replace(place, after="into", beside=False) if place in new else place for place in found]
    if clause.says("unpack") and not any(place.target for place in found):
        return tuple(
            replace(place, after="into") if _unpacked_into(clause, place, ground) else place for place in found
        )
    if (puts or wished) and not any(place.target for place in found):
        return tuple(
            replace(place, after="into") if place.after in ("in", "im", "ins", "en") else place for place in found
        )
    if clause.says("copy") and not any(place.target for place in found):
        return tuple(replace(place, after="into") if _copied_into(clause, place, ground) else place for place in found)
    return tuple(found)


def _of_an_archive(clause: Clause, ground: Ground) -> bool:
    """ "Put June.zip in Letters": one that is there is what goes somewhere."""
    *first, last = clause.names
    there = bool(first) and is_archive(first[0].text) and ground.has(first[0].text) is not None
    return there and not is_archive(last.text)


def _there(place: Place, ground: Ground) -> bool:
    said = place.said.strip("/")
    return ground.has(said) is not None or bool(ground.below(said))


def _unpacked_into(clause: Clause, place: Place, ground: Ground) -> bool:
    """ "Unpack musik/a.zip in samples": where the archive is has been said or is plain, so this is where it goes."""
    said = [name for name in clause.names if is_archive(name.text) and ("/" in name.text or ground.has(name.text))]
    return place.after in WITHIN and bool(said) and said[0].start < place.item.start


def _copied_into(clause: Clause, place: Place, ground: Ground) -> bool:
    """ "Copy a.txt in Docs": into it, where what is copied is not in it. "The PDFs in Docs" may be those that are."""
    if place.after not in WITHIN or ground.names is None:
        return False
    real = ground.has(place.said.strip("/").partition("/")[0])
    held = real is not None and (ground.paths is None or any(path.startswith(f"{real}/") for path in ground.paths))
    named = [name.text for name in clause.names if name is not place.item and name.kind is Name.PATH]
    elsewhere = bool(named) and all("/" in name or ground.has(name) is not None for name in named)
    elsewhere = elsewhere and not any(name.startswith(f"{real}/") for name in named)
    return not held or elsewhere or any(word.folded in COPY_IN for word in clause.words)


WITHIN = ("in", "en", "inside")
"""Prepositions that say where something is, or where it goes."""
COPY_IN = listed("copia copiar copie copiame copien")
"""Spanish copies "en" a folder where others copy to one."""


def _puts(word: Word) -> bool:
    return word.folded in PUTS or ("move" in word.concepts and word.folded.startswith(SPANISH))


SPANISH = ("pon", "met", "guard", "coloc", "dej", "junt")
"""Beginnings of Spanish verbs of putting, whatever is written onto them."""
WISHES = listed("want wants need id like i_d hatte hatten brauchte brauchten quiero quisiera necesito querria")
"""With these, and no deed, "in X" is where something shall be: "I'd like the photos in Best"."""


def _deed(clause: Clause) -> bool:
    return not clause.concepts.isdisjoint(ACTIONS)


def _like_a_name(item: Item) -> bool:
    if isinstance(item, Named):
        return not file_like(item)
    return item.text[0].isupper() and (item.unknown or not set(item.concepts).isdisjoint(KINDS))


def _place(items: Sequence[Item], at: int, ground: Ground) -> Place | None:
    item = items[at]
    before = _preposition(items, at)
    beside = _beside_folder(items, at)
    if isinstance(item, Named):
        if item.kind is Name.GLOB or not (before or beside):
            return None
        file = file_like(item) and not beside and item.kind is Name.PATH
        return None if file and before not in INTO else Place(item.text, item, before, beside and not before)
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Word) and {"name", "file"} & {*after.concepts} and not beside:
        return None  # "in den PDF-Namen", "of the DSC files"
    if _counts(items[at - 1] if at else None) and not ground.has(item.text):
        return None  # "in zwei Sätzen"
    if item.folded in MAIN and before and ground.has(item.text) is None and _folder_word(after):
        return Place(".", item, before)
    if before in ("a", "al", *WITHIN) and after is None and _new(item, ground) and any(map(_copies, items)):
        return Place(item.text, item, before)
    if item.folded in ROOT and before:
        return Place(".", item, "into" if before in ("in", "ins", "en") else before)
    if not _may_be_place(item, ground, before=before, beside=beside, last=after is None):
        return None
    return Place(item.text, item, before, beside and not before)


ROOT = listed("hauptordner hauptverzeichnis stammordner stammverzeichnis wurzelverzeichnis oberordner")
MAIN = listed("main top root parent principal raiz")
"""With the word folder, the one that we work in: "up into the main folder"."""


def _new(item: Word, ground: Ground) -> bool:
    """May a folder be called so that is not there yet?"""
    named = item.unknown or (item.text[0].isupper() and not {*item.concepts}.isdisjoint(KINDS))
    return named and not ground.called(item.text)


def _copies(item: Item) -> bool:
    return isinstance(item, Word) and "copy" in item.concepts


def _folder_word(item: Item | None) -> bool:
    return isinstance(item, Word) and "folder" in item.concepts


def _counts(before: Item | None) -> bool:
    return isinstance(before, Word) and before.folded not in ARTICLES and number_of(before.folded) is not None


def _may_be_place(word: Word, ground: Ground, *, before: str, beside: bool, last: bool) -> bool:
    if "wellknown" in word.concepts:
        return True
    if {"folder", "file"} & {*word.concepts} or word.folded in OWN:
        return False
    if beside and word.folded in ("archive", "archiv"):
        return True
    if (
        before in INTO
        and word.text[0].isupper()
        and not word.filler
        and not (before == "nach" and {*word.concepts} & NO_PLACE)
    ):
        return True
    if ground.has(word.text) is not None and (before or beside):
        return True
    plain = word.unknown or not set(word.concepts).isdisjoint(KINDS) or extension_of(word.folded) is not None
    if not plain or word.text.isdigit():
        return False
    if before in ("into", "nach", "to") and word.unknown and last:
        return True
    if beside:
        return word.text[0].isupper() or word.unknown or (last and bool(before))
    if before not in INTO and ground.anywhere(word.text):
        return False
    return bool(before) and word.text[0].isupper() and (word.unknown or before in INTO or not ground.names)


OWN = listed("own eigenen eigener eigenes propia propio")
""" "Into their own folder": it has no name yet."""


def _preposition(items: Sequence[Item], at: int) -> str:
    """The preposition before an item, looking past articles and words such as "folder" or "called"."""
    for item in reversed(items[max(0, at - 8) : at]):
        if isinstance(item, Named):
            return ""
        if item.folded in WITH and not any(isinstance(one, Word) and "name" in one.concepts for one in items[:at]):
            return ""  # "in a folder with their contract"
        if item.folded in INTO | IN:
            return "into" if _into_a_folder(items, at, item) else item.folded
        if "inside" in item.concepts:
            return "in"
        if ("move" in item.concepts or item.filler) and item.folded.endswith(("_into", "_to", "_in")):
            return "into"
        if item.folded in NAME_ITSELF and _in_it(items, item):
            return ""
        passes = item.filler or not set(item.concepts).isdisjoint((*FOLDER_WORDS, "name", "here")) or item.folded in NEW
        if not passes:
            return ""
    return ""


WITH = listed("with mit con junto")
NAME_ITSELF = listed("name names namen dateinamen nombre nombres")


def _in_it(items: Sequence[Item], name: Word) -> bool:
    """ "Im Namen LS durch X ersetzen": what stands there is a text in the name, and no place."""
    before = items[items.index(name) - 1] if items.index(name) else None
    return isinstance(before, Word) and before.folded in ("im", "in", "en")


def _into_a_folder(items: Sequence[Item], at: int, preposition: Word) -> bool:
    """ "In a folder called X", "in den Ordner X", "en una carpeta X": by the article that is where something goes."""
    if preposition.folded not in ("in", "en"):
        return preposition.folded == "ins"
    after = items[items.index(preposition) + 1 : at + 2]
    article = next((item.folded for item in after if isinstance(item, Word)), "")
    folder = any(isinstance(item, Word) and "folder" in item.concepts for item in after)
    return folder and article in ("an", "another", "new", "einen", "den", "una", "neuen")


def _beside_folder(items: Sequence[Item], at: int) -> bool:
    """`the Photos folder`, `folder Photos`, `a folder called Photos`."""
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Word) and "folder" in after.concepts and not after.folded.endswith(("files", "dateien")):
        return True
    for item in reversed(items[max(0, at - 2) : at]):
        if isinstance(item, Named):
            return False
        if "folder" in item.concepts:
            return True
        if "name" not in item.concepts:
            return False
    return False
