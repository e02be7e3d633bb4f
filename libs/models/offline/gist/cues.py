"""What people say of files that are to go, and of files that are to stay, in ever so many words.

Few who want a file gone say "delete". They are done with it, it can go, it is rubbish, they will not need it again:
"weg damit", "brauch ich nimmer", "ya no me sirven", "get shot of them". All of it is looked for in plain letters, in
every language at once, so that a mixed sentence is no trouble.
"""

from __future__ import annotations

import re

from libs.retrieval.words import fold

Cues = tuple[re.Pattern[str], ...]
FEW = r"(?:[\w']+ ){0,5}?"
"""Words between a verb and what belongs to it."""
NOT = (
    r"(?:do ?n'?t|do not|does ?n'?t|does not|did ?n'?t|no longer|never|not|sha ?n'?t|wo ?n'?t|would ?n'?t|hardly"
    r"|nobody|no one)"
)
CAN = r"(?:can|may|could|should|must|might|ought to|got to|gotta|needs? to|has to|have to|supposed to)"
KANN = r"(?:kann|konnen|konn|darf|durfen|soll|sollen|muss|mussen|konnten|konnte)"
HAU = r"(?:hau|tu|mach|raum|schaff|schmei(?:ß|ss)|wirf|werf|nimm|feg|pack|kipp|kick)"
NO = r"no (?:me |nos |le |te |lo |la |los |las |se )*"


def _cues(*forms: str) -> Cues:
    return tuple(re.compile(rf"(?<!\w)(?:{form})(?!\w)") for form in forms)


GOES = _cues(
    r"get(?:ting)? (?:shot|shut|rid|quit) (?:of|off)",
    rf"(?:throw|chuck|toss|sling|lob|boot|kick|sweep|weed|clear|clean|take|turf|fling|pitch)(?:s|ing)? {FEW}"
    r"(?:out|away|off)",
    r"(?:bin|lose|wipe|nuke|zap|shred|sack|axe) (?:em|them|it|the|those|that|these|this|all|any|every|my|me|both|off)",
    r"^\s*(?:(?:please|pls|just|and|then|so|ok|okay) )*(?:bin|ditch|trash|scrap|dump|chuck|toss|shred|lose|axe)"
    r" (?!ich |i |it\b)\w+",
    rf"{CAN} (?:[\w']+ ){{0,3}}?(?:go away|disappear|vanish|be gone"
    r"|go(?! (?:in|into|to|under|with|there|on|inside|by|at|back|beside|next|along)))",
    rf"{NOT} (?:[\w']+ ){{0,3}}?(?:need|needs|needed|needing|want|wants|wanted|wanna|miss|care (?:for|about))"
    r"(?! (?:you|to (?!have|keep|see|look|hang|hold)))",
    r"(?:throw|fling) (?:em|them|it|those|these|this|that)(?! (?:in|into|to|on|at|over|onto))",
    r"(?:no|any|much|little|not) (?:more |further |longer )?(?:use|need|good|interest|point)(?! (?:to|in))",
    r"(?:is|are|be|'s|all|just|nowt but|nothing but|pure|total|complete) (?:[\w']+ )?"
    r"(?:rubbish|junk|garbage|trash|crap|worthless|useless|obsolete|superfluous|surplus)",
    rf"(?:be|want(?:ed|s)? {FEW}|all|them|those|it) gone|gone please",
    r"(?:out|away|off) with (?:it|them|those|these|the|all)|had enough of|sick of|done with",
    rf"make {FEW}(?:go away|disappear|vanish)",
    r"(?:brauch|benotig|will|mochte|vermiss)\w* (?:\w+,? ){0,7}?"
    r"(?:nicht|nich|nimmer|nie|keine[rmn]?|niemand|kein mensch)",
    r"(?:nicht|nich|nimmer|kein\w*|niemand|nie) (?:\w+ ){0,3}?(?:brauch|benotig|gebraucht|benutz|verwend)\w*",
    rf"{HAU}\w* {FEW}(?:weg|raus|fort|in die tonne|in den mull|auf den mull)",
    r"interessier\w* (?:\w+ ){0,3}?(?:nicht|nich|nimmer|keine[nr]?|niemand\w*|kein \w+)",
    rf"{KANN} {FEW}(?:weg|raus|verschwinden|fliegen|fort|dran glauben)",
    r"(?:gehort|gehoren) (?:\w+ ){0,2}?(?:weg|raus|geloscht|entsorgt)",
    r"(?:die|den|alle) (?:anderen|ubrigen|rest|restlichen)(?: \w+)? (?:weg|raus|fort)",
    r"(?:in|auf) (?:die tonne|den mull|den papierkorb)|los ?(?:werden|sein|zuwerden)|uberflussig\w*|hinfallig"
    r"|ausgedient|(?:weg|raus|fort|ab) damit|(?:weg|raus|fort) mit"
    r"|(?:ist|sind) (?:\w+ )?mull",
    rf"{NO}(?:sirv|hac\w+ (?:ninguna )?falta|necesit|quier|interes|val[eg]|us[oa])\w*(?! (?:que|\w+r\b))",
    r"(?:me |nos |le )?sobran?(?! espacio| sitio)",
    r"fuera (?:con|todo|todos|todas|eso|esos|esas|de aqui)|fuera$|(?:pa|para) fuera|(?:los|las|lo|la) quiero fuera",
    r"(?:me |te )?(?:los|las|lo|la) (?:vol|bol|quit|borr|tir|limpi|fulmin|elimin|carg)(?:as|es|a|e)",
    r"vol[ae]l[oa]s?|vol[ae]mel[oa]s?|(?:pueden?|podes|deben?|tienen? que) (?:\w+ ){0,2}?"
    r"(?:irse|ir fuera|desaparecer|ser borrad\w+)",
    r"a la (?:basura|papelera|mierda|porra)|hac\w+ desaparecer|(?:es|son) (?:\w+ )?(?:basura|morralla)",
)
"""Said of what is to go, beside the plain words of the lexicon."""
STAYS = _cues(
    r"keep(?!s? \w+ing(?! plans?)|s? on)|keeping(?! on)|leave(?! of)|stays?|staying|remain|hang on to|hold on to",
    r"(?:still|really|only|do|will|might|may|i|we|one|he|she) (?:\w+ )?needs?(?! (?:to|you|more|room|space|some))",
    r"(?:is|are) (?:needed|important)|important ones?|matters?|do ?n'?t (?:\w+ )?touch|hands off",
    r"behalt\w*|bleib\w*|lass(?! uns)|lasst|lassen|aufheben|aufzuheben|aufbewahr\w*",
    r"(?:brauch|benotig)\w*|wichtig\w*|nicht an(?:ruhr|fass)\w*|finger weg|zahlt|gilt",
    r"me quedo|quedat\w*|quedar(?:me|nos|se)|(?:se|que|los|las) qued(?:a|an|e|en)|conserv\w*|manten\w*",
    r"guardo|(?:me )?guard(?:a|e)l[oa]s|guardame\w*|guardamos|hay que guardar",
    r"deja|dejas|dejes|dejen|dejad|dejame\w*|dejal\w*|sin tocar|(?:los|las|lo|la) toques",
    r"(?:si |las? |los? )?necesito(?! que| espacio| sitio)|importantes?",
)
"""Said of what is to stay; what is of `GOES` counts before it."""
EXCEPT = _cues(
    r"except(?:ing)?|apart from|other than|save for|but not|but for|excluding|minus",
    r"not (?:the|my|those|these|that|any|a)|nicht (?:die|der|das|den|dem|meine?)|no (?:la|las|los|el|mis?)",
    r"au(?:ß|ss)er|bis auf|ausgenommen|aber nicht|excepto|salvo|menos(?! de)|a excepcion|pero no|aparte de|quitando",
)
"""At its beginning a clause tells what stays, whatever deed it has."""
EXCEPTED = _cues(r"(?:excepted|aside|ausgenommen|exceptuad[oa]s?|aparte)\W*$")
"""The same at its end."""
NEVER = _cues(
    r"(?:do ?n'?t|do not|not|never|no) (?:\w+ ){0,2}?(?:delet\w+|remov\w+|throw\w*|bin|trash|touch|lose|be deleted)",
    rf"(?:do ?n'?t|do not|{CAN} not|must ?n'?t|should ?n'?t|never) (?:\w+ )?go",
    r"(?:nicht|nich|nix|nichts|nie) (?:\w+ ){0,2}?"
    r"(?:losch\w*|geloscht|entfern\w*|weg|wegwerf\w*|wegschmei\w*|raus)(?<!mehr weg)",
    r"(?:losch|wirf|schmei(?:ß|ss)|entfern)\w* (?:\w+ ){0,4}?(?:nicht|nich)(?! mehr)",
    r"ni (?:se te ocurra|(?:me |se )?(?:l[oa]s? )?(?:toques|tocar|mirar\w*))",
    r"(?:nothing|without|ohne|sin|nada) (?:\w+ ){0,2}?(?:delet\w+|remov\w+|zu losch\w*|borr\w*|elimin\w*|quit\w*)",
    r"no (?:me |se |los |las |lo |la |quiero que )*(?:borr|elimin|quit|tir|toc|toq|vol)\w*(?:es|as|emos|en|e)",
)
"""A deed of deleting that is ruled out: what it is said of stays."""
ONLY = _cues(
    r"only(?! (?:for|to|because|when|a|an|been|ever))|just the|nur(?! (?:fur|zum|zur|weil|wenn|so))|bloss|bloß",
    r"ausschliesslich|nada mas que",
    r"(?:solo|solamente|unicamente)(?! (?:para|por|porque|cuando|son|es|hay|un|una)(?! de cada))",
)
REST = _cues(
    r"(?:the |all the |all )?(?:rest|remaining)|everything(?: else)?|(?:all |the |all the )?others?|other files",
    r"(?:den |der |dem )?rest|alles(?: andere| ubrige)?|(?:alle |die )?(?:anderen|ubrigen)",
    r"(?:el |lo )?(?:resto|demas)|todo(?: lo demas)?|(?:las |los |todas las |todos los )(?:demas|otr[oa]s)",
)
"""All but what stays."""
OTHERS = _cues(
    r"(?:the |all the )?(?:others|other ones|rest|remaining \w+)|everything else|anything else",
    r"(?:den|der|dem) rest|alles (?:andere|ubrige)|(?:die|alle) (?:anderen|ubrigen)|alle anderen",
    r"el resto|lo demas|l[oa]s (?:demas|otr[oa]s)|todo lo demas",
)
"""What is said before one of these, in its sentence, is of something else."""
ONCE = _cues(
    r"one of (?:each|every\w*|them is|it is)|one each|one cop(?:y|ies)|only one|just one|once is enough",
    r"one is (?:enough|plenty)|(?:one from each|(?:is|are|be) (?:plenty|enough))|one (?:of each )?will do",
    r"(?:einmal|eins|eine|einer) (?:reicht|genugt|langt)|(?:nur|bloß|bloss) (?:noch )?(?:einmal|eins|eine[ns]?)",
    r"je(?:weils)? (?:nur )?(?:eine?|eins)|reicht|un[oa] (?:solo |sola )?de cada|un[oa] (?:solo|sola)|un[oa] de cada",
    r"con una? (?:vez|copia) (?:basta|vale|llega)",
    r"quedate con un[oa]|con un[oa] (?:me |nos )?(?:basta|vale|llega|sobra)",
)
"""Of what is there more than once, one is enough."""
BECAUSE = _cues(
    r"because|cos|cause|since|as i|as we|they are|they're|theyre|that's|it's just|weil|denn|die sind|das sind|sind ja",
    r"ist ja|porque|ya que|que ya|son solo|son todos|es todo",
)
"""At its beginning a clause only says why."""
EXTENDS = _cues(
    r"even|also|as well|too|including|auch|sogar|sowie|einschlie(?:ß|ss)lich|hasta en|incluso|tambien|incluid[oa]s?"
)
"""A folder beside one of these is one more, and none that narrows."""


def plain(text: str) -> str:
    """Lower case without accents, each letter in its place."""
    return "".join(_folded(letter) for letter in text).replace("’", "'")


def first(cues: Cues, text: str) -> re.Match[str] | None:
    """The first of them that is said."""
    found = [match for cue in cues if (match := cue.search(text))]
    return min(found, key=lambda match: match.start()) if found else None


def begins(cues: Cues, text: str) -> bool:
    """Does it begin with one of them?"""
    return any(cue.match(text.strip()) for cue in cues)


def spans(cues: Cues, text: str) -> list[tuple[int, int]]:
    return [match.span() for cue in cues for match in cue.finditer(text)]


def _folded(letter: str) -> str:
    told = fold(letter)
    return told if len(told) == 1 else letter
