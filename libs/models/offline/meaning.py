"""What a clause asks for, as weighed signs: concepts in a normal form, so that many ways to say it are one.

The phrases of tools are brought into the same form, so nothing here knows a tool: "what is in `a.zip`" is a look into
an archive wherever it is said. `=word` is a word that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from libs.models.offline.archives import into_archive, is_archive
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Name, Named
from libs.models.offline.copying import names_of_copy
from libs.models.offline.ground import Ground
from libs.models.offline.grouping import makes_groups
from libs.models.offline.measures import number_of
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.quantities import emptiness, most, ranking
from libs.models.offline.reading import read
from libs.models.offline.selection import named_words
from libs.models.offline.titles import a_series
from libs.models.offline.weighing import weighs
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

SAME, MODIFIER, STRANGE = 1.0, 0.4, 0.5
WHICH = listed(
    "file folder here all only recursive newest oldest largest smallest shortest wellknown wellnamed keep age size"
    " starts ends blank underscore hyphen date same"
)
HOW = ("then", "first", "not", "except", "untouched", "greeting")
SILENT = frozenset((*KINDS, *WHICH, *HOW))
"""Concepts that say which or how, not what."""
LOOKS = listed("list find report howmany parse whatis inside content explain")
CHANGING = listed("remove move copy rename create pack organize")
STYLES = listed("prefix suffix lower upper titlecase snake swap number")
READABLE = listed(
    "txt md markdown csv tsv json jsonl yaml yml toml ini cfg conf xml html htm eml log py js ts sql sh rst tex"
)

Signs = dict[str, float]


def signs(clause: Clause, ground: Ground) -> Signs:
    """What a clause says, in its normal form."""
    said = _Said(clause, ground)
    told = next((form for read in FORMS if (form := read(said)) is not None), None)
    if told is None:
        told = said.plain()
    return {**dict.fromkeys(told, SAME), **said.modifiers(), **said.strangers(told)}


def phrase_signs(phrase: str) -> Signs:
    """Those of a tool's own phrase."""
    told: Signs = {}
    for clause in read(phrase).clauses:
        told |= signs(clause, Ground())
    return told


class _Said:
    """A clause, with what several forms ask of it."""

    def __init__(self, clause: Clause, ground: Ground) -> None:
        self.clause, self.ground = clause, ground
        self.where = {place.item for place in places(clause, ground) if not place.beside}
        self.concepts = clause.concepts - SILENT
        self.called = {word for word, _ in named_words(clause, ground)}
        self.beside = {
            before
            for before, item in pairwise(clause.items)
            if isinstance(item, Named) and item.kind is Name.PATH and file_like(item) and item not in self.where
        }
        """What stands right before a file's own name could choose no other: "the damned file.txt"."""
        self.named = {item for name in names_of_copy(clause) for item in name} if clause.says("copy") else set()
        self.files = [name.text for name in clause.names if name.kind is Name.PATH and file_like(name)]

    def says(self, *concepts: str) -> bool:
        return self.clause.says(*concepts)

    @property
    def archive(self) -> bool:
        return any(is_archive(name) for name in self.files)

    @property
    def readable(self) -> bool:
        return any(name.rpartition(".")[2].casefold() in READABLE for name in self.files)

    @property
    def some(self) -> bool:
        """Does it pick out some files by kind, pattern, size, time, order or name?"""
        clause = self.clause
        if any(name.kind is Name.GLOB for name in clause.names) or clause.says(*KINDS, "starts", "ends"):
            return True
        if clause.filters or most(clause) or emptiness(clause):
            return True
        return any(extension_of(word.folded) or word in self.called for word in clause.words)

    def plain(self) -> frozenset[str]:
        told = set(self.concepts) - {"whatis", "number", "inside", "howmany", "same"}
        if self.says("move", "copy", "organize"):
            told.discard("create")
        if _asks_which(self.clause):
            told -= STYLES
        if told & {"remove", "move", "copy", "pack"}:
            told -= {"report", "list"}
        if "report" in told:
            told.discard("list")
        if "create" in told and not self.says("folder", "file") and not self.clause.names:
            told = told - {"create"} | {"make"}
        if len(self.files) == 2 and self.says("name") and not self.clause.acts:
            return frozenset(("rename",))
        if self.files or self.some:
            told.discard("junk")  # "the a.tmp crap"
        if told == {"content"} and not self.says("file"):
            told.clear()
        if told & {"create", "move", "copy", "remove", "list", "organize", "pack"}:
            told.discard("name")
        if self.says("find", "list"):
            told.discard("foreign")
        if self.says("keep") and not self.clause.acts:
            told.add("keep")
        if "duplicate" in told and self._keeps_one():
            told = {"duplicate", "keep"}
        if self.clause.says("remove", "move", "copy", "rename") or told & LOOKS:
            told.discard("empty")
        return frozenset(told)

    def _keeps_one(self) -> bool:
        """ "Find the duplicates and keep just one of each": the others go."""
        only = self.says("keep", "untouched") and self.says("only")
        return only and any(number_of(word.folded) == 1 for word in self.clause.words)

    def modifiers(self) -> Signs:
        names = [name for name in self.clause.names if name not in self.where]
        told: Signs = {}
        if any(name.kind is Name.QUOTE for name in names) or (self._seeks() and self.unknown()):
            told["<quote>"] = MODIFIER
        if any(name.kind is Name.PATH for name in names):
            told["<path>"] = MODIFIER
        if self.some:
            told["<some>"] = MODIFIER
        return told

    def strangers(self, told: frozenset[str]) -> Signs:
        """Words that nobody knows; where something is looked for or named, they are just that."""
        if self._seeks() or (told & {"batch"} and (self.some or self.says("all", "file", "name", "swap"))):
            return {}
        if told & {"create"} and self.says("all"):
            return {"=all": STRANGE}  # a folder is not all that is asked for
        if told & {"pack"}:
            return {f"={word.folded}": STRANGE for word in self.unknown() if not self._a_name(word)}
        return {f"={word.folded}": STRANGE for word in self.unknown() if not word.folded.isdigit()}

    def _seeks(self) -> bool:
        clause = self.clause
        made = clause.says("create") and clause.says("folder", "file", "name") and not clause.says("move")
        return clause.says("find", "content", "rename") or made

    def _a_name(self, word: Word) -> bool:
        """Does it stand where a new archive's name does?"""
        at = self.clause.items.index(word)
        before = self.clause.items[at - 1] if at else None
        return isinstance(before, Word) and (
            "name" in before.concepts or before.folded in ("as", "als", "como", "into")
        )

    def unknown(self) -> list[Word]:
        return [
            word
            for word in self.clause.words
            if word.unknown
            and word not in self.named
            and not extension_of(word.folded)
            and word not in self.where
            and word not in self.called
            and word not in self.beside
        ]


# The forms, the first that fits; each gives the signs or None.


def _styled(said: _Said) -> frozenset[str] | None:
    """Renaming many by a rule."""
    if said.says("find", "content", "copy"):
        return None
    if _files_first(said.clause) or _asks_which(said.clause):
        return None
    styles = said.clause.concepts & STYLES
    named = said.says("name", "rename")
    by_part = said.clause.names and said.says("create", "move", "remove", "change") and _of_the_names(said.clause)
    by_part = by_part or (named and said.says("blank", "date", "underscore", "hyphen"))
    ending = said.says("type") and said.says("change", "rename", "swap") and not said.says("organize")
    by_number = any(map(a_series, said.clause.names))
    named_one = not by_number and any(name.kind is Name.PATH and name not in said.where for name in said.clause.names)
    many = said.says("rename") and (said.some or by_number) and not named_one
    everything = (
        said.says("rename") and not named_one and ((said.says("all") and said.says("file")) or _files(said.clause))
    )
    return frozenset(("rename", "batch")) if styles or by_part or ending or many or everything else None


def _files(clause: Clause) -> bool:
    """ "Rename the files in Docs": more than one, that are told by no name."""
    return any(word.folded in FILES for word in clause.words) and not any(word.unknown for word in clause.words)


FILES = listed("files dateien archivos ficheros")


def _files_first(clause: Clause) -> bool:
    """ "Delete files with blanks in the name": the files go, not the blanks."""
    said = [word.concepts for word in clause.words]
    verb = next((n for n, concepts in enumerate(said) if "remove" in concepts), len(said))
    letter = next((n for n, concepts in enumerate(said) if n > verb and {*concepts} & {*LETTERS}), verb)
    things = [word.folded for word in clause.words[verb:letter]]
    return any({*concepts} & {*KINDS, "file"} for concepts in said[verb:letter]) or not EVERYTHING.isdisjoint(things)


EVERYTHING = listed("everything anything alles todo")


def _asks_which(clause: Clause) -> bool:
    """ "Which names are in capitals?" is a question about them."""
    asks = bool(clause.words) and clause.words[0].folded in ASKED
    return asks and clause.concepts.isdisjoint(ACTIONS - STYLES - LOOKS)


ASKED = listed("which what are is welche welcher welches was sind ist que cuales cual estan son")


def _of_the_names(clause: Clause) -> bool:
    """ "In the file names", not "named"."""
    return any(word.folded in NAMES for word in clause.words)


LETTERS = listed("blank underscore hyphen date")
NAMES = listed("names namen dateinamen nombres filenames file_names")


def _grouped(said: _Said) -> frozenset[str] | None:
    """Into folders by year or month."""
    return frozenset(("organize",)) if makes_groups(said.clause) and not said.files else None


def _unpacked(said: _Said) -> frozenset[str] | None:
    return frozenset(("unpack",)) if said.says("unpack") and not said.says("not") else None


def _packed(said: _Said) -> frozenset[str] | None:
    """A new archive: by its verb, or as what something is made or put into."""
    if said.says("pack"):
        return frozenset(("pack",))
    if said.says("copy") and len(list(filter(is_archive, said.files))) > 1:
        return None  # one archive is copied to another name
    makes = said.says("create", "move", "copy", "organize") or ((said.some or said.files) and not said.clause.acts)
    return frozenset(("pack",)) if makes and into_archive(said.clause) else None


def _looked_into(said: _Said) -> frozenset[str] | None:
    looks = said.clause.concepts & (LOOKS | {"unpack"})
    if not said.archive or not looks or said.says("remove", "move", "copy", "rename", "size", "age", "find"):
        return None
    return frozenset(("explain",)) if looks <= {"explain", "whatis"} else frozenset(("contents",))


def _summed_up(said: _Said) -> frozenset[str] | None:
    if not said.says("summary"):
        return None
    return frozenset(("summary",)) if said.files or said.some else frozenset(("report",))


def _sought(said: _Said) -> frozenset[str] | None:
    """Where something stands, and not what the one file says that a word of it may name: "which of my notes mention a
    photographer".
    """
    what = said.unknown() or any(name.kind is Name.QUOTE for name in said.clause.names)
    asks = said.says("content") and what and asks_where(said.clause)
    return frozenset(("find", "content")) if asks and not said.says(*CHANGING) else None


def asks_where(clause: Clause) -> bool:
    pairs = [(before.folded, word) for before, word in pairwise(clause.words)]
    which = any(before == "en" and word.folded in QUE for before, word in pairs)  # "en que facturas pone …"
    files = any(before in QUE and "file" in word.concepts for before, word in pairs)
    return which or files or any(word.folded in WHERE for word in clause.words)


QUE = ("q", "que")


WHERE = listed(
    "where anywhere irgendwo which which_files what_files wo worin welche welchem welchen welcher in_welcher in_welchen"
    " donde cuales cual que_archivos que_ficheros en_que_archivo en_que_fichero"
)


def _rows(said: _Said) -> frozenset[str] | None:
    """How many rows or lines several files have; of one it is told when that is read out."""
    rows = any(word.folded in ROWS for word in said.clause.words)
    if not (rows and said.says("howmany")) or said.says(*CHANGING, "find", "content"):
        return None
    return frozenset(("rows",)) if len(said.files) > 1 or not said.files else None


ROWS = listed(
    "row rows line lines record records entry entries page pages zeile zeilen eintrage seite seiten fila filas linea"
    " lineas registros pagina paginas"
)


def _read_out(said: _Said) -> frozenset[str] | None:
    """Of one named file: what it says, or what it is."""
    changes = said.says("remove", "move", "copy", "rename", "create", "find", "size", "age", "change")
    if not said.files or changes or said.archive:
        return None
    if said.says("explain"):
        return frozenset(("explain",))
    if said.says("parse", "inside", "content") or (said.readable and said.says("list", "howmany")):
        return frozenset(("parse",))
    if said.says("whatis") and not said.says("report"):
        return frozenset(("explain",))
    return None


def _counted(said: _Said) -> frozenset[str] | None:
    if not said.says("howmany") or said.files:
        return None
    if said.says("duplicate"):
        return frozenset(("find", "duplicate"))
    if said.some or (said.says("folder") and not said.where):
        return frozenset(("list",))
    return frozenset(("report",)) if not said.says("remove", "move", "copy", "rename", "create") else None


def _ranked(said: _Said) -> frozenset[str] | None:
    """The first in some order, looked at."""
    order = ranking(said.clause)
    if order is None or said.says(*CHANGING, "duplicate", "keep", "not"):
        return None
    one_kind = said.says(*KINDS) or said.clause.filters or any(extension_of(w.folded) for w in said.clause.words)
    open_still = most(said.clause) is None and not weighs(said.clause)
    if order == "largest" and not one_kind and open_still:
        return frozenset(("report",))
    return frozenset(("list",))


def _sent(said: _Said) -> frozenset[str] | None:
    """ "PDFs to Docs", "I'd like the images in a folder called Best": a choice, and where it belongs."""
    clause = said.clause
    makes = clause.acts and not (clause.concepts & {*KINDS} and clause.concepts.isdisjoint(ACTS))
    if makes or said.says("duplicate", "organize", "content") or said.unknown():
        return None
    if said.says("name") and not said.says("folder"):
        return None
    ends = [place for place in places(clause, said.ground) if place.target]
    return frozenset(("move",)) if ends and (said.some or said.files) else None


ACTS = frozenset(ACTIONS)


def _asked_inside(said: _Said) -> frozenset[str] | None:
    """ "What is in Photos": a folder's report."""
    if (
        said.says("inside")
        and not said.files
        and not said.says("duplicate", "remove", "move", "copy", "pack", "rename", "organize")
    ):
        return frozenset(("report",))
    return None


def _picked(said: _Said) -> frozenset[str] | None:
    """Looking for files of a size, age or kind is listing them, not searching in them."""
    looks = said.clause.concepts & (LOOKS | {"whatis"})
    acts = said.clause.concepts & (listed("remove move copy rename create organize clean"))
    if acts or said.says("duplicate", "content", "name", "type") or said.files:
        return None
    narrow = said.clause.filters or emptiness(said.clause)
    return frozenset(("list",)) if narrow and (looks or not said.clause.acts) and not said.unknown() else None


FORMS: Sequence[Callable[[_Said], frozenset[str] | None]] = (
    _grouped,
    _unpacked,
    _styled,
    _packed,
    _looked_into,
    _summed_up,
    _sought,
    _rows,
    _read_out,
    _counted,
    _ranked,
    _asked_inside,
    _sent,
    _picked,
)
