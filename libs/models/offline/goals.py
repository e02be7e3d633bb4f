"""From clauses to goals: which tool each clause wants, what is forbidden, and what nobody understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from libs.models.offline import originals
from libs.models.offline.archives import archive_noun, into_archive, is_archive
from libs.models.offline.clauses import ACTIONS, JUNK, KINDS, Clause, Item, Mood, Name, Named, Reading
from libs.models.offline.conditions import told_if
from libs.models.offline.coordination import apart
from libs.models.offline.ground import Ground
from libs.models.offline.grouping import grouped
from libs.models.offline.matching import Matcher, Ranked, sure
from libs.models.offline.meaning import LETTERS, STYLES, asks_where
from libs.models.offline.owned import told_by_names
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.pronouns import points_back, the_things
from libs.models.offline.quantities import criteria, emptiness, superlative
from libs.models.offline.selection import the_rest, told_by_its_form, told_everywhere, told_one_by_one
from libs.models.offline.weighing import weighed
from libs.retrieval.lexicon import FAMILIES, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of
from libs.skills import Effect, ToolDefinition

MAYBE = 0.45
"""From here on a skill is worth naming in a question."""
CHATTER = ("greeting", "here", "first", "then", "only", "untouched")
FORBIDS = {
    "remove": (Effect.DELETE,),
    "organize": (Effect.MOVE,),
    "move": (Effect.MOVE,),
    "copy": (Effect.CREATE,),
    "rename": (Effect.RENAME,),
    "create": (Effect.CREATE,),
    "clean": (Effect.DELETE, Effect.MOVE),
    "pack": (Effect.CREATE,),
    "unpack": (Effect.CREATE,),
    "change": (Effect.DELETE, Effect.MOVE, Effect.RENAME, Effect.CREATE),
}


SPEAKS_OF = {
    **FORBIDS,
    **dict.fromkeys(listed("change name prefix suffix lower upper swap number blank starts ends"), (Effect.RENAME,)),
    **dict.fromkeys(listed("duplicate junk empty tempfiles litterfiles partfiles"), (Effect.DELETE,)),
    **dict.fromkeys(listed("type beside"), (Effect.MOVE,)),
    "archives": (Effect.CREATE,),
}
"""What the words of a clause may want, where it is not certain; nothing is deleted where nobody spoke of that."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A tool that a clause wants, and how surely."""

    clause: Clause
    tool: ToolDefinition
    score: float


@dataclass(frozen=True, slots=True)
class Doubt:
    """A clause that could not be placed, with the tools that come near."""

    clause: Clause
    near: tuple[Ranked, ...]

    @property
    def vague(self) -> bool:
        """Only "clean up" and the like: other clauses say what that means."""
        return (
            self.clause.says("clean")
            and not self.clause.says("foreign")
            and not criteria(self.clause)
            and not any(word.unknown for word in self.clause.words)
        )


@dataclass(frozen=True, slots=True)
class Intent:
    """What the whole request wants."""

    goals: tuple[Goal, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    forbidden: frozenset[Effect] = frozenset()
    unwanted: frozenset[str] = frozenset()
    """Tools that were themselves ruled out: "don't remove duplicates"."""


async def intent(
    reading: Reading, matcher: Matcher, ground: Ground, skill: str | None, *, tools: Sequence[ToolDefinition]
) -> Intent:
    """Sort the clauses. `skill` is one that the person picked; it decides where the words leave it open."""
    goals: list[Goal] = []
    doubts: list[Doubt] = []
    for clause in (_plainly(clause, ground) for clause in wanted(reading)):
        ranked = await matcher.rank(clause, tools, ground)
        if clause.says("foreign") and not clause.says("find", "list", "keep"):
            doubts.append(Doubt(clause, ()))
        elif (chosen := _chosen(ranked, skill)) is not None:
            goals.append(Goal(clause, chosen.tool, chosen.score))
        else:
            doubts.append(Doubt(clause, _near(ranked, clause)))
    never = [clause for clause in reading.clauses if clause.mood is Mood.NEVER]
    tops = [(clause, (await matcher.rank(clause, tools, ground))[:1]) for clause in never]
    unwanted = frozenset(top.tool.name for clause, best in tops for top in best if clause.says("duplicate"))
    return Intent(tuple(goals), tuple(doubts), _forbidden(reading), unwanted)


def _plainly(clause: Clause, ground: Ground) -> Clause:
    for told in (_packing, told_if, told_everywhere, told_one_by_one, told_by_its_form, told_by_names):
        clause = told(clause, ground)
    return weighed(_cleared(_opened(_sought(clause), ground)))


def _packing(clause: Clause, ground: Ground) -> Clause:
    """ "Pack den Ordner Belege": a German "pack" that leads nowhere makes an archive."""
    verbs = [word for word in clause.words if "move" in word.concepts]
    leads = any(place.target for place in places(clause, ground)) or any(word.folded in LEADS for word in clause.words)
    if len(verbs) != 1 or verbs[0].folded not in PACKS or leads or points_back(the_things(clause.items)):
        return clause
    packs = replace(verbs[0], concepts=("pack",))
    return replace(clause, items=tuple(packs if item is verbs[0] else item for item in clause.items))


PACKS = ("pack", "packe", "packen")
LEADS = listed("in im ins nach zu zum zur into to rein hinein dahin dorthin hier")


def _sought(clause: Clause) -> Clause:
    """ "Where does it say so": what stands somewhere is looked for, not read out, and its words are no deeds."""
    if _by_words(clause):
        return replace(clause, items=tuple(map(_searched, clause.items)))
    at = next((n for n, item in enumerate(clause.items) if isinstance(item, Word) and item.folded in SAID), None)
    if at is None or not asks_where(clause) or all(map(_filler, clause.items[at + 1 :])):
        return clause
    what = [_literal(item) if isinstance(item, Word) else item for item in clause.items[at + 1 :]]
    said = replace(cast(Word, clause.items[at]), concepts=("content",))
    return replace(clause, items=(*clause.items[:at], said, *what))


def _by_words(clause: Clause) -> bool:
    """ "Find the photo of Bella on the lawn": the words count, and not only of which kind it is."""
    strange = any(word.unknown and not extension_of(word.folded) for word in clause.words)
    kinds = clause.says(*KINDS) and not clause.says("name", "content", "folder", "duplicate", "starts", "ends")
    return strange and clause.says("find") and kinds and not clause.filters and not clause.names


def _searched(item: Item) -> Item:
    finds = isinstance(item, Word) and "find" in item.concepts
    return replace(item, concepts=("find", "content")) if finds and isinstance(item, Word) else item


def _filler(item: Item) -> bool:
    return isinstance(item, Word) and item.filler


def _literal(word: Word) -> Word:
    return word if word.filler or {*word.concepts} & PLACING else replace(word, concepts=())


PLACING = listed("recursive here file folder")
SAID = listed(
    "say says said written stands mention mentions mentioned steht stehen geschrieben erwahnt erwahnen dice dicen pone"
    " ponen aparece aparecen sale salen menciona mencionan"
)


def _opened(clause: Clause, ground: Ground) -> Clause:
    """ "Open a.zip into a folder X" is no look."""
    looks = [word for word in clause.words if word.concepts == ("parse",)]
    archives = any(is_archive(name.text) for name in clause.names)
    if not (looks and archives) or not any(place.target for place in places(clause, ground)):
        return clause
    deed = [replace(word, concepts=("unpack",)) for word in looks]
    return replace(clause, items=(*deed, *(item for item in clause.items if item not in looks)))


def _cleared(clause: Clause) -> Clause:
    """ "Clean up the temporary files": what is worth nothing is not put in order, but deleted."""
    temporary = any(f"*.{word.folded}" in FAMILIES["tempfiles"] for word in clause.words)
    worthless = temporary or clause.says(*JUNK - {"empty"}) or emptiness(clause)
    if not clause.says("clean") or not worthless or clause.says("organize", "type", "move", "remove", "duplicate"):
        return clause
    items = (
        replace(item, concepts=("remove",)) if isinstance(item, Word) and "clean" in item.concepts else item
        for item in clause.items
    )
    return replace(clause, items=tuple(items))


def all_of(found: Intent) -> Intent:
    """The person said "both": every tool that was offered is wanted."""
    goals = [Goal(doubt.clause, near.tool, near.score) for doubt in found.doubts for near in doubt.near]
    return replace(found, goals=(*found.goals, *goals), doubts=tuple(doubt for doubt in found.doubts if not doubt.near))


def best_of(found: Intent) -> Intent:
    """The nearest tool of each doubt, as if it were sure: to propose what it would do, or because that was agreed."""
    near = [doubt for doubt in found.doubts if doubt.near]
    goals = [Goal(doubt.clause, doubt.near[0].tool, doubt.near[0].score) for doubt in near]
    return replace(found, goals=(*found.goals, *goals), doubts=tuple(doubt for doubt in found.doubts if not doubt.near))


def wanted(reading: Reading) -> list[Clause]:
    """The clauses that ask for something, "them" replaced by what it stands for, and "find and …" joined with what
    follows.
    """
    asked: list[Clause] = []
    told: Clause | None = None
    for clause in reading.clauses:
        if clause.mood is Mood.TOLD:
            told = clause
        elif clause.mood is Mood.DO and (not _chatter(clause) or (told is not None and keeps_some(clause))):
            bare = _objectless(clause) or keeps_some(clause)
            if told is not None and (refers_back(clause) or bare or _where_told(clause, told)):
                asked.append(_with_object(clause, told))
            else:
                _ask(asked, clause)
            told = None
    return [one for clause in asked for one in apart(clause)]


def _where_told(clause: Clause, told: Clause) -> bool:
    """ "Some photos are there twice in Bills. Throw the copies away": those that were told of, where they are."""
    if clause.says("rename") and all(name.kind is Name.QUOTE for name in clause.names):
        one = [name.kind for name in told.names] == [Name.PATH] and not told.says(*KINDS)
        return one and not clause.says("file", "folder", *KINDS)  # "I misspelt a.txt, please rename to b"
    both = clause.says("duplicate") and told.says("duplicate")
    return both and bool(told.names or told.says(*KINDS)) and not clause.names and not clause.says(*KINDS)


def keeps_some(clause: Clause) -> bool:
    """ "… keep only one of each"."""
    return clause.says("only") and clause.says("keep", "untouched") and not clause.names and not clause.says(*KINDS)


def _objectless(clause: Clause) -> bool:
    """ "… and can go": a deed, and nothing that it is done to."""
    plain = all(word.filler or ACTIONS & {*word.concepts} for word in clause.words)
    return clause.acts and plain and not clause.names and not clause.filters


def _ask(asked: list[Clause], clause: Clause) -> None:
    """Put a clause to those before it, or together with the last of them."""
    before = asked[-1] if asked else None
    clause = clause if before is None else _with_the_archive(clause, before)
    if before is not None and _removes_originals(before, clause):
        verb = (item for item in clause.items if isinstance(item, Word) and "remove" in item.concepts)
        asked[-1] = replace(before, items=(*before.items, *verb, *originals.count_of(clause)))
    elif before is not None and (sorts := grouped(clause, before)) is not None:
        asked[-1] = sorts
    elif before is not None and _leads_up(clause, before):
        asked[-1] = replace(_with_object(clause, before), joined=before.joined)
    elif before is not None and (_bare_look(before) or _rule_of(before, clause) or _says_which_stay(before, clause)):
        asked[-1] = replace(before.joins(clause), joined=before.joined)
    elif before is not None and elliptic(clause):
        asked.append(_one_of(clause, before))
    elif before is not None and refers_back(clause):
        asked.append(_with_object(clause, before))
    else:
        asked.append(clause)


def _leads_up(clause: Clause, before: Clause) -> bool:
    """ "Take the PDFs and move them", "there are some photos twice: remove the copies": the first does nothing."""
    return (_grabs(before) and refers_back(clause)) or (not before.says("remove") and _where_told(clause, before))


def _with_the_archive(clause: Clause, before: Clause) -> Clause:
    """ "Unpack a.zip and delete the zip": no other one."""
    named = [name for name in before.names if is_archive(name.text)]
    noun = [word for word in clause.words if archive_noun(word)]
    if not before.says("unpack") or clause.says("unpack", "all") or len(named) != 1 or not noun or clause.names:
        return clause
    rest = (
        item for item in clause.items if not isinstance(item, Word) or not (item in noun or "file" in item.concepts)
    )
    return replace(clause, items=(*named, *rest), links=clause.links | before.links)


def elliptic(clause: Clause) -> bool:
    """ "Delete the oldest one": a deed and an order, and no noun."""
    noun = clause.names or clause.says("file", "folder", "all", "duplicate", *KINDS)
    return clause.acts and superlative(clause) and not noun and not any(word.unknown for word in clause.words)


def _one_of(clause: Clause, before: Clause) -> Clause:
    """The first of those that were looked at, which is at any depth; what was changed is not what it was."""
    if before.says("list", "find", "report") and not before.says("remove"):
        deep = Word("", "", clause.items[-1].end, clause.items[-1].end, concepts=("recursive",))
        return _with_object(replace(clause, items=(*clause.items, deep)), before)
    return clause


def _says_which_stay(before: Clause, clause: Clause) -> bool:
    """ "Remove the duplicates. Keep the ones with proper names": how, and nothing new."""
    which = clause.says("wellnamed", "newest", "oldest", "shortest")
    return before.says("duplicate") and clause.says("keep") and which and not clause.acts and not clause.names


def _rule_of(before: Clause, clause: Clause) -> bool:
    """ "Rename all images: replace spaces with underscores": how it shall be done, and of what nothing new."""
    whole = all(name.kind is Name.GLOB for name in before.names)
    open_still = before.says("rename") and not before.concepts & STYLES and whole
    rule = clause.concepts & (STYLES | LETTERS) and not clause.says("file", "folder", *KINDS)
    return bool(open_still and rule and not any(name.kind is not Name.QUOTE for name in clause.names))


def _chosen(ranked: Sequence[Ranked], skill: str | None) -> Ranked | None:
    if sure(ranked):
        return ranked[0]
    picked = [found for found in ranked if found.tool.skill == skill and found.score >= MAYBE]
    return picked[0] if picked else None


def _near(ranked: Sequence[Ranked], clause: Clause) -> tuple[Ranked, ...]:
    best: dict[str, Ranked] = {}
    for found in ranked:
        if found.score >= MAYBE and _spoken_of(found.tool, clause):
            best.setdefault(found.tool.skill, found)
    return tuple(best.values())[:3]


def _spoken_of(tool: ToolDefinition, clause: Clause) -> bool:
    """Has the clause a word for what the tool does, or for what it is done to? What only sounds alike is not offered,
    and nothing at all for a verb that nobody knows.
    """
    if tool.mutates:
        return any(tool.effect in SPEAKS_OF[concept] for concept in clause.concepts & SPEAKS_OF.keys())
    if clause.acts or any(word.unknown for word in clause.words):
        return clause.acts
    return "folder" in tool.roles.values() or any(map(file_like, clause.names))


def _chatter(clause: Clause) -> bool:
    """Thanks, please, "just tell me", "keep the originals": nothing is asked."""
    if clause.says("keep") and all(_only(word, "keep", "oldest") for word in clause.words):
        return not clause.names and not any(word.folded.startswith("old") for word in clause.words)
    return not clause.names and not clause.filters and all(_only(word, *CHATTER) for word in clause.words)


def _removes_originals(before: Clause, clause: Clause) -> bool:
    """ "… and delete the originals": after packing, that is the rest of the same wish."""
    packed = originals.packs(before) and clause.says("remove") and not clause.says(*KINDS)
    if clause.names:
        same = {name.text for name in clause.names} == {name.text for name in before.names if not _made(name, before)}
        return packed and same
    back = refers_back(clause) or clause.says("oldest") or _that_folder(clause, before)
    return packed and (back or originals.means_them(clause))


def _made(name: Named, before: Clause) -> bool:
    """The archive's own name, and not what is put into it."""
    return name.kind is Name.QUOTE or (is_archive(name.text) and name is before.names[-1])


def _that_folder(clause: Clause, before: Clause) -> bool:
    """ "… then delete that folder": the one that was packed."""
    known = all(word.filler or {*word.concepts} <= {"remove", "folder", "then", "here"} for word in clause.words)
    said = [word for word in clause.words if "folder" in word.concepts and not word.folded.endswith("s")]
    packed = [name for name in before.names if not (_made(name, before) or ENDING.search(name.text))]
    return known and len(said) == 1 and len(packed) == 1


ENDING = regex(r"\.\w+$|^\*")
""" "Hnos. 2022" has none."""


def _grabs(clause: Clause) -> bool:
    """ "Take the two largest …": only what is done with them then counts."""
    return any(word.folded in GRABS for word in clause.words if "list" in word.concepts)


GRABS = ("grab", "take", "pick", "select", "nimm", "nehme", "wahle", "toma", "coge", "agarra", "selecciona")


def _bare_look(clause: Clause) -> bool:
    """A "find" or "list" without an object takes that of the clause after it."""
    if not clause.says("find", "list") or clause.names:
        return False
    return all(_only(word, "find", "list", "first", "then", "here") for word in clause.words)


def _only(word: Word, *concepts: str) -> bool:
    return word.filler or (not word.unknown and {*word.concepts} <= {*concepts})


def refers_back(clause: Clause) -> bool:
    """Is what the clause is about a word for what was said before? A name may be where that goes, or what it shall be
    called.
    """
    clause = _but_the_archive(clause)
    names = clause.names
    led = clause.says("move", "copy") or (clause.says("unpack") and not any(is_archive(name.text) for name in names))
    named = names and not led and not (clause.says("rename") and len(names) == 1)
    if named or clause.says("duplicate", *KINDS, "type"):
        return False
    alone = any(word.folded in DEMONSTRATIVES for word in clause.words) and not any(w.unknown for w in clause.words)
    whole = clause.says("all") and not _all_of_them(clause)
    one = any(before.folded in THE and word.folded in ("one", "ones") for before, word in pairwise(clause.words))
    noun = clause.says("file") or (clause.says("folder") and not (clause.says("unpack") and names))
    return (points_back(the_things(clause.items)) or alone or one) and not noun and not whole


def _but_the_archive(clause: Clause) -> Clause:
    """ "Put them into a zip file called x": where they go says nothing of what they are."""
    if not (clause.says("pack") or into_archive(clause)):
        return clause
    at = next((n for n, item in enumerate(clause.items) if isinstance(item, Word) and archive_noun(item)), None)
    new = clause.items if at is None or clause.says("pack") else clause.items[:at]
    return replace(clause, items=tuple(one for one in new if isinstance(one, Word) or not is_archive(one.text)))


def _all_of_them(clause: Clause) -> bool:
    """ "They all", "all of them"."""
    near = [
        word.folded for word in clause.words if word.folded in THEY or "all" in word.concepts or word.folded == "of"
    ]
    return any(word in THEY for word in near) and near[-1:] != near[:1]


THE = listed("the this that these those")
THEY = listed("they them these those sie ellos ellas")


DEMONSTRATIVES = listed("that this das dies eso esto")
"""They point back where no noun follows."""


def _with_object(clause: Clause, before: Clause) -> Clause:
    """All that the clause before said, except what it does: "list the files in Photos and move them" keeps its
    folder.
    """
    thing = [item for item in before.items if isinstance(item, Named) or ACTIONS.isdisjoint(item.concepts)]
    own = clause.says("unpack", "empty")  # what else is told chooses nothing
    if before.mood is Mood.TOLD and (before.names or own):
        kinds = {"archives", "pack"} if clause.says("unpack") else {*KINDS}
        thing = [item for item in thing if isinstance(item, Named) or kinds & {*item.concepts}]
    if before.says("move", "copy"):  # where it is now is another place than where it was, or there are two of it
        return clause
    # Copies are those of what was told of, and no entry of a list beside it.
    links = before.links if clause.says("duplicate") else clause.links | before.links
    return replace(clause, items=(*thing, *clause.items), links=links)


def _forbidden(reading: Reading) -> frozenset[Effect]:
    asked = reading.wishes(Mood.DO)
    deep = any(clause.says("recursive") or (clause.says("remove") and clause.says("folder")) for clause in asked)
    told = [clause for clause in reading.clauses if deep or not _of_subfolders(clause)]
    said = [clause for clause in told if clause.mood is Mood.NEVER and not clause.says("duplicate")]
    packs = any(clause.says("pack", "unpack", "copy") for clause in reading.wishes(Mood.DO))
    effects = {effect for clause in said for concept in clause.concepts & FORBIDS.keys() for effect in FORBIDS[concept]}
    # A copy, in an archive or not, leaves what it is of alone.
    if not packs and any(clause.mood is Mood.SPARE and _nothing(clause) for clause in told):
        effects.update(FORBIDS["change"])
    return frozenset(effects)


def _of_subfolders(clause: Clause) -> bool:
    """ "The subfolders": where nobody speaks of them otherwise, nothing in them is changed anyway."""
    said = [word for word in clause.words if SUBFOLDERS.search(word.folded)]
    return bool(said) and not clause.names and not any(word.unknown for word in clause.words)


SUBFOLDERS = regex("subfolder|unterordner|subcarpeta")


def _nothing(clause: Clause) -> bool:
    """ "Don't touch anything", "leave it alone": all is spared, though not by "leave the rest"."""
    if the_rest(clause) or clause.says("duplicate"):
        return False
    known = all(word.filler or ({*word.concepts}.isdisjoint(KINDS) and word.concepts) for word in clause.words)
    return known and not clause.names and clause.says("untouched", "all")
