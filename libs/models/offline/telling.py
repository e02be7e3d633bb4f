"""Telling apart what tells something from what asks for something: "my sister is visiting", "they are rubbish".

A sentence tells where somebody else than the assistant does or is something in it, and no wish, no modal and no
imperative stands before a deed. It is judged by closed classes of words (persons, determiners, auxiliaries) in the
language of the request; whatever fits none of them may be a request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from libs.models.offline.clauses import ACTIONS
from libs.models.offline.pronouns import PRONOUNS
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.words import Word

OPENERS = listed(
    "so and but well oh ah because since cause anyway y und also pero porque que denn weil as now hey hi boah tja naja"
    " though although obwohl aunque while wahrend mientras um uh okay ok look listen see honestly actually ehrlich"
    " obviously naturlich claro pues bueno mira mire today tomorrow yesterday heute morgen gestern hoy manana ayer"
    " yet still ya aun todavia aber dass unfortunately leider sadly only since seit desde"
)
PERSONS: dict[Language, frozenset[str]] = {
    "en": listed(
        "i we he she they it nobody noone everybody everyone somebody someone people my our his her their i_d i_m i_ve"
    ),
    "de": listed(
        "ich wir er es man niemand jeder jemand keiner mein meine meinem meinen meiner unser unsere unseren sein seine"
    ),
    "es": listed("yo mi mis nuestro nuestra nuestros nuestras nosotros ellos ellas el ella nadie alguien"),
}
"""Who does or is something, other than the assistant; or whose."""
DETERMINERS: dict[Language, frozenset[str]] = {
    "en": listed("the a an this that these those there some both most every each such other others everything"),
    "de": listed("der die das den dem ein eine einen dieser diese dieses diesen alles alle da hier"),
    "es": listed("el la los las un una unos unas este esta estos estas eso esto ese esa esos todo todos"),
}
FINITE: dict[Language, frozenset[str]] = {
    "en": listed(
        "will"
        " saw don_t dont doesn_t didn_t"
        " is are was were has have had isn aren wasn weren hasn haven hadn does did doesn didn keeps kept came comes"
        " went got gets says said made makes took takes looks looked seems seemed sits sat lies lay ate broke thinks"
        " thought knows knew reads calls stopped annoys bothers drives hurts arrived left died turned started s"
        " re ve m keep ran gave sent put found brought bought won lost met began felt told wrote grew threw"
        " paid held stood fell"
        " sold spoke slept cost rang sang sank drank chose froze stole woke flew drew hid shook built caught"
        " taught fought heard"
        " needs wants lives works plays crashes fills eats grows complains swears insists claims asks sleeps"
        " talks comes goes"
        " runs expects charges matters uses loves hates likes hates confuses costs belongs_to means scares"
        " worries ruins takes"
        " rings phones nags moans mean know think believe wonder swear guess suppose doubt forgot forgets remembers"
    ),
    "de": listed(
        "bin ist sind war waren hab habe hat haben hatte hatten wird wurde wurden kommt kam kamen geht ging macht"
        " machte sagt sagte meint meinte steht stand liegt liegen lag nervt schlafe schlaft gibt gab findet fand"
        " sieht sah"
        " nimmt nahm braucht wartet fehlt gefallt stimmt passt heisst halt bleibt weiss denke glaube finde"
        " kriegt bekommt"
        " ziehe zieht zog muss sucht suche lauft lief fragt fragte ruft rief schreibt schrieb trifft fahrt fuhr"
        " wohnt lebt spielt"
        " arbeitet fallt fiel hilft half redet kauft kaufte freut argert schwort behauptet brauchen kamen"
        " gingen gilt dauert kostet"
        " will wollen"
        " meinten sagten dachte dachten wollte wollten sollte konnte durfte tut tat taten sitzt sass zeigt traf hielt"
    ),
    "es": listed(
        "es son era eran fue fueron esta estan estaba estaban hay habia ha han he hemos soy estoy tengo tiene tienen"
        " viene vienen vengo voy va van llevo lleva ando anda quedo dice dicen digo creo pienso hacen hizo sale"
        " salen sirve sirven vale parece parecen molesta molestan ocupa ocupan cabe caben encuentro acabo estuve fui"
        " somos estamos da dan pido gusta gustan falta faltan tuve tuvo necesita quiere quieren dicho dijo"
        " dijeron pone ponen"
        "  llamo llego llega llegan sabe saben sabia puede pueden podia paso pasa pasan pago pagado "
        " trabajo vive viven vino vinieron entiende empeno hizo hicieron cuesta cuestan pide piden habla cobra"
        " cobran acorde"
        " acuerdo perdi perdio compro compre gano murio murieron nacio llamaron mandaron  importa funciona"
    ),
}
"""Verbs of being, having, saying and the like, as they stand beside their subject; a few of the commonest others."""
WISHES = listed(
    "want wants wanted need needs like love prefer wish hope should must can could may might shall would will cannot"
    " please supposed ought let lets d i_d to_be asked ask told_me expects soll sollen sollte sollten muss mussen kann"
    " konnen darf durfen mochte mochten will wollen wollte hatte_gern brauche bitte gern gerne wunsche konnten konnte"
    " wurde_gern hoffe quiero querria quisiera necesito gustaria puede puedes pueden debe deben deberia podria podrias"
    " brauchte brauchten"
    " favor porfa ojala quieren quiere prefiero"
)
"""With one of these and a deed or a file, a sentence may be a wish whoever its subject is."""
ADDRESSED = listed("you du ihr usted ustedes te le euch dir ihnen")
LOSSES = listed("lose losing lost miss verlieren verliere verloren perder pierda perdido")
"""What nobody wants done is no deed: "I don't want to lose it"."""
CONDITIONS = listed(
    "if unless provided assuming whether falls wenn sofern ob si siempre_que salvo_que a_menos_que in_case"
)
"""What a deed depends on has to be understood."""
INDIRECT = listed("where what which who whose how why wo was welche welcher wer wie warum donde cual quien como")
"""First words of a question within a sentence, or of a relative clause."""
ASKED = INDIRECT | listed("que q cuales welchem welchen welches quienes")
"""The same after a preposition."""
TOLD_TO = listed("thank know see told tell always never show showed")


def said_in(language: Language, word: Word) -> Word:
    """The English article would else pass for the Spanish preposition, and a Spanish "of the" for a deed; as would
    the English "quite". Who types Spanish in a hurry writes "x" for "por".
    """
    if (word.folded, language) in (("del", "es"), ("quite", "en")):
        return replace(word, concepts=(), filler=True)
    if (word.folded, language) == ("leer", "de"):  # "to read" in Spanish
        return replace(word, concepts=("empty",))
    if word.folded == "todo" and language != "es":  # a list of what is to be done
        return replace(word, concepts=(), filler=False)
    if (word.folded, language) == ("n", "en"):  # "the screenshots n the rest"
        return replace(word, folded="and", concepts=(), filler=True)
    if (word.folded, language) == ("x", "es"):
        return replace(word, folded="por", filler=True)
    return replace(word, folded="an") if word.folded == "a" and language != "es" else word


def tells(
    read: Sequence[Word],
    language: Language,
    of_files: Callable[[Word], bool],
    *,
    goes_on: bool = False,
    joined: bool = False,
) -> bool:
    """Does it tell, rather than ask? `read` is a sentence, or a part of one between commas and conjunctions; with
    `goes_on`, one after "and", which may be the end of a list, as it may where it is `joined` by one of its own.
    """
    said = _opened(read)
    if len(said) > LEAST and said[0].folded in PERSONS[language] and any(word.folded in LOSSES for word in said):
        return True
    if len(said) < LEAST or _wishes(said, of_files):
        return False
    first = said[0].folded
    if (first in WAS or (first in SUBJECTLESS and said[1].folded in NOT_ANY)) and not any(
        {*word.concepts} & STRONG for word in said
    ):
        return True
    if {*said[0].concepts} & ACTIONS and first not in PERSONS[language]:
        return False
    if "all" in said[0].concepts and said[1].folded in WHICH:
        return False
    if any(word.folded in CONDITIONS for word in said[:3]) or first in INDIRECT or _relative(said, language):
        return False
    if (
        _of_somebody(said, language, goes_on=goes_on or joined)
        or (language == "es" and _conjugated(said))
        or _blames(said)
    ):
        return True
    if goes_on:
        return False
    finite = any(_finite(word, language) and before.folded not in RELATIVES for before, word in pairwise(said[:FAR]))
    if first in PREPOSITIONS and said[1].folded in ASKED:
        return False  # "en que recetas pone tomate"
    if first in PREPOSITIONS and finite and not any(word.concepts or of_files(word) for word in said[1:]):
        return True  # "in the meeting Paul told us"
    if language == "de" and any(word.folded in PERSONS["de"] | SOME for word in said[1:FAR]) and finite:
        return True  # the verb comes second, whatever comes first
    return finite and (first in DETERMINERS[language] or said[0].unknown) and not _done(said, language)


def past(read: Sequence[Word], language: Language) -> bool:
    """Does it begin with what somebody did: "saw my downloads", "just laughed"? Whose subject stands before."""
    said = _opened(read)
    first = next((word for word in said if word.folded not in ADVERBS), None)
    if first is None or ({*first.concepts} & ACTIONS and not any(word.folded in MYSELF for word in said[1:2])):
        return False
    return first.folded in FINITE[language] or (language == "en" and first.folded.endswith("ed"))


def _of_somebody(said: Sequence[Word], language: Language, *, goes_on: bool) -> bool:
    """ "And my contract", "y el contrato" go on with a list, unless somebody does something."""
    first = said[0].folded
    listed_on = first in ARTICLE_OR_HE or (goes_on and first in OWNERS)
    acts = any(
        word.folded in FINITE[language] or (language == "en" and _finite(word, language)) for word in said[1:FAR]
    )
    return first in PERSONS[language] and (acts or not listed_on or said[0].text.casefold() == "él")


ARTICLE_OR_HE = frozenset(("el",))
OWNERS = listed(
    "my our his her their mein meine meinem meinen meiner unser unsere unseren sein seine mi mis nuestro nuestra"
    " nuestros nuestras"
)
SOME = listed("einige manche viele mehrere etliche lauter")
MYSELF = listed("mich myself")
""" "… und finde mich nicht zurecht": who is found is who speaks."""
ADVERBS = listed("just then even also only never always dann nur auch sogar luego solo tambien hasta")
RELATIVES = listed("that which who que")
""" "The logs in old that are bigger than 1 MB" say which."""
PREPOSITIONS = listed(
    "in at on during after before with for over at_the by about im am bei nach vor mit seit beim wahrend en"
    " durante tras con desde"
)


def _blames(said: Sequence[Word]) -> bool:
    """ "You moved nothing last time", "du hast nichts getan": what the assistant did is told."""
    first, then = said[0].folded, said[1]
    did = then.folded in DID or (then.folded.endswith("ed") and not then.unknown)
    asked = len(said) > LEAST and said[2].folded in ("to", "zu")
    return first in ADDRESSED and did and not asked


DID = listed("have had did didn keep never always forgot were left hast haben hattest habt vergisst vergasst")
LEAST = 2
FAR = 7
"""So many words after the beginning the verb of a statement is looked for."""


def _opened(read: Sequence[Word]) -> Sequence[Word]:
    at = next((n for n, word in enumerate(read) if word.folded not in OPENERS), len(read))
    return read[at:]


def _wishes(said: Sequence[Word], of_files: Callable[[Word], bool]) -> bool:
    """A wish, a modal or an address: then it is talk only without a deed and without anything that it could be done
    to.
    """
    wished = any(
        (word.folded in WISHES or word.folded.split("_")[0] in WISHES)
        and not (before.folded in DOES and word.folded in LIKES)
        for before, word in pairwise((said[0], *said))
    )
    addressed = any(
        word.folded in ADDRESSED and not (at and said[at - 1].folded in TOLD_TO) for at, word in enumerate(said)
    )
    deed = any({*word.concepts} & STRONG for word in said)
    # "Will be looking at this folder" is about no file in it.
    parts = [
        word
        for before, word in pairwise((said[0], *said))
        if before.folded not in THIS or "folder" not in word.concepts
    ]
    thing = any(of_files(word) or {*word.concepts} & {"file", "folder"} or word.folded == "ones" for word in parts)
    others = said[0].folded not in OWN and not any(word.folded in WHERETO for word in said)
    thing = thing or (not others and any(word.folded in PRONOUNS for word in said[1:]))
    return (wished and (deed or thing)) or (addressed and deed)


OWN = listed("i i_d id we ich wir me mir uns yo nos nosotros quiero quisiera necesito querria please bitte")
WHERETO = listed("in into onto away out off gone here nach weg raus fort hin rein ins im hier al en fuera aqui")
"""What others want of it is told, unless that is where it shall be: "Paul asked for them", "he wants them in Docs"."""
DOES, LIKES = listed("don_t dont doesn_t do does never always"), listed("like love")
""" "They don't like blanks" wishes for nothing."""
THIS = listed("this dieser diesen diesem esta este")
STRONG = ACTIONS - listed("create list parse find whatis explain foreign greeting capability")
"""Deeds that are ours whatever they are done to; "make", "see", "open" and the like are done to anything."""


def _relative(said: Sequence[Word], language: Language) -> bool:
    """ "…, die größer als 10 MB sind": German puts the verb of a relative clause last, and that of "die haben sich
    angesammelt" second; ", that are larger". In "der Kunde hat schon gefragt" it comes second, too.
    """
    if language == "de" and said[0].folded in ("die", "der", "das", "den", "dem", "deren"):
        second = said[1].folded in FINITE["de"] or (
            said[1].text[:1].isupper() and said[2:3] and said[2].folded in FINITE["de"]
        )
        return len(said) > LEAST and _finite(said[-1], language) and not second
    return language == "en" and said[0].folded == "that" and _finite(said[1], language)


def _finite(word: Word, language: Language) -> bool:
    if word.folded in FINITE[language]:
        return True
    if language == "en":
        return word.unknown and word.text.islower() and word.folded.endswith("ed")
    return language == "de" and word.unknown and word.text.islower() and word.folded.endswith(("t", "te", "ten"))


def _conjugated(said: Sequence[Word]) -> bool:
    """Spanish needs no subject: "he guardado", "no las encuentro"."""
    light = listed("no ya me se lo la los las le nos te tampoco nunca siempre ni")
    at = next((n for n, word in enumerate(said) if word.folded not in light), len(said))
    after = said[at : at + 1]
    return any(word.folded in FINITE["es"] for word in (*said[:1], *after)) and said[0].folded not in ("la", "los")


def _done(said: Sequence[Word], language: Language) -> bool:
    """ "The pdfs are deleted": what is said to be so may be what shall be; "she moved to Spain" is over, and in "she
    sent photos packed in a zip" the deed tells of which.
    """
    deeds = {"remove", "move", "rename", "pack", "unpack", "create"}
    over = next((word.folded for word in said[1:] if _finite(word, language)), "")
    return not (language == "en" and over in OVER) and any(
        {*word.concepts} & deeds
        and word.folded not in ADJECTIVES
        and before.folded not in PERSONS[language] | ARTICLES  # "she moved", "a zip of photos"
        for before, word in pairwise((said[0], *said))
    )


WHICH = listed("was that which lo das")
""" "Alles was älter als drei Jahre ist": which of all, and no statement."""
SUBJECTLESS = listed("hab habe have had got")
WAS = listed("war bin hatte")
NOT_ANY = listed("kein keine keinen no nix nie")
""" "Hab keinen Bock": who says so is who speaks."""
OVER = listed(
    "saw kept came went got said made took looked sent gave found brought bought told wrote threw held spoke rang began"
    " did arrived left started asked put"
)
"""What was done once, and by somebody: no state, and so none that is wished for."""
ARTICLES = listed("a an the ein eine einen un una")
ADJECTIVES = listed("new neu neue neuen neues neuer nueva nuevo")
