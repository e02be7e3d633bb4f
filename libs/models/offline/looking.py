"""Looking without being sure: what a request comes to that wants nothing changed and that nobody understood.

A wrong guess at looking harms nobody, and a question helps nobody who only wanted to see something. So where the
careful reading ends without a plan, and the request surely wants no change, the best look is taken: an overview where
it is about the whole folder, the files of a kind or a time, the one file that its words name, and else a search for the
words that carry meaning. Strictness is all on the other side: one word or idiom of change, or a verb that nobody knows
where a request has its verb, and it is no look.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from libs.models.offline import courtesy, telling
from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Mood, Name, Named, Reading
from libs.models.offline.drafting import Draft
from libs.models.offline.filling import BOUNDS, asked_among, fill
from libs.models.offline.ground import NoSuchPlace, Outside
from libs.models.offline.meaning import READABLE
from libs.models.offline.naming import masked
from libs.models.offline.paths import file_like
from libs.models.offline.places import Place, places
from libs.models.offline.scenes import Scene
from libs.models.offline.selection import select
from libs.retrieval.lexicon import listed
from libs.retrieval.likeness import alike, nearest, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, words
from libs.skills import Effect, ToolDefinition

CHANGES = listed(
    "remove move copy rename create pack unpack organize clean change prefix suffix lower upper titlecase"
    " snake swap number undo keep untouched except"
)
"""What is said by who wants something changed, or speaks of what a change shall spare."""
NOUNS = listed(
    "new neu neue neuen neues neuer nueva nuevo platz espacio space some_space more_space ordnung order"
    " number numbers numero copies kopien copias del bar safe minus menos stay stays donde_estan where_it_is"
    " where_they_are bleiben van va aparte"
)
"""Forms of these that are as often no deed."""
LOOKS = listed("list find report howmany parse whatis inside content explain summary")
_BEGINS = (
    r"(?:^|[.!?;:,¿(\n]|\b(?:and|so|but|tell\s+me|show\s+me|(?:know|see|check|wonder|ask|remember|find\s+out)(?:\s+(?:me|if))?|und|sag\s+mir|wissen"
    r"|wei(?:ß|ss)t\s+du|y|dime|sabes|saber)\b)[\s,]*"
)
ASKS = regex(
    rf"{_BEGINS}(?:(?:in|from|at|on|since|under|of|auf|aus|seit|de|en|desde)\s+)?"
    r"(?:where|which|who|whose|when\s+(?:was|did|were|is)|what|whats|how\s+(?:much|many|big|old|large)|wo|was|wer|wann"
    r"|welche[rsnm]?|wie\s*viele?|wie\s+(?:gro(?:ß|ss)|alt|schwer)|d[oó]nde|qu[eé]|cu[aá]l(?:es)?|qui[eé]n(?:es)?|cu[aá]ndo|cu[aá]nt[oa]s?)(?!\w)"
    r"|(?<!\w)(?:(?:is|are)\s+there|(?:do|did|have|had)\s+(?:i|we)|got\s+any|where\s+r|wheres"
    r"|(?:have|take)\s+a\s+(?:\w+\s+)?(?:look|peek)|look(?:ing)?\s+(?:for|at|in|into|up|through)|search|find|show|see\s+if"
    r"|check|any(?:thing|one|body)|gibt\s+es|gibts|(?:ist|sind|w[äa]re?n?)\s+(?:da|hier|irgendwo|noch)|hab(?:e|en)?\s+(?:ich|wir)|schau\w*|guck\w*|zeig\w*|such\w*|find\w*|nachsehen|nachschauen"
    r"|hay|tengo|tenemos|mira|busca\w*|encuentra\w*|muestra\w*|ense[ñn]a\w*|echar?\s+un\s+vistazo)(?!\w)",
    re.IGNORECASE,
)
"""Who says one of these wants to know something; of the others, only what begins a part of a sentence asks."""
SHALL = regex(
    r"(?<!\w)(?:should|shall|ought|must|(?:has|have|needs?)\s+to|better|soll(?:en|te|ten|st)?|m[uü]ss(?:en|te)?|gehör(?:t|en)|k[uü]nftig"
    r"|deben?|deber[ií]an?|quiero\s+que|que\s+se\s+llamen?|from\s+now\s+on"
    r"|dahin|hin|hinein|rein|raus|weg|fort|damit|ab\s+(?:in|nach)|fuera|into|onto|away|instead|rather|lieber|statt)(?!\w)",
    re.IGNORECASE,
)
"""What shall be, or where to: a state that is wished for is a change."""
PAST = (
    regex(r"\b(?:did|have|had|has)\s+(?:i|we|he|she|they)\s+(?:(?:ever|already|last|just)\s+)*(\w+)", re.IGNORECASE),
    regex(
        r"\b(?:i|we|he|she|they)(?:\s+(?:have|had|has|ever|already|last|just|once)|['’](?:ve|d))*\s+"
        r"((?!put\b|will\b)\w+(?:ed|ied)|put|made|took|wrote|kept|got|sent|built|drew)\b(?!\s+(?:them|it|these|those|all)\s+(?:in|to))",
        re.IGNORECASE,
    ),
    regex(r"\b(?:hab|habe|haben|hat)\s+(?:ich|wir|er|sie)\b[^.;:!?]*?\b(\w*ge\w+(?:t|en)|\w+iert)\b", re.IGNORECASE),
    regex(r"\b(?:ich|wir)\b[^.;:!?]*?\b(\w*ge\w+(?:t|en)|\w+iert)\s+(?:hab|habe|haben)\b", re.IGNORECASE),
    regex(r"(?<!\w)(?:he|hemos|hab[ií]a|hab[ií]amos)\s+(\w+(?:ado|ido|sto|cho|rto))(?!\w)", re.IGNORECASE),
)
"""What somebody has done already is no wish: "what did I put in the budget"."""
CAN_GO = regex(
    r"(?<!\w)(?P<asks>how\s+many|what|which|wie\s*viele?|was|welche[rns]?|qu[eé]|cu[aá]l(?:es)?|cu[aá]nt[oa]s)\b[^,.;:!?]*?"
    r"(?:\b(?:can|could|should|might|kann|k[oö]nnte|sollte|soll|puedo|podr[ií]a|deber[ií]a)\s+(?:[^,.;:!?]*?\b)?"
    r"(?:delete\w*|remove\w*|get\s+rid\s+of|throw\s+(?:away|out)|go|l[oö]schen|loeschen|entfernen|wegwerfen|weg|raus|borrar|eliminar|quitar|tirar)"
    r"|\bsobran?)\b[^.;:!?]*",
    re.IGNORECASE,
)
"""Who asks what could go wants to see what there is: what is large, there twice, or empty."""
WISHED = regex(
    r"^\W*(?:(?:hello|hi|hey|please|pls|ok|okay|dear|so|and|hallo|bitte|also|hola|por\s+favor)\b[\s,]*)*"
    r"(?:(?:can|could|would|will)\s+(?:you|u)\s+(?:please\s+|kindly\s+|just\s+)*|(?:k[aö]nn(?:te)?st|w[uü]rdest)\s+du\s+"
    r"(?:bitte\s+|mir\s+|mal\s+)*|(?:puedes|podr[ií]as)\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)
"""Where a request has its verb."""
SPACE = regex(r"(?<!\w)(?:platz|speicher\w*|space|room|espacio|disk|disco)(?!\w)", re.IGNORECASE)
FRAME = listed(
    "know knew known sure think thought guess believe remember recall forgot forget wrote written write saved"
    " save made look looked looking see seen check tell told ask wonder wondering sort sorts earth world"
    " terribly awfully hand got gotten get ages hell called call named anything something everything nothing"
    " somebody someone one ones word words computer machine disk drive laptop please thing things stuff kind"
    " having want wanted need needed keep kept came come comes say says said mean means meant put done did"
    " does use used uses using taking takes take took room space about like lost find found show top level"
    " each per total altogether roughly exactly somewhere place where reference references mentions mention"
    " mentioned contain contains text texts name names file files folder folders yes yeah no hmm what which"
    " wheres whats heres dunno idea clue possibly maybe probably either way bit weiss wissen glaub glaube"
    " denke meine suche such finde gefunden gesehen geschrieben gespeichert abgelegt liegt liegen steht"
    " stehen welchem welchen puse puso sagen verraten nachsehen nachschauen heraussuchen raussuchen herausfinden"
    " rausfinden mitteilen decirme decir mirar mirarme averiguar comprobar"
    " drin drinnen drauf frisst fressen belegt verbraucht braucht platz speicher meisten meiste rum"
    " herum rumliegt rumliegen herumliegt so alles irgendwas irgendwo irgendwie irgendeine etwas dabei palabra namen"
    " dateien datei ordner rechner mal eigentlich thema inhalt wort jetzt denn hier dort creo pienso recuerdo"
    " acuerdo seguro segura busco buscando encuentro encontrar escribi escrito guardado guarde guardada tengo"
    " tenia tiene archivo archivos fichero ficheros carpeta carpetas algo alguno alguna ordenador dime"
    " decirme mencionan menciona contienen contiene tema sobre nombre nombres espacio ocupa ocupan mas menos"
    " parte"
)
"""Words around what is looked for, beside those that the lexicon knows."""
DETERMINED = listed(
    "the a an my our his her your this that these those some any of with about from for der die das den dem"
    " ein eine einen mein meine meinen von mit zu el la los las un una mi mis su sus del de con sobre"
)
INCLUDED = listed("included inbegriffen inklusive incluido incluida incluidos incluidas")
"""At the end, where nothing follows that is included, it is a word like others."""
LEAST_TERM = 2


def only_looks(reading: Reading) -> bool:
    """Does it surely want nothing changed, and something seen?"""
    plain = _unmeasured(reading)
    plain = CAN_GO.sub(lambda found: found["asks"].ljust(len(found.group())), plain)
    told = any(done.search(plain) for done in PAST)
    for done in PAST:
        plain = done.sub(lambda found: found.group().replace(found[1], " " * len(found[1])), plain)
    said = words(plain)
    idioms = [word for clause in reading.clauses for word in clause.words if _changes(word, reading, plain)]
    if idioms or any(changes(word) for word in said) or any(_foreign_deed(said, at) for at in range(len(said))):
        return False
    again = reading.says("same") and not told  # "did I tell that I'd use it again"
    if SHALL.search(plain) or again or any(map(_a_file, (n for c in reading.clauses for n in c.names))):
        return False
    return _asks(reading, plain) and not any(map(strange_verb, re.split(r"[.!?;\n]+", plain)))


def _a_file(name: Named) -> bool:
    """One that is named in quotes and by its ending: what is asked of it is about no other."""
    quoted = name.end - name.start > len(name.text)
    return quoted and file_like(name) and name.kind is not Name.GLOB


def _changes(word: Word, reading: Reading, plain: str) -> bool:
    """A deed that stands only in the plain words of an idiom."""
    return changes(word) and word.text.casefold() not in reading.text[word.start : word.end].casefold()


def changes(word: Word) -> bool:
    """Is a change spoken of with it?"""
    return bool(CHANGES & {*word.concepts}) and word.folded not in NOUNS and not word.slip


def _foreign_deed(said: Sequence[Word], at: int) -> bool:
    """What no skill does, where it is no noun: "the recipe" is one."""
    word = said[at]
    if "foreign" not in word.concepts:
        return False
    before = [other.folded for other in said[max(0, at - 2) : at]]
    return not DETERMINED & {*before}


def _asks(reading: Reading, plain: str) -> bool:
    return ASKS.search(plain) is not None or any(clause.says(*LOOKS) for clause in reading.clauses)


def strange_verb(sentence: str) -> bool:
    """A word that nobody knows where a request has its verb: "defragment it", "can you shrink them"."""
    found = WISHED.match(sentence)
    if found is None or ASKS.search(sentence.partition(",")[0]):
        return False
    verb = words(found["verb"])[0]
    slipped = verb.slip and bool(CHANGES & {*verb.concepts})
    return slipped or (verb.unknown and verb.folded not in frame())


def _unmeasured(reading: Reading) -> str:
    """The text without sizes, times and names, in its old length."""
    out: list[Item] = [item for clause in reading.clauses for item in clause.items if isinstance(item, Named | Measure)]
    return masked(reading.text, out).replace("\0", " ")


@dataclass(frozen=True, slots=True)
class Looking:
    """Takes the best look at what a request is about."""

    reading: Reading
    scene: Scene
    tools: Mapping[str, ToolDefinition]

    def best(self) -> Draft | None:
        """The first of these that has something to go by."""
        whole = self._whole()
        for look in (
            self._can_go,
            self._duplicates,
            self._space,
            self._sized,
            self._read,
            self._narrow,
            self._searched,
            self._chosen,
            self._overview,
        ):
            if (found := look(whole)) is not None:
                return found
        return None

    def of_ours(self) -> bool:
        """Does it speak of something here: of files, or by words of their names?"""
        whole, ground = self._whole(), self.scene.ground
        speaks = whole.says(*KINDS, "file", "folder", "find", "list", "report", "here", "duplicate") or any(
            ours.search(self.reading.text) for ours in (OURS, CAN_GO)
        )
        return bool(speaks) or bool(nearest(self.terms(), ground.paths or ground.names or ()))

    def _whole(self) -> Clause:
        """All that was said, as one clause."""
        items = [item for clause in self.reading.clauses for item in clause.items]
        return Clause(tuple(sorted(items, key=lambda item: item.start)), mood=Mood.DO)

    def _can_go(self, whole: Clause) -> Draft | None:
        return self._report(whole) if CAN_GO.search(self.reading.text) else None

    def _duplicates(self, whole: Clause) -> Draft | None:
        reads = {need.tool for tool in self.tools.values() for need in tool.needs if need.field == "groups"}
        scan = next((tool for name, tool in self.tools.items() if name in reads), None)
        return self._with(scan, whole) if scan and whole.says("duplicate") else None

    def _space(self, whole: Clause) -> Draft | None:
        return self._report(whole) if SPACE.search(fold(self.reading.text)) else None

    def _sized(self, whole: Clause) -> Draft | None:
        """How large those of a kind are, each and together."""
        kinds = whole.says("size") and whole.says(*KINDS) and not whole.names
        return self._chosen(whole) if kinds else None

    def _read(self, whole: Clause) -> Draft | None:
        """What the one file says or is that the words name."""
        best = nearest(sought := self.terms(), self.scene.ground.paths or ())
        if (
            len(best) != 1
            or _mostly_others(sought, best[0])
            or whole.says("find")
            or not (whole.says(*READS) or WHAT.match(fold(self.reading.text)))
        ):
            return None
        readable = best[0].rpartition(".")[2].casefold() in TEXTS
        told = not readable or whole.says("explain") or (whole.says("size", "age") and not whole.says("parse"))
        deed = "summar" if whole.says("summary") else "explain" if told else "parse"
        tool = next((tool for tool in self.tools.values() if _does(tool, deed)), None)
        if tool is None:
            return None
        param = next(param for param, role in tool.roles.items() if role in ("file", "files"))
        return Draft(tool, tool.defaults() | {param: best[0] if tool.roles[param] == "file" else best})

    def _searched(self, whole: Clause) -> Draft | None:
        """The words, but for the one that tells which files are asked about: "which letters mention …"."""
        tool = next((tool for tool in self.tools.values() if "query" in tool.roles.values()), None)
        sought = self.terms()
        if tool is None or not sought:
            return None
        params = {role: param for param, role in tool.roles.items()}
        noun, patterns = asked_among(self.scene) or ("", ())
        rest = [term for term in sought if term not in terms(noun)]
        told: dict[str, Any] = {params["query"]: " ".join(rest or sought)}
        if patterns and rest and "asked_among" in params:
            told[params["asked_among"]] = [*patterns]
        return Draft(tool, tool.defaults() | self._around(tool, whole) | told)

    def _narrow(self, whole: Clause) -> Draft | None:
        """Where a size or a time is said, and no name has the words beside it, that tells more than they do."""
        known = self.scene.ground.paths
        said = whole.filters or whole.says("howmany")
        noun, _ = asked_among(self.scene) or ("", ())
        beside = [term for term in self.terms() if not (whole.filters and term in terms(noun))]
        return self._chosen(whole) if said and known and not _in_a_name(beside, known) else None

    def _chosen(self, whole: Clause) -> Draft | None:
        """Those of a kind, a size or a time, wherever they are."""
        among = asked_among(self.scene)
        picked = select(whole, self.scene.ground, self.scene.categories).patterns or (among[1] if among else ())
        tool = next((tool for tool in self.tools.values() if "wanted" in tool.roles.values()), None)
        if tool is None or not (picked or whole.filters):
            return None
        bound = {name for _, names in BOUNDS for name in names}
        args = {
            param: whole.filters[role] for param, role in tool.roles.items() if role in bound & whole.filters.keys()
        }
        wanted = {param: list(picked) for param, role in tool.roles.items() if role == "wanted" and picked}
        args |= {param: "largest" for param, role in tool.roles.items() if role == "order" and whole.says("size")}
        return Draft(tool, tool.defaults() | self._around(tool, whole) | args | wanted)

    def _overview(self, whole: Clause) -> Draft | None:
        about = whole.says("here", "folder", "file", "all", "report", "inside", "howmany", "size")
        return self._report(whole) if about else None

    def _report(self, whole: Clause) -> Draft | None:
        tool = next((tool for tool in self.tools.values() if tool.effect is Effect.REPORT), None)
        return Draft(tool, tool.defaults() | self._around(tool, whole)) if tool else None

    def _with(self, tool: ToolDefinition, clause: Clause) -> Draft | None:
        try:
            filled = fill(tool, clause, self.scene)
        except (NoSuchPlace, Outside):
            return Draft(tool, tool.defaults())
        return Draft(tool, filled.args) if not filled.missing else None

    def _around(self, tool: ToolDefinition, whole: Clause) -> dict[str, str]:
        """The folder that was named, where it is there."""
        folder = next((path for place in places(whole, self.scene.ground) if (path := self._folder(place))), None)
        return {param: folder for param, role in tool.roles.items() if role == "folder" and folder}

    def _folder(self, place: Place) -> str | None:
        """Its path, where it is a folder that is there."""
        ground = self.scene.ground
        path = ground.path(place.said, new=True)
        return path if path in ground.folders or (path != "." and ground.below(path)) else None

    def terms(self) -> list[str]:
        """The words that carry meaning: without those that ask, tell or lead up to it. A word for a kind of files is
        one beside others: "the Whitby photos".
        """
        around = [place.item for place in places(self._whole(), self.scene.ground) if self._folder(place)]
        told = [word for word in words(_without_measures(self.reading)) if self._telling(word, around)]
        told = [word for word in told if not self._besides(word)] or told
        if all(map(_of_a_kind, told)) and not any(map(self._named_so, told)):
            return []
        years = YEAR.findall(self.reading.text) if told else ()
        return list(dict.fromkeys((*(term for word in told for term in terms(word.text)), *years)))

    def _besides(self, word: Word) -> bool:
        """Is it in a sentence that asks for nothing, beside a question: "The customer has just called"?"""
        text, clauses = self.reading.text, self.reading.clauses
        start = max((found.end() for found in ENDS.finditer(text, 0, word.start)), default=0)
        end = next((found.end() for found in ENDS.finditer(text, word.end)), len(text))
        wishes = any(clause.acts and start <= clause.items[0].start < end for clause in clauses)
        return "?" in text and "?" not in text[start:end] and not wishes

    def _telling(self, word: Word, around: Sequence[Item]) -> bool:
        known = bool(word.concepts) and not (word.slip or "foreign" in word.concepts or _of_a_kind(word))
        folder = any(item.start <= word.start < item.end for item in around)
        short = len(word.folded) < LEAST_TERM
        closes = word.folded in INCLUDED and not re.search(r"\w", self.reading.text[word.end :])
        return closes or not (word.filler or known or folder or short or word.folded in frame())

    def _named_so(self, word: Word) -> bool:
        """Is there a file that is called as its kind: "the archive"?"""
        return bool(self.scene.ground.everywhere(word.text)) and extension_of(word.folded) is None


OURS = regex(
    r"\b(?:i|we)(?:['’]ve|\s+have)?\s+(?:wrote|written|saved|put|made|kept|noted)\b|\bich\b.*\b(?:geschrieben|gespeichert|notiert)\b"
    r"|\b(?:escrib[ií]|guard[eé]|apunt[eé])(?!\w)"
    r"|\b(?<!do\s)(?:any|some|no)thing\s+(?:\w+\s+)?(?:about|from|by|on|for|with)\b|\b(?:et|irgendet|irgend)?was\s+(?:von|vom|über|ueber|zu|zum|zur|mit)\b"
    r"|\b(?:algo|nada|alguna\s+cosa)\s+(?:de|del|sobre|con)\b",
    re.IGNORECASE,
)
"""Who wrote or kept something has it here; and who asks for anything about something asks for it here."""
ENDS = regex(r"[.!?]+(?=\s|$)")
YEAR = regex(r"\b(?:19|20)\d\d\b")
"""A name may have it as well, whatever else it bounds."""
READS = ("parse", "explain", "summary", "whatis", "inside", "size", "age")
WHAT = regex(r"^\W*(?:and |und |y )?(?:what|whats|was|que)\b")
TEXTS = READABLE | listed("pdf docx xlsx xls pptx epub odt ods odp")
"""What can be read out; of anything else it is told what it is."""


def _of_a_kind(word: Word) -> bool:
    return bool({*KINDS} & {*word.concepts}) or extension_of(word.folded) is not None


@cache
def frame() -> frozenset[str]:
    """Words around what is looked for."""
    finite = frozenset().union(*telling.FINITE.values(), *telling.PERSONS.values(), *telling.DETERMINERS.values())
    return (
        FRAME | finite | telling.OPENERS | telling.WISHES | telling.INDIRECT | telling.PREPOSITIONS | telling.ADDRESSED
    )


def _does(tool: ToolDefinition, deed: str) -> bool:
    return deed in tool.name.partition(".")[0] and bool({"file", "files"} & {*tool.roles.values()}) and not tool.mutates


def _without_measures(reading: Reading) -> str:
    out: list[Item] = [item for clause in reading.clauses for item in clause.items if isinstance(item, Measure)]
    return courtesy.without_needs(masked(reading.text, out)).replace("\0", " ")


def _mostly_others(sought: Sequence[str], path: str) -> bool:
    """ "What did I charge for the second photographer", where a "second shooter.zip" is there."""
    vocabulary = dict.fromkeys(terms(path))
    return 2 * sum(bool(alike(term, vocabulary)) for term in sought) < len(sought)


def _in_a_name(sought: Sequence[str], paths: Sequence[str]) -> bool:
    vocabulary = dict.fromkeys(term for path in paths for term in terms(path.rpartition("/")[2]))
    return any(alike(term, vocabulary) for term in sought if not term.isdigit())
