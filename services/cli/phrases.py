"""What the screen says around a turn, in the three languages that people write to Suma in.

What a turn itself says, its answer above all, comes from the platform. Commands that print data stay in English.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libs.retrieval.lexicon import Language

Phrases = Mapping["Language", str]

PLAN: Phrases = {"en": "What I will do:", "de": "Das habe ich vor:", "es": "Lo que voy a hacer:"}
CHANGES: Phrases = {"en": "changes files", "de": "ändert Dateien", "es": "cambia archivos"}
MORE: Phrases = {
    "en": "… and {n} more: say “show all”",
    "de": "… und {n} weitere: sag „zeig alle“",
    "es": "… y {n} más: di «muestra todo»",
}
MORE_CHANGES: Phrases = {
    "en": "… and {n} more: say “show all”, or `suma diff`",
    "de": "… und {n} weitere: sag „zeig alle“, oder `suma diff`",
    "es": "… y {n} más: di «muestra todo», o `suma diff`",
}
WHOLE: Phrases = {
    "en": "All of it ({size}): suma fetch {id}",
    "de": "Alles ({size}): suma fetch {id}",
    "es": "Todo ({size}): suma fetch {id}",
}
QUEUED: Phrases = {
    "en": "Before this one I still have to do: {n}",
    "de": "Vorher ist noch zu tun: {n}",
    "es": "Antes me queda por hacer: {n}",
}
KEEP: Phrases = {
    "en": "keep {keep}, remove {rest}",
    "de": "{keep} bleibt, weg kommt {rest}",
    "es": "se queda {keep}, se va {rest}",
}
CONFLICT: Phrases = {
    "en": "{name} (changed by someone else)",
    "de": "{name} (von jemand anderem geändert)",
    "es": "{name} (lo cambió otra persona)",
}
SAME: Phrases = {"en": "same as {keep}", "de": "gleich wie {keep}", "es": "igual que {keep}"}
SAYS: Phrases = {"en": "says “{text}”", "de": "dort steht „{text}“", "es": "dice «{text}»"}
PACKS: Phrases = {"en": "holds {files}: {of}", "de": "darin {files}: {of}", "es": "contiene {files}: {of}"}
FOLDER: Phrases = {"en": "a folder with {files}", "de": "ein Ordner mit {files}", "es": "una carpeta con {files}"}
FILES: Mapping[Language, tuple[str, str]] = {
    "en": ("file", "files"),
    "de": ("Datei", "Dateien"),
    "es": ("archivo", "archivos"),
}
ALL_HERE: Phrases = {"en": "all that is here", "de": "alles hier", "es": "todo lo que hay aquí"}
RIGHT_HERE: Phrases = {"en": "right here", "de": "direkt hier", "es": "aquí mismo"}
AND_MORE: Phrases = {"en": "and {n} more", "de": "und {n} weitere", "es": "y {n} más"}
BACK: Mapping[str, Phrases] = {
    "moved": {"en": "back to {path}", "de": "zurück nach {path}", "es": "de vuelta a {path}"},
    "created": {"en": "comes back", "de": "kommt zurück", "es": "vuelve"},
    "deleted": {"en": "goes again", "de": "verschwindet wieder", "es": "desaparece otra vez"},
    "changed": {"en": "back as it was", "de": "wieder wie zuvor", "es": "como estaba"},
}
"""What taking a change back does."""
COPY: Phrases = {"en": "a copy of {source}", "de": "eine Kopie von {source}", "es": "una copia de {source}"}
DIFF: Mapping[str, Mapping[Language, tuple[str, str]]] = {
    "count": {"en": ("change", "changes"), "de": ("Änderung", "Änderungen"), "es": ("cambio", "cambios")},
    "created": {"en": ("created", "created"), "de": ("neu", "neu"), "es": ("nuevo", "nuevos")},
    "changed": {"en": ("changed", "changed"), "de": ("geändert", "geändert"), "es": ("modificado", "modificados")},
    "moved": {"en": ("moved", "moved"), "de": ("verschoben", "verschoben"), "es": ("movido", "movidos")},
    "deleted": {"en": ("deleted", "deleted"), "de": ("gelöscht", "gelöscht"), "es": ("borrado", "borrados")},
}
FREED: Phrases = {"en": "{size} freed", "de": "{size} frei", "es": "{size} libres"}
CHOICES: Phrases = {"en": "[y]es, [n]o", "de": "[j]a, [n]ein", "es": "[s]í, [n]o"}
EXCLUDE: Phrases = {
    "en": "e[x]clude some",
    "de": "einige auslassen [x]",
    "es": "dejar fuera algunos [x]",
}
OTHERWISE: Phrases = {
    "en": "or say what to change",
    "de": "oder sag, was anders sein soll",
    "es": "o di qué quieres cambiar",
}
"""Words of their own take the place of what is proposed."""
SUCH_AS: Phrases = {
    "en": "or say what to change (“but not {name}”)",
    "de": "oder sag, was anders sein soll („aber nicht {name}“)",
    "es": "o di qué quieres cambiar («pero no {name}»)",
}
"""The same, with a name that is there."""
UNCLEAR: Phrases = {
    "en": "Is that a yes? Nothing is changed until you say so. To have it otherwise, say how: “only the PDFs”.",
    "de": "Ist das ein Ja? Vorher ändert sich nichts. Soll es anders sein, sag wie: „nur die PDFs“.",
    "es": "¿Es un sí? Antes no cambia nada. Si lo quieres de otra forma, di cómo: «solo los PDF».",
}
WHAT_INSTEAD: Phrases = {
    "en": "What should be different (Enter alone leaves it)",
    "de": "Was soll anders sein (Enter allein lässt es)",
    "es": "Qué debería ser distinto (solo Enter lo deja)",
}
TAKE_BELOW: Phrases = {
    "en": "Take those in subfolders?",
    "de": "Die in Unterordnern nehmen?",
    "es": "¿Tomo los de las subcarpetas?",
}
BELOW: Phrases = {"en": "in all subfolders", "de": "in allen Unterordnern", "es": "en todas las subcarpetas"}
"""What a yes to that says."""
LEAVE_OUT: Phrases = {
    "en": "Numbers to leave out, such as 1,3-5",
    "de": "Nummern, die ausgelassen werden, etwa 1,3-5",
    "es": "Números que se dejan fuera, como 1,3-5",
}
NO_NUMBER: Phrases = {"en": "{said} is no number", "de": "{said} ist keine Zahl", "es": "{said} no es un número"}
NO_SUCH: Phrases = {
    "en": "there is no {n}: choose from 1 to {most}",
    "de": "{n} gibt es nicht: wähle von 1 bis {most}",
    "es": "no hay {n}: elige de 1 a {most}",
}
ANSWER: Phrases = {
    "en": "Your answer (Enter alone drops the question)",
    "de": "Deine Antwort (Enter allein verwirft die Frage)",
    "es": "Tu respuesta (solo Enter descarta la pregunta)",
}
NUMBER_OR_WORDS: Phrases = {
    "en": "A number, or other words (Enter alone drops the question)",
    "de": "Eine Nummer oder andere Worte (Enter allein verwirft die Frage)",
    "es": "Un número u otras palabras (solo Enter descarta la pregunta)",
}
HAPPENED: Phrases = {
    "en": "[h]appened, did [n]ot happen, [l]ater",
    "de": "[g]eschehen, [n]icht geschehen, [s]päter",
    "es": "[p]asó, [n]o pasó, [l]uego",
}
HAPPENED_LETTERS: Phrases = {"en": "hnl", "de": "gns", "es": "pnl"}
"""Of yes, no and later."""
HOW_KNOWN: Phrases = {
    "en": "How do you know (optional)",
    "de": "Woher weißt du das (freiwillig)",
    "es": "Cómo lo sabes (opcional)",
}
STAYS_OPEN: Phrases = {
    "en": "Nothing was changed, and the question stays open: suma chat --session {session} asks it again.",
    "de": "Nichts wurde geändert, und die Frage bleibt offen: suma chat --session {session} stellt sie wieder.",
    "es": "Nada cambió y la pregunta queda abierta: suma chat --session {session} la repite.",
}
FIRST_THIS: Phrases = {
    "en": "Yes or no first, please; “{said}” comes right after that.",
    "de": "Bitte erst ja oder nein; „{said}“ kommt gleich danach.",
    "es": "Primero sí o no, por favor; «{said}» viene justo después.",
}
ALLOW: Phrases = {
    "en": "Suma has not worked in {folder} before. Allow it, now and later?",
    "de": "In {folder} hat Suma noch nicht gearbeitet. Darf sie das, jetzt und später?",
    "es": "Suma aún no ha trabajado en {folder}. ¿Lo permites, ahora y después?",
}
COMMIT: Phrases = {"en": "Carry this out?", "de": "Soll das geschehen?", "es": "¿Lo hago?"}
UNDO_LAST: Phrases = {
    "en": "Undo this, the last change here?",
    "de": "Diese letzte Änderung hier rückgängig machen?",
    "es": "¿Deshago este último cambio?",
}
NOTHING_TO_UNDO: Phrases = {
    "en": "Nothing was changed here that could be undone.",
    "de": "Hier wurde nichts geändert, was sich rückgängig machen ließe.",
    "es": "Aquí no se cambió nada que se pueda deshacer.",
}
UNDO_OLDER: Phrases = {
    "en": "The newest session changed nothing. Undo “{title}” in {folder}?",
    "de": "Die neueste Sitzung hat nichts geändert. „{title}“ in {folder} rückgängig machen?",
    "es": "La última sesión no cambió nada. ¿Deshago «{title}» en {folder}?",
}
STOP: Phrases = {
    "en": "Stop this? (No lets it go on without you)",
    "de": "Abbrechen? (Nein lässt es ohne dich weiterlaufen)",
    "es": "¿Lo paro? (No: sigue sin ti)",
}
STOPPED: Phrases = {
    "en": "Stopped. No file was changed.",
    "de": "Abgebrochen. Keine Datei wurde geändert.",
    "es": "Parado. Ningún archivo cambió.",
}
TOO_LATE: Phrases = {
    "en": "It was done before it could be stopped.",
    "de": "Es war getan, bevor es abgebrochen werden konnte.",
    "es": "Se hizo antes de poder pararlo.",
}
UNDO: Phrases = {
    "en": "To undo this, say: undo that (or: suma rollback {session})",
    "de": "Um es zurückzunehmen, sag: mach das rückgängig (oder: suma rollback {session})",
    "es": "Para deshacerlo, di: deshaz eso (o: suma rollback {session})",
}
MET_OTHERS: Phrases = {
    "en": "Nothing was changed: someone else was at these files meanwhile.",
    "de": "Nichts wurde geändert: Jemand anderes war inzwischen an diesen Dateien.",
    "es": "Nada cambió: otra persona tocó estos archivos entretanto.",
}
CHANGED: Mapping[str, Phrases] = {
    "committed": {"en": "Done: {n}.", "de": "Erledigt: {n}.", "es": "Hecho: {n}."},
    "rolled_back": {"en": "Undone: {n}.", "de": "Rückgängig gemacht: {n}.", "es": "Deshecho: {n}."},
    "dropped": {
        "en": "Nothing was changed; what was prepared is dropped.",
        "de": "Nichts wurde geändert; das Vorbereitete ist verworfen.",
        "es": "Nada cambió; lo preparado se descartó.",
    },
}
"""What became of the files, where no answer tells it."""
CLOSED: Mapping[str, Phrases] = {
    "expired": {
        "en": "Nobody answered in time.",
        "de": "Niemand hat rechtzeitig geantwortet.",
        "es": "Nadie respondió a tiempo.",
    },
    "superseded": {
        "en": "Something has changed meanwhile, so this is asked anew.",
        "de": "Inzwischen hat sich etwas geändert, also wird neu gefragt.",
        "es": "Entretanto algo cambió, así que se pregunta de nuevo.",
    },
    "stale": {
        "en": "That answer came too late or was not allowed.",
        "de": "Diese Antwort kam zu spät oder war nicht erlaubt.",
        "es": "Esa respuesta llegó tarde o no estaba permitida.",
    },
}
"""Ends of a question that the person did not bring about."""
STATES: Mapping[str, Phrases] = {
    "failed": {"en": "not done", "de": "nicht getan", "es": "no hecho"},
    "denied": {"en": "not done", "de": "nicht getan", "es": "no hecho"},
    "refused": {"en": "refused", "de": "abgelehnt", "es": "rechazado"},
    "skipped": {"en": "left out", "de": "ausgelassen", "es": "omitido"},
    "cancelled": {"en": "stopped", "de": "abgebrochen", "es": "parado"},
    "rolled_back": {"en": "taken back", "de": "zurückgenommen", "es": "deshecho"},
    "unknown": {"en": "nobody knows", "de": "niemand weiß es", "es": "nadie lo sabe"},
}
"""Ends of a step or a turn."""
WAITING: Mapping[str, Phrases] = {
    "message.accepted": {"en": "waiting", "de": "warte", "es": "esperando"},
    "turn.started": {"en": "reading", "de": "lese", "es": "leyendo"},
    "turn.analysed": {"en": "thinking", "de": "überlege", "es": "pensando"},
    "plan.proposed": {"en": "starting", "de": "beginne", "es": "empezando"},
    "step.changed": {"en": "working", "de": "arbeite", "es": "trabajando"},
    "approval.closed": {"en": "going on", "de": "mache weiter", "es": "sigo"},
    "workspace.changed": {"en": "answering", "de": "antworte", "es": "respondiendo"},
}
"""What is said to be under way after an event, while no step runs."""
WELCOME: Phrases = {
    "en": "Say what you want done{where}. Ctrl-D ends.",
    "de": "Sag, was zu tun ist{where}. Strg-D beendet.",
    "es": "Di qué quieres que haga{where}. Ctrl-D termina.",
}
WHERE: Phrases = {"en": " in {folder}", "de": " in {folder}", "es": " en {folder}"}
GO_ON: Phrases = {
    "en": "To go on later: suma chat --session {session}",
    "de": "Später weitermachen: suma chat --session {session}",
    "es": "Para seguir más tarde: suma chat --session {session}",
}
WITHOUT_YOU: Phrases = {
    "en": "It goes on without you: `suma chat --session {session}` comes back to it",
    "de": "Es läuft ohne dich weiter: `suma chat --session {session}` kommt darauf zurück",
    "es": "Sigue sin ti: `suma chat --session {session}` vuelve a ello",
}
SOME = re.compile(r"(?:x|exclude)(?:\s+(?P<which>[\d\s,-]+))?", re.IGNORECASE)
"""Some are left out: those that are asked for then, or the numbers that stand there."""
SHOW_ALL = re.compile(
    r"\W*(?:(?:show|list|see|zeige?|liste|mu[eé]stra(?:me)?|ense[ñn]a(?:me)?|ver|lista)(?:\W+(?:me|mir|bitte|please|por\s+favor))*)?"
    r"(?:\W*(?:all|everything|(?:all\s+of\s+)?them(?:\s+all)?|more|the\s+(?:rest|others?)|alles?|mehr|den\s+rest|die\s+(?:anderen|übrigen)"
    r"|todos?|todas|m[aá]s|el\s+resto|l[oa]s\s+(?:dem[aá]s|otr[oa]s))(?:\s+\d+)?)\W*",
    re.IGNORECASE,
)
"""All of what is asked about is to be seen first."""


def language_of(text: str, *before: str) -> Language:
    """The language of what a person wrote; where that does not tell, of what they wrote before, else the terminal's."""
    # Loaded when the first turn begins: the lexicon would hold up every other command.
    from libs.retrieval import words

    return words.language_of(text, *before) if text.strip() else spoken_here()


def formal(*texts: str) -> bool:
    """Is Sie said in these, the newest first?"""
    from libs.retrieval import formality

    return formality.formal(texts)


def formally(template: str) -> str:
    """German with Sie instead of du."""
    from libs.retrieval import formality

    return formality.formally(template)


def told_here() -> str:
    """What the terminal is set to (POSIX, 8.2); nothing where it is set to no language."""
    here = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "" if here.partition(".")[0] in ("C", "POSIX") else here


def spoken_here() -> Language:
    """The language of the terminal, English where it is none of ours."""
    match told_here()[:2]:
        case "de":
            return "de"
        case "es":
            return "es"
        case _:
            return "en"
