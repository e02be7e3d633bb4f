"""Filling a tool's parameters from the words of a clause, by the role that the tool declares for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any

from libs.models.offline import quantities, styling
from libs.models.offline.archives import archive_noun, into_archive, is_archive, straight
from libs.models.offline.clauses import JUNK, KINDS, Clause, Item, Name, Named
from libs.models.offline.depth import flat
from libs.models.offline.ends import copy_name, end_of_copy, lacks_an_end, said_names
from libs.models.offline.ground import NoSuchPlace, having
from libs.models.offline.grouping import UNITS, grouping, in_names, makes_groups
from libs.models.offline.paths import below, file_like
from libs.models.offline.places import IN, INTO, places
from libs.models.offline.pronouns import THERE, from_there, points_back, the_things
from libs.models.offline.scenes import Scene
from libs.models.offline.selection import glob_folders, mixed, select
from libs.models.offline.unnamed import archive_of
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, words
from libs.skills import ToolDefinition, date_in, selected
from libs.skills.categories import split_suffix

KEEP = ("newest", "oldest", "shortest")
BY_NAME = {"wellnamed": "named"}
BOUNDS = (
    ("size", ("larger_than", "smaller_than")),
    ("time", ("modified_before", "modified_after")),
    ("emptiness", ("empty",)),
    ("text", ("containing", "lacking")),
    ("count", ("order", "most")),
)
"""What a request may bound, and the roles by which a listing chooses so, as the tools name them."""
ASKED_AFTER = ("content", "find", "name")


@dataclass(frozen=True, slots=True)
class Filled:
    """Args, and the required parameters that the words did not give. `listing` says that files are to be listed
    first.
    """

    args: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    listing: bool = False


def fill(tool: ToolDefinition, clause: Clause, scene: Scene) -> Filled:
    """Raises `Outside` or `NoSuchPlace` for a place that may not or cannot be meant."""
    roles = {*tool.roles.values()}
    if "spare" not in roles:
        scene = replace(scene, exclude=(*scene.exclude, *scene.kept))
    said = {param: ROLES[role](clause, scene) for param, role in tool.roles.items() if role in ROLES}
    if any(said.get(param) for param, role in tool.roles.items() if role == "folders"):
        said = {param: value for param, value in said.items() if tool.roles[param] != "folder"}
    args = tool.defaults() | {param: value for param, value in said.items() if value is not None}
    args |= _with_its_ending(tool, args)
    args |= _styled(tool, clause, scene) | _within_path(tool, args) | end_of_copy(tool, args, clause, scene)
    awaited = {
        need.param
        for need in tool.needs
        if need.param not in args and _listable(tool.roles.get(need.param), choosing(tool, clause, scene), scene)
    }
    missing = tuple(param for param in tool.required if param not in args and param not in awaited)
    if lacks_an_end(tool, args, clause, scene):
        missing = (*missing, "target")
    if "base" in tool.roles.values() and not styling.style(clause, scene.said):
        missing = (*missing, "rule")
    return Filled(args, missing, bool(awaited))


def _with_its_ending(tool: ToolDefinition, args: Mapping[str, Any]) -> dict[str, Any]:
    """A new name without an ending, for a file that has one, gets that one: people leave it out."""
    params = {role: param for param, role in tool.roles.items()}
    old, new = args.get(params.get("file", "")), args.get(params.get("new_name", ""))
    if not (isinstance(old, str) and isinstance(new, str)):
        return {}
    ending = split_suffix(old.rpartition("/")[2])[1]
    bare = ending and not split_suffix(new)[1] and new != old.rpartition("/")[2].removesuffix(ending)
    return {params["new_name"]: f"{new}{ending}"} if bare else {}


def _within_path(tool: ToolDefinition, args: Mapping[str, Any]) -> dict[str, Any]:
    """A new thing's name that is a path: its folder, and its name there."""
    named = next((param for param, role in tool.roles.items() if role == "name"), "")
    around = next((param for param, role in tool.roles.items() if role == "folder"), "")
    above, slash, name = str(args.get(named, "")).strip("/").rpartition("/")
    return {around: above, named: name} if slash and around else {}


def _styled(tool: ToolDefinition, clause: Clause, scene: Scene) -> dict[str, Any]:
    """The rule of a rename of many, where the tool takes one."""
    rule = ruled(clause, scene) if "base" in tool.roles.values() else {}
    return {param: rule[role] for param, role in tool.roles.items() if role in rule}


def ruled(clause: Clause, scene: Scene) -> Mapping[str, Any]:
    """How names change; a text in them is written as they write it, where they agree."""
    rule = styling.style(clause, scene.said).args
    find = re.compile(re.escape(str(rule.get("find_text", ""))), re.IGNORECASE)
    names = {name.rpartition("/")[2] for name in scene.ground.paths or ()} if find.pattern else set()
    spelled = {found.group() for name in names for found in find.finditer(name)}
    return {**rule, "find_text": spelled.pop()} if len(spelled) == 1 else rule


def choosing(tool: ToolDefinition, clause: Clause, scene: Scene) -> Clause:
    """The part of a clause that chooses files for this tool: without a new archive's name, or a rule to rename by."""
    roles = {*tool.roles.values()}
    if "base" in roles:
        return styling.choice(clause, scene.said)
    if "copy_name" in roles:
        return _without(clause, said_names(clause, scene))
    if "archive" not in roles:
        return clause
    made = _archive_item(clause)
    return _without(clause, [item for item in clause.items if item is made or _an_archive(item)])


def _an_archive(item: Item) -> bool:
    return isinstance(item, Word) and archive_noun(item)


def _without(clause: Clause, items: Sequence[Item]) -> Clause:
    return replace(clause, items=tuple(item for item in clause.items if item not in items))


def _archive_item(clause: Clause) -> Named | None:
    told = (item for item in reversed(clause.names) if item.kind is not Name.GLOB and is_archive(item.text))
    return next(told, None) or _called(clause)


def _called(clause: Clause) -> Named | None:
    """ "Pack X into a zip file called Letters 2014", and not "the files called so"."""
    if not (clause.says("pack") or into_archive(clause)):
        return None
    for at, item in enumerate(clause.items[1:], 1):
        before, noun = clause.items[at - 1], clause.items[max(0, at - 3) : at - 1]
        files = any(isinstance(one, Word) and {"file", "folder", *KINDS} & {*one.concepts} for one in noun[-1:])
        led = isinstance(before, Word) and before.folded in ("as", "als", "como")
        named = isinstance(before, Word) and "name" in before.concepts and not (files and not _zip(noun))
        if isinstance(item, Named) and item.kind is Name.QUOTE and (led or named):
            return item
    return None


def _zip(items: Sequence[Item]) -> bool:
    return any(map(_an_archive, items))


def folders(clause: Clause, scene: Scene) -> tuple[str, ...]:
    """The folders that a clause works in: said with a preposition or as its object ("sort Photos"), else the
    request's.
    """
    if scene.chosen is not None:
        return (scene.chosen,)
    made = clause.says("create") and not clause.says("move", "organize")
    said = places(clause, scene.ground)
    inside = [place.said for place in said if not place.target and not (made and place.beside)]
    inside += glob_folders(clause)
    if not made and not clause.says("find", "content"):
        taken = {place.item for place in said}
        free = [name for name in clause.names if name not in taken and name.kind is not Name.GLOB]
        objects = [name.text for name in free if scene.ground.below(name.text) or not file_like(name)]
        known = [said for said in objects if scene.ground.has(said.partition("/")[0])]
        inside += known if clause.says("rename") else objects  # what is not there is what it shall be called
    into = clause.says("move", "copy") or _sorts_into_it(clause, scene)
    moves = into and not any(place.target for place in said)
    there = from_there(clause.items) or (moves and any(word.folded in THERE for word in clause.words))
    there = there or (clause.says("organize") and points_back(the_things(clause.items)))
    if not inside and scene.created is not None and there:
        return (_before_they_move(clause, scene, scene.created),) if moves else (scene.created,)
    return tuple(dict.fromkeys(scene.ground.path(name) for name in inside)) or (scene.folder,)


def _sorts_into_it(clause: Clause, scene: Scene) -> bool:
    """ "Make a folder Shots and sort the photos into it": there is where they go, unless it is they that are there."""
    chosen = select(clause, scene.ground, scene.categories)
    there = from_there(clause.items) or any(word.folded in THERE for word in clause.words) or clause.says("here")
    return clause.says("organize") and scene.created is not None and bool(chosen) and there


def _before_they_move(clause: Clause, scene: Scene, created: str) -> str:
    """ "Make a folder Shots in phone and move the screenshots in there": where they are, here or around it."""
    above = created.rpartition("/")[0]
    called = [word.text for word in clause.words if word.unknown]
    around = any(scene.ground.called(word, above) and not scene.ground.called(word) for word in called)
    return above if above and around else scene.folder


def patterns(clause: Clause, scene: Scene) -> tuple[str, ...]:
    """By which names files are chosen: by the clause's own, and of these only what the whole request limits it to."""
    own = select(clause, scene.ground, scene.categories).patterns
    return limited(own, scene.only) or own or scene.only


def limited(own: Sequence[str], only: Sequence[str]) -> tuple[str, ...]:
    """Those of `only` that the patterns hold: "the photos, only the pngs"."""
    return tuple(one for one in only if own and selected(one.replace("*", "x"), include=own))


def filters(clause: Clause, scene: Scene) -> dict[str, Any]:
    """Sizes, times, emptiness and order: what a listing must be able to choose by."""
    told: dict[str, Any] = {**scene.filters, **clause.filters}
    more = {
        "empty": quantities.emptiness(clause),
        "order": quantities.ranking(clause),
        "most": quantities.most(clause),
    }
    return told | {name: value for name, value in more.items() if value is not None}


def _order(clause: Clause, scene: Scene) -> Any:
    """ "List the files by date": the newest first, which chooses none of them.
    Who asks how large they are is told so.
    """
    if (order := filters(clause, scene).get("order")) is not None:
        return order
    if clause.says("size") and not clause.says(*quantities.DEEDS, "duplicate"):
        return "largest"
    said = {concept for word in quantities.told_by(clause) for concept in word.concepts}
    looks = clause.says("list", "find") and not clause.says("organize", "duplicate", "remove", "move", "copy", "pack")
    return next((order for concept, order in LISTED_BY.items() if looks and concept in said), None)


LISTED_BY = {"date": "newest", "age": "newest", "size": "largest"}


def _filter(name: str) -> Callable[[Clause, Scene], Any]:
    return lambda clause, scene: filters(clause, scene).get(name)


def _node_kind(clause: Clause, scene: Scene) -> str | None:
    if scene.node_kind:
        return scene.node_kind
    every = _in_some_order(clause)
    several = any("folder" in word.concepts and (_several(word) or word in every) for word in clause.words)
    folders_said = several or every_folder(clause)
    files_said = any("file" in word.concepts and _files_word(word) for word in clause.words)
    if folders_said and files_said and quantities.emptiness(clause) and scene.changes:
        return "any"
    if folders_said and not files_said and not (clause.says(*KINDS, "organize", "create") or grouping(clause)):
        told = places(clause, scene.ground)
        theirs = {word for place in told for word in _nouns_of(clause, place.item)}
        objects = any("folder" in word.concepts and word not in theirs for word in clause.words)
        inside = told and (not objects or not all(place.target for place in told))
        return None if inside and not clause.says("list", "howmany", "empty") else "directory"
    files_said |= clause.says("tempfiles", "litterfiles", "lockfiles", "partfiles")
    if files_said and not folders_said and (scene.changes or clause.says("only") or quantities.emptiness(clause)):
        return "file"
    return None


def every_folder(clause: Clause) -> bool:
    return any(before.folded in EACH and "folder" in after.concepts for before, after in pairwise(clause.words))


EACH = listed("every each jeden jedes jedem jede cada")


def _in_some_order(clause: Clause) -> set[Word]:
    """ "The biggest folder", "la carpeta más grande", "that empty folder"."""
    told = {quantities.ranking(clause), "empty"}
    pairs = [pair for pair in pairwise(clause.words) if any(not told.isdisjoint(word.concepts) for word in pair)]
    return {word for pair in pairs for word in pair}


def _nouns_of(clause: Clause, item: Item) -> list[Word]:
    """ "Into the folders Photos and Music", "in einen Ordner namens Musik": the word is theirs."""
    at = clause.items.index(item) if item in clause.items else 0
    before = takewhile(lambda other: isinstance(other, Named) or other.folded not in INTO | IN, clause.items[:at][::-1])
    near = (*before, *clause.items[at + 1 : at + 2])
    return [other for other in near if isinstance(other, Word) and "folder" in other.concepts]


def _several(word: Word) -> bool:
    return "recursive" not in word.concepts and word.folded.endswith(
        ("folders", "ordner", "ordnern", "carpetas", "directories", "verzeichnisse", "directorios")
    )


def _files_word(word: Word) -> bool:
    return word.folded in ("files", "dateien", "archivos", "ficheros", "file", "datei", "archivo", "fichero")


def _listable(role: str | None, clause: Clause, scene: Scene) -> bool:
    """Files are listed first where they were picked by kind or pattern, or where all are meant."""
    if role == "listed":
        chosen = patterns(clause, scene) or filters(clause, scene) or folders(clause, scene) != (".",)
        if chosen or clause.says("organize", "clean"):
            return True
        whole = clause.says("type", "all", "file", "name", "folder", "inside")
        return whole and not points_back(the_things(clause.items))
    if role != "files" or patterns(clause, scene) or filters(clause, scene):
        return True
    return clause.says("all", "inside") or _plain_files(clause)


def _plain_files(clause: Clause) -> bool:
    """`move the files to X`: no name, no kind, nothing strange, only "files"."""
    return any("file" in word.concepts and word.folded.endswith(("s", "en")) for word in clause.words) and not any(
        word.unknown and word.text[0].islower() for word in clause.words
    )


def _folder(clause: Clause, scene: Scene) -> str | None:
    where = folders(clause, scene)[0]
    return None if where == "." else where


def _folders(clause: Clause, scene: Scene) -> list[str] | None:
    where = folders(clause, scene)
    return list(where) if len(where) > 1 else None


def _target(clause: Clause, scene: Scene) -> str | None:
    said = [place for place in places(clause, scene.ground) if place.target]
    if said:
        several = len(scene.ground.inner(said[-1].said)) > 1 and not clause.says("create")
        if (several or scene.ground.slip_of(said[-1].said)) and scene.ground.has(said[-1].said) is None:
            raise NoSuchPlace(said[-1].said)
        beside = _beside_the_archive(said[-1].said, clause, scene) if clause.says("unpack") else None
        return beside or scene.ground.path(said[-1].said, new=True)
    there = any(word.folded in THERE for word in clause.words)
    if clause.says("copy") and any(word.folded in HERE for word in clause.words) and scene.created is None:
        return "." if any("/" in name.text for name in clause.names) or folders(clause, scene) != (".",) else None
    up_here = any(word.folded in HERE for word in clause.words) and scene.created is None
    if up_here and clause.says("move") and folders(clause, scene) != (".",):
        return "."
    if clause.says("move") and (source := _out_of(clause, scene)) is not None:
        return source.rpartition("/")[0] or "."
    return scene.created if clause.says("here") or there else None


def _out_of(clause: Clause, scene: Scene) -> str | None:
    """ "Move them out of Photos", "hol sie aus Photos raus": the folder, beside which they go."""
    said = [word.folded for word in clause.words]
    out = ("out", "of") in pairwise(said) or {"aus", "raus"} <= {*said} or said[:1] in (["saca"], ["sacame"], ["sacar"])
    where = folders(clause, scene)
    return where[0] if out and len(where) == 1 and where != (".",) else None


HERE = listed("here hierher hier aqui aca")


def _beside_the_archive(said: str, clause: Clause, scene: Scene) -> str | None:
    """ "Unzip raw.zip into the folder raw": the one that is there beside it, where none is so called here."""
    above = {name.text.rpartition("/")[0] for name in clause.names if is_archive(name.text)} - {""}
    there = [path for folder in above if scene.ground.below(path := f"{folder}/{said.strip('/')}")]
    return there[0] if len(there) == 1 and scene.ground.has(said) is None else None


def _sorted_into(clause: Clause, scene: Scene) -> str | None:
    if any(place.target for place in places(clause, scene.ground)):
        return _target(clause, scene)
    return scene.created if _sorts_into_it(clause, scene) else _folder(clause, scene)


def _grouping(clause: Clause, scene: Scene) -> str | None:
    """The date that the names say, where the words speak of names or most of the files' names have one."""
    said = grouping(clause)
    if said is None or said not in UNITS:
        return None
    return f"name_{said}" if in_names(clause) or _dated_by_name(said, clause, scene) else said


def _dated_by_name(unit: str, clause: Clause, scene: Scene) -> bool:
    """Not where the date of the last change is asked for. A counter as in `IMG_2023` is no year: that stands apart, or
    with its month.
    """
    if clause.says("date"):
        return False
    names = [path.rpartition("/")[2] for path in held(clause, scene)]
    dates = [date_in(name) for name in names if unit == "month" or APART.search(name)]
    return 3 * sum(bool(date and (unit == "year" or date[1])) for date in dates) >= 2 * len(names) > 0


APART = regex(r"(?<![^\s(-])(?:19|20)\d\d(?![^\W_]|[^\W\d])|(?:19|20)\d\d[-_. ]?(?:0[1-9]|1[0-2])(?!\d)")


def _include(clause: Clause, scene: Scene) -> list[str] | None:
    return list(patterns(clause, scene)) or None


def _listed(clause: Clause, scene: Scene) -> list[str] | None:
    """Files named outright need no listing; a new archive's name is not one of them."""
    if scene.whole is not None:
        return [scene.whole]
    if clause.says("organize") or makes_groups(clause):
        return None
    made = _archive_item(clause)
    packs = made is not None or into_archive(clause)
    styled = not packs and clause.says("rename", "swap", "prefix", "suffix", "name", "number")
    used = {*styling.style(clause, scene.said).used} if styled else set()
    archives = [item for item in clause.items if item is made or (packs and _an_archive(item))]
    chosen = _without(clause, (*used, *archives))
    told = _names(chosen, scene)
    numbers = styled and "base" in styling.style(clause, scene.said).args
    swaps = (
        styled
        and clause.says("name")
        and not clause.says("folder")
        and "find_text" in styling.style(clause, scene.said).args
    )
    if (numbers or swaps) and len(told) == 1 and scene.ground.below(told[0]):
        return None  # "number the figures", where a folder is called so
    return None if mixed(chosen, scene.ground) else told or None


def _archive(clause: Clause, scene: Scene) -> str | None:
    """The new archive: a name with such an ending, or one said after "called" or "into"."""
    made = _archive_item(clause)
    if made is not None:
        path = scene.ground.path(_beside(made, clause, scene), new=True)
        return path if is_archive(path) else f"{path}.zip"
    for at, item in enumerate(clause.items):
        before = clause.items[at - 1] if at else None
        after_name = isinstance(before, Word) and ("name" in before.concepts or before.folded in ("as", "als", "como"))
        into = isinstance(before, Word) and before.folded in INTO and isinstance(item, Named)
        if (after_name or into) and (isinstance(item, Named) or item.unknown):
            return f"{scene.ground.path(item.text, new=True)}.zip"
    listed_ = _listed(clause, scene) or []
    held = (clause.says("pack") or into_archive(clause)) and all(scene.ground.below(path) for path in listed_)
    return archive_of(clause, folders(clause, scene)[0], scene.ground) if held else None


def _beside(made: Named, clause: Clause, scene: Scene) -> str:
    """ "Zip Trips as trips.zip in Backups": where that is, said after it, and what goes in has been named."""
    named = [name for name in clause.names if name.end <= made.start]
    after = [place for place in places(clause, scene.ground) if place.item.start >= made.end]
    folder = scene.ground.path(after[0].said) if named and after and "/" not in made.text else "."
    return below(folder, made.text)


def _and_remove(clause: Clause, scene: Scene) -> bool | None:
    moved = any(re.match(r"(move|verschieb|muev|traslad)", word.folded) for word in clause.words)
    return True if clause.says("remove") or moved else None


def _exclude(clause: Clause, scene: Scene) -> list[str] | None:
    return list(scene.exclude) or None


def _spare(clause: Clause, scene: Scene) -> list[str] | None:
    return list(scene.kept) or None


def _recursive(clause: Clause, scene: Scene) -> bool | None:
    if flat(scene.text):
        return False
    said = [word for word in clause.words if "recursive" in word.concepts]
    if clause.says("organize"):  # "group them in subfolders" says where to, not where from
        said = [word for word in said if word.folded.startswith(("recurs", "rekurs", "all", "every", "todas"))]
    there = scene.created is not None and from_there(clause.items) and not _sorts_into_it(clause, scene)
    anywhere = any(name.kind is Name.GLOB and "**" in name.text for name in clause.names)
    return True if said or there or anywhere or _looked_for(clause, scene) else None


def _looked_for(clause: Clause, scene: Scene) -> bool:
    """Looking for some, or counting them, goes through all folders where none is named; a change stays in one, but for
    what is worth nothing wherever it lies.
    """
    if scene.node_kind == "directory":
        return False
    if scene.feeds:
        return clause.says("remove") and _worthless(clause, scene)
    if folders(clause, scene) != (".",):
        return False
    return bool(patterns(clause, scene) or filters(clause, scene)) and not clause.says("organize", "folder")


def _worthless(clause: Clause, scene: Scene) -> bool:
    """Empty and temporary files, as a sort, and neither single ones nor those of this very folder."""
    sort = clause.says(*JUNK) if not clause.says("empty") else quantities.emptiness(clause)
    where = {place.item for place in places(clause, scene.ground)}
    here = (clause.says("folder") and not where) or any(word.folded in HERE for word in clause.words)
    return bool(sort) and not here and all(name.kind is Name.GLOB for name in clause.names if name not in where)


def _keep(clause: Clause, scene: Scene) -> str | None:
    told = {**BY_NAME, **dict(zip(KEEP, KEEP, strict=True))}
    return next((keep for concept, keep in told.items() if clause.says(concept)), None)


def _beside_the_place(item: Item, clause: Clause, scene: Scene) -> bool:
    """ "The folder Books and 2023 from Bills": a folder that is here, in another part of the list than the place."""
    told = [place.item.start for place in places(clause, scene.ground) if not place.target and not place.beside]
    folder = scene.ground.has(item.text) in scene.ground.folders
    apart = (any(min(item.start, at) < link <= max(item.start, at) for link in clause.links) for at in told)
    return folder and all(apart)


def _names(clause: Clause, scene: Scene) -> list[str]:
    """Files named outright, each within the folder of the clause."""
    targets = {place.item for place in places(clause, scene.ground)}
    beside = {place.item for place in places(clause, scene.ground) if place.beside and not clause.says("inside")}
    where = _around(clause, scene)
    plain = where == "."
    return [
        scene.ground.path(said)
        if plain or "/" in said or _itself(said, where, scene) or _beside_the_place(item, clause, scene)
        else scene.ground.inside(where, said)
        for item in clause.items
        if (said := _file_name(item, scene, named=item not in targets, beside=item in beside)) is not None
        and not (isinstance(item, Word) and _itself(said, where, scene))
    ]


def _itself(said: str, where: str, scene: Scene) -> bool:
    """ "… from Trips, then delete the folder Trips": that one, and none of its name within it; as a mere word, "the
    minutes in Minutes", it is none of them.
    """
    return scene.ground.has(said) == where


def _around(clause: Clause, scene: Scene) -> str:
    """The folder said with a preposition; `the folder X` is itself what is meant."""
    said = [place for place in places(clause, scene.ground) if not place.target and not place.beside]
    return scene.ground.path(said[0].said) if said else scene.folder


def _file_name(item: Item, scene: Scene, *, named: bool, beside: bool) -> str | None:
    if isinstance(item, Named):
        return item.text if (named or beside) and item.kind is not Name.GLOB else None
    if beside and "wellknown" not in item.concepts:
        return scene.ground.has(item.text) or item.text
    of_a_kind = extension_of(item.folded) is not None  # "tmp files"; a folder of that name is a name
    return scene.ground.has(item.text) if named and item.unknown and not of_a_kind else None


def _file(clause: Clause, scene: Scene) -> str | None:
    """The first name; a second one is what it shall be called."""
    where = {place.item for place in places(clause, scene.ground) if not (place.target or place.beside)}
    named = [item for item in clause.names if item.kind is not Name.GLOB and item not in where]
    first = (
        replace(clause, items=tuple(item for item in clause.items if item not in named[1:]))
        if len(named) > 1
        else clause
    )
    found = _by_stem(clause, scene) or _names(first, scene) or _sole(clause, scene)
    return found[0] if found else None


def _by_stem(clause: Clause, scene: Scene) -> list[str]:
    """ "Rename cancellations to …", where just one file in some folder is called so: the word that stands first."""
    first = next((item for item in clause.items if isinstance(item, Named) or item.unknown), None)
    if not clause.says("rename") or not isinstance(first, Word):
        return []
    stems = ((path, fold(path.rpartition("/")[2]).rpartition(".")[0]) for path in scene.ground.paths or ())
    found = [path for path, stem in stems if stem == first.folded]
    return found if len(found) == 1 else []


def _sole(clause: Clause, scene: Scene) -> list[str]:
    """ "The zip", where only one is there."""
    chosen = select(clause, scene.ground, scene.categories).patterns
    there = [path for path in held(clause, scene) if selected(path, include=scene.only)]
    one = scene.only or quantities.singles(clause) or (clause.says("unpack") and any(map(is_archive, there)))
    return there if chosen and len(there) == 1 and one else []


def held(clause: Clause, scene: Scene) -> list[str]:
    """The files that the clause picks out, as far as they are known."""
    where = folders(clause, scene)[0]
    chosen = select(clause, scene.ground, scene.categories).patterns
    inside = scene.ground.below(where) if clause.says("recursive") else scene.ground.within(where)
    return [path for path in inside if selected(path, include=chosen, exclude=scene.exclude)]


def _files(clause: Clause, scene: Scene) -> list[str] | None:
    if clause.says("copy"):
        clause = _without(clause, said_names(clause, scene))
    return None if mixed(clause, scene.ground) else _names(clause, scene) or None


def filled_names(clause: Clause, scene: Scene) -> bool:
    """Are files named outright?"""
    return bool(_names(clause, scene))


def _new_name(clause: Clause, scene: Scene) -> str | None:
    """The second name, or whatever stands after `to`."""
    names = [item for item in clause.names if item.kind is not Name.GLOB and not _just_where(clause, item, scene)]
    if len(names) == 2 and (names[0].text == names[1].text or _goes_on_after_to(clause, names[1])):
        return _after_to(clause, scene)  # "passport.pdf to My passport", in which a file's own name stands
    if len(names) > 1:
        before = clause.items[clause.items.index(names[-1]) - 1]
        cut = isinstance(before, Word) and before.unknown  # a name with blanks, of which this is the end
        return None if cut else names[-1].text
    at = next(
        (
            n
            for n, item in enumerate(clause.items)
            if isinstance(item, Word) and (item.folded in INTO | {"as", "in", "como"} or _shall_be(item))
        ),
        None,
    )
    rest = _trimmed(list(takewhile(_goes_on, clause.items[at + 1 :] if at is not None else ())))
    vague = bool(rest) and isinstance(rest[0], Word) and rest[0].folded in styling.INDEFINITE
    return None if vague else _span(scene.said, rest)


def _just_where(clause: Clause, name: Named, scene: Scene) -> bool:
    """ "To Best pot in Pots": where it is, after its new name."""
    at = clause.items.index(name)
    before, last = clause.items[at - 1] if at else None, name is clause.names[-1]
    said = isinstance(before, Word) and before.folded in ("in", "inside", "en", "im")
    return last and said and at + 1 == len(clause.items) and bool(scene.ground.below(name.text))


def _shall_be(word: Word) -> bool:
    """ "It should be named letter_2024": the name follows."""
    return "rename" in word.concepts and word.folded.startswith(("should_be_", "be_"))


def _goes_on(item: Item) -> bool:
    """A new name ends where it is said in which place, or how."""
    return not (isinstance(item, Word) and (item.folded in IN or "rename" in item.concepts))


def _trimmed(items: list[Item]) -> list[Item]:
    """Without the grammar before a name and the fillers after it: "archive todo" is one, whatever its words mean."""
    while items and _grammar(items[0]):
        items = items[1:]
    while items and isinstance(items[-1], Word) and items[-1].filler:
        items = items[:-1]
    return items


def _goes_on_after_to(clause: Clause, name: Named) -> bool:
    """ "To archive todo", where a todo.txt is there: the new name begins before that."""
    said = [item for item in clause.items if item.end <= name.start]
    at = next((n for n, item in enumerate(said) if isinstance(item, Word) and item.folded in INTO | {"as"}), None)
    between = said[at + 1 :] if at is not None else []
    return bool(between) and all(
        isinstance(item, Word) and not {"name", "rename"} & {*item.concepts} for item in between
    )


def _after_to(clause: Clause, scene: Scene) -> str | None:
    at = next((item for item in clause.items if isinstance(item, Word) and item.folded in INTO | {"as", "in"}), None)
    if at is None:
        return None
    return scene.said[at.end : _before_particle(clause)].strip(" .,;:!?\"'“”„«»`") or None


def _before_particle(clause: Clause) -> int:
    """Where a German clause ends without the "um" of "benenne … um"."""
    last = clause.items[-1]
    return clause.items[-2].end if isinstance(last, Word) and last.folded == "um" else last.end


def _name(clause: Clause, scene: Scene) -> str | None:
    """What stands after `called`, or after `folder`, up to where the folder around it is named."""
    return scene.named or _said_name(clause, scene)


def new_names(clause: Clause, scene: Scene) -> tuple[str, ...]:
    """Of several new folders, each name: "create folders 2023 and 2024"."""
    said = _said_name(clause, scene)
    around = {place.item for place in places(clause, scene.ground) if not place.beside}
    named = [item.text for item in clause.names if item not in around]
    if named:
        return tuple(named)
    if said and any("folder" in word.concepts and _several(word) for word in clause.words):
        return tuple(re.split(r"\s*,\s*(?:and |und |y )?|\s+(?:and|und|y)\s+", said))
    return (said,) if said else ()


def _said_name(clause: Clause, scene: Scene) -> str | None:
    around = {place.item for place in places(clause, scene.ground) if not place.beside}
    names = [item for item in clause.names if item not in around]
    if names:
        return names[0].text
    at = max(
        (
            n
            for n, item in enumerate(clause.items)
            if isinstance(item, Word) and {"name", "folder", "create"} & {*item.concepts}
        ),
        default=0,
    )
    after = clause.items[at + 1 :]
    name = [item for item in after if item not in around and not _grammar(item)]
    return None if _parted(after, name) else _span(scene.said, name)


def _parted(items: Sequence[Item], name: Sequence[Item]) -> bool:
    """Do little words stand in it that no name has: "Tunes for the mp3s"?"""
    between = items[items.index(name[0]) : items.index(name[-1])] if name else ()
    return any(isinstance(item, Word) and item.folded in PARTING for item in between)


PARTING = listed("for with fur mit para con containing into to")


def _kind(clause: Clause, scene: Scene) -> str | None:
    name = _name(clause, scene)
    if clause.says("folder"):
        return "directory"
    return "file" if clause.says("file") or (name and "." in name.strip(".")) else None


def _query(clause: Clause, scene: Scene) -> str | None:
    quoted = [item.text for item in clause.names if item.kind is Name.QUOTE]
    if quoted:
        return " ".join(f'"{words}"' if " " in words else words for words in quoted)
    around = {place.item for place in places(clause, scene.ground)}
    rest = [item for item in clause.items if item not in around]
    at = max(
        (n for n, item in enumerate(rest) if isinstance(item, Word) and {*ASKED_AFTER} & {*item.concepts}), default=-1
    )
    after = [item for item in rest[at + 1 :] if not _grammar(item)]
    after = after or [item for item in rest if isinstance(item, Named) or item.unknown]
    if len(after) == 1 and isinstance(after[0], Named):
        return _as_said(after[0], scene.text)
    return _span(scene.text, after)


def asked_among(scene: Scene) -> tuple[str, tuple[str, ...]] | None:
    """Of "which letters mention …" the word and its patterns; a word for a kind of files is none."""
    asked = scene.ground.asked_among(scene.text)
    return None if asked is None or any(word.concepts and not word.slip for word in words(asked[0])) else asked


def _asked_among(clause: Clause, scene: Scene) -> list[str] | None:
    return [*asked[1]] if (asked := asked_among(scene)) else None


def _as_said(name: Named, text: str) -> str:
    """What is looked for is what was said, though a folder of that name lies deeper."""
    said = text[name.start : name.end]
    return said if fold(name.text).endswith(fold(said)) else name.text


def _count(clause: Clause, scene: Scene) -> int | None:
    return quantities.count(clause)


def _wanted(clause: Clause, scene: Scene) -> list[str] | None:
    around = {
        place.item for place in places(clause, scene.ground) if any(name.kind is Name.GLOB for name in clause.names)
    }
    said = [item for item in clause.names if item.kind is not Name.GLOB and item not in around]
    named = [pattern for item in said for pattern in _sought(item, scene)]
    if len(said) == len(clause.names) == 1 and not clause.links - {clause.items[0].start}:
        return named  # "the photo of Bella on the lawn"
    found = [*select(clause, scene.ground, scene.categories).patterns, *named]
    if found:
        return found
    query = _query(clause, scene)
    return [f"*{query}*"] if query else None


def _sought(name: Named, scene: Scene) -> tuple[str, ...]:
    """As it stands; a folder's is that of all that is in it, and what was set apart may be a part of one."""
    if scene.ground.below(name.text):
        return having(name.text)
    return (f"*{name.text}*",) if name.kind is Name.QUOTE else (name.text,)


def _grammar(item: Item) -> bool:
    if isinstance(item, Named):
        return False
    plain = item.filler or item.folded in TOLD_OF
    return plain or not {*item.concepts}.isdisjoint(("here", "file", "folder", "all", "name", "recursive"))


TOLD_OF = listed("geschrieben notiert erwahnt erwaehnt puse puso escribi escribio palabra wort word")
"""Of what is looked for it is told by these, and they are not looked for themselves."""


def _span(text: str, items: list[Item]) -> str | None:
    """The text from the first to the last of these items, as it was written."""
    if not items:
        return None
    inner = {items[0].text} if len(items) == 1 else None
    return inner.pop() if inner else text[items[0].start : items[-1].end].strip(" ?!.,;:\"'") or None


ROLES: Mapping[str, Callable[[Clause, Scene], Any]] = {
    "folder": _folder,
    "folders": _folders,
    "target": _target,
    "sorted_into": _sorted_into,
    "grouping": _grouping,
    "include": _include,
    "exclude": _exclude,
    "spare": _spare,
    "recursive": _recursive,
    "keep": _keep,
    "file": _file,
    "files": _files,
    "new_name": _new_name,
    "copy_name": copy_name,
    "name": _name,
    "kind": _kind,
    "query": _query,
    "count": _count,
    "wanted": _wanted,
    "asked_among": _asked_among,
    "listed": _listed,
    "archive": _archive,
    "and_remove": _and_remove,
    "straight": lambda clause, scene: True if straight(scene.text) else None,
    "node_kind": _node_kind,
    **{name: _filter(name) for _, names in BOUNDS for name in names},
    "order": _order,
}
