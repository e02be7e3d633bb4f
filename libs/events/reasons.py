"""Why something was not done, in a person's words and language.

Events carry codes and English sentences, for programs and for logs. Whoever shows them to a person says what they come
to; what is not known here is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from libs.errors import Rejected

Phrases = Mapping[str, str]

POLICY: Phrases = {
    "en": "the rules here do not allow it",
    "de": "die Regeln hier erlauben es nicht",
    "es": "las reglas de aquí no lo permiten",
}
OUTSIDE: Phrases = {
    "en": "it reaches outside this folder",
    "de": "es reicht über diesen Ordner hinaus",
    "es": "sale de esta carpeta",
}
LATE: Phrases = {
    "en": "nobody answered in time",
    "de": "niemand hat rechtzeitig geantwortet",
    "es": "nadie respondió a tiempo",
}
MUCH: Phrases = {
    "en": "it would have taken too many steps",
    "de": "es hätte zu viele Schritte gebraucht",
    "es": "habría necesitado demasiados pasos",
}
LONG: Phrases = {
    "en": "it took too long",
    "de": "es hat zu lange gedauert",
    "es": "tardó demasiado",
}
AWAY: Phrases = {
    "en": "a part of Suma does not answer just now",
    "de": "ein Teil von Suma antwortet gerade nicht",
    "es": "una parte de Suma no responde ahora",
}
OTHERS: Phrases = {
    "en": "someone else was at these files meanwhile",
    "de": "jemand anderes war inzwischen an diesen Dateien",
    "es": "otra persona tocó estos archivos entretanto",
}
KNOWN: Mapping[str, Phrases] = {
    "POLICY": POLICY,
    "POLICY_DENIED": POLICY,
    "OUTSIDE_WORKSPACE": OUTSIDE,
    "COMMITTEE_REJECTED": {
        "en": "the plan did not pass its review",
        "de": "der Plan hat die Prüfung nicht bestanden",
        "es": "el plan no pasó la revisión",
    },
    "REPEATED_CALL": {
        "en": "the same step would have been done twice",
        "de": "derselbe Schritt wäre zweimal geschehen",
        "es": "el mismo paso se habría hecho dos veces",
    },
    "MAX_TOOL_CALLS": MUCH,
    "MAX_ROUNDS": MUCH,
    "MAX_WALL_TIME": LONG,
    "TIMED_OUT": LONG,
    "CALL_TIMED_OUT": LONG,
    "CONSECUTIVE_ERRORS": {
        "en": "too much of it failed",
        "de": "zu viel davon ist misslungen",
        "es": "falló demasiado",
    },
    "APPROVAL_EXPIRED": LATE,
    "CLARIFICATION_EXPIRED": LATE,
    "POLICY_UNAVAILABLE": AWAY,
    "UNAVAILABLE": AWAY,
    "SERVICE_UNAVAILABLE": AWAY,
    "MODEL_UNAVAILABLE": AWAY,
    "DEPENDENCY_UNAVAILABLE": {
        "en": "a step before it was not done",
        "de": "ein Schritt davor ist nicht geschehen",
        "es": "un paso anterior no se hizo",
    },
    "COMMIT_CONFLICT": OTHERS,
    "CONFLICT": OTHERS,
    "NO_SUCH_PATH": {
        "en": "{path} is not there",
        "de": "{path} gibt es nicht",
        "es": "{path} no existe",
    },
    "ALREADY_EXISTS": {
        "en": "{path} is there already, and nothing is replaced",
        "de": "{path} gibt es schon, und nichts wird ersetzt",
        "es": "{path} ya existe, y nada se reemplaza",
    },
    "WRONG_KIND": {
        "en": "{path} is no file of the kind that this takes",
        "de": "{path} ist nicht von der Art, die dafür nötig ist",
        "es": "{path} no es del tipo que hace falta",
    },
    "NAME_TAKEN": {
        "en": "two files would have the same name",
        "de": "zwei Dateien hätten denselben Namen",
        "es": "dos archivos tendrían el mismo nombre",
    },
    "NOT_PERMITTED": {
        "en": "the system does not let me change this file",
        "de": "das System lässt mich diese Datei nicht ändern",
        "es": "el sistema no me deja cambiar este archivo",
    },
    "NO_SPACE": {"en": "the disk is full", "de": "die Platte ist voll", "es": "el disco está lleno"},
    "BAD_ARCHIVE": {
        "en": "the archive is damaged, or of an unknown kind",
        "de": "das Archiv ist beschädigt oder unbekannter Art",
        "es": "el archivo comprimido está dañado o es de un tipo desconocido",
    },
    "LOCKED": {"en": "it has a password", "de": "es hat ein Passwort", "es": "tiene contraseña"},
    "DAMAGED": {"en": "it is damaged", "de": "es ist beschädigt", "es": "está dañado"},
    "TOO_MUCH": {
        "en": "it is more than can be done at once",
        "de": "es ist mehr, als auf einmal geht",
        "es": "es más de lo que se puede hacer de una vez",
    },
    "MAILBOX_FULL": {
        "en": "too many messages are waiting",
        "de": "zu viele Nachrichten warten schon",
        "es": "ya esperan demasiados mensajes",
    },
}
SAID: Mapping[str, Phrases] = {
    "path is outside the workspace": OUTSIDE,
    "nobody approved it in time": LATE,
    "wants left alone": {
        "en": "the plan would change what you want left alone, as I read it; say it with the names of the files",
        "de": "der Plan würde ändern, was so bleiben soll, wie ich es lese; sag es mit den Namen der Dateien",
        "es": "el plan cambiaría algo que, según lo leo, quieres dejar como está; dilo con los nombres de los archivos",
    },
    "which the request does not ask for": {
        "en": "the plan would do more than you surely asked for; say plainly what shall be done with which files",
        "de": "der Plan täte mehr, als du sicher verlangt hast; sag genau, was mit welchen Dateien geschehen soll",
        "es": "el plan haría más de lo que seguro has pedido; di claramente qué hay que hacer con qué archivos",
    },
    "which the request rules out": {
        "en": "the plan would do what you ruled out, as I read it; say it once more without the no",
        "de": "der Plan täte, was du ausgeschlossen hast, wie ich es lese; sag es noch einmal ohne das Nein",
        "es": "el plan haría algo que, según lo leo, no quieres; dilo otra vez sin el no",
    },
    "of which the request names a part": {
        "en": "the plan would take a whole folder where you named a part of it; say which files are meant",
        "de": "der Plan nähme einen ganzen Ordner, wo du einen Teil genannt hast; sag, welche Dateien gemeint sind",
        "es": "el plan tomaría una carpeta entera donde nombraste una parte; di qué archivos son",
    },
    "the request bounds": {
        "en": "the plan did not keep to the sizes or times that you said; say them once more, one after the other",
        "de": "der Plan hielt sich nicht an die Größen oder Zeiten, die du genannt hast; sag sie noch einmal einzeln",
        "es": "el plan no respetó los tamaños o fechas que dijiste; dilos otra vez, uno por uno",
    },
    "a person said no": {"en": "you said no", "de": "du hast nein gesagt", "es": "dijiste que no"},
}
"""Sentences of ours that have no code."""
ANY_RULE = "no rule allows this"
"""Policy's word where no rule has one of its own; what a rule says is told as whoever wrote it has put it."""
CODE = re.compile(r"^(?P<code>policy|[A-Z]{2,}(?:_[A-Z]+)*)(?::\s*(?P<detail>.*))?$", re.DOTALL)
PATH = re.compile(r"^(?P<path>.+?) (?:does not exist|exists already|is (?:not? |a folder)|is there already)")


def plain(error: str, language: str) -> str:
    """`CODE: sentence`, or either, as a person is told it."""
    found = CODE.match(error.strip())
    begins, detail = (found["code"].upper(), found["detail"] or "") if found else ("", error.strip())
    known = next((phrases for said, phrases in SAID.items() if said in detail), None) or KNOWN.get(begins)
    if known is None:
        return detail if detail and ("_" in begins or begins == Rejected.code) else error.strip()
    if known is POLICY and detail and detail != ANY_RULE:
        return f"{known[language]}: {detail}"
    if "{path}" not in known[language]:
        return known[language]
    named = PATH.match(detail)
    return known[language].format(path=f"“{named['path']}”") if named else detail or begins


def code(error: str) -> str | None:
    """The code that an error begins with."""
    found = CODE.match(error.strip())
    known = "POLICY_DENIED" if found and found["code"] == "policy" else found["code"] if found else None
    return known if known in KNOWN else None
