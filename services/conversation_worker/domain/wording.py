"""What a person is told beside a question, in the language of their request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libs.events.values import EffectClass
from libs.retrieval.lexicon import Language

Phrases = Mapping[Language, str]

COMMIT: Phrases = {
    "en": "Carry out {n} change{s}?",
    "de": "{n} Änderung{s} ausführen?",
    "es": "¿Hago {n} cambio{s}?",
}
MANY: Phrases = {"en": "s", "de": "en", "es": "s"}
CLASH: Phrases = {
    "en": "{clashes} of {n} changes conflict with what someone else did; exclude them to commit the rest",
    "de": "{clashes} von {n} Änderungen stoßen mit fremden zusammen; lass sie aus, um den Rest auszuführen",
    "es": "{clashes} de {n} cambios chocan con lo que hizo otra persona; déjalos fuera para hacer el resto",
}
TROUBLE: Phrases = {
    "en": "{title} (the last try changed nothing: {trouble})",
    "de": "{title} (der letzte Versuch hat nichts geändert: {trouble})",
    "es": "{title} (el último intento no cambió nada: {trouble})",
}
COMMIT_UNDO: Phrases = {
    "en": "This can be undone: old files are kept, and come back as they were unless someone changes them meanwhile.",
    "de": (
        "Das lässt sich rückgängig machen: Alte Dateien bleiben aufgehoben und kommen zurück, wie sie waren, wenn sie"
        " inzwischen niemand ändert."
    ),
    "es": (
        "Esto se puede deshacer: los archivos antiguos se guardan y vuelven como estaban, si nadie los cambia"
        " entretanto."
    ),
}
MORE_BELOW: Phrases = {
    "en": "{n} more in subfolders; to take them too, say: in all subfolders",
    "de": "{n} weitere in Unterordnern; sollen sie mit, sag: in allen Unterordnern",
    "es": "{n} más en subcarpetas; para tomarlos también, di: en todas las subcarpetas",
}
DENIED_IN: Phrases = {
    "en": "left out, since it says otherwise: {files}",
    "de": "nicht dabei, denn dort steht es anders: {files}",
    "es": "quedan fuera, porque dicen otra cosa: {files}",
}
SAYS: Phrases = {"en": "{path} (“{line}”)", "de": "{path} („{line}“)", "es": "{path} («{line}»)"}
UNREAD: Phrases = {
    "en": "{n} could not be looked into ({files})",
    "de": "in {n} konnte niemand hineinsehen ({files})",
    "es": "en {n} no se pudo mirar dentro ({files})",
}
STAGED: Phrases = {
    "en": "Only prepared: no file is touched until you have seen the whole difference and agreed.",
    "de": "Nur vorbereitet: Nichts ändert sich, bevor der ganze Unterschied gezeigt und gutgeheißen ist.",
    "es": "Solo preparado: nada cambia en el disco hasta que hayas visto toda la diferencia y digas que sí.",
}
FINAL: Phrases = {
    "en": "It acts outside this workspace and cannot be undone from here.",
    "de": "Es wirkt außerhalb dieses Ordners und lässt sich von hier nicht rückgängig machen.",
    "es": "Actúa fuera de esta carpeta y desde aquí no se puede deshacer.",
}
UNDO: Mapping[EffectClass, Phrases] = {
    EffectClass.PURE: {
        "en": "It changes nothing, so there is nothing to undo.",
        "de": "Es ändert nichts, also ist nichts rückgängig zu machen.",
        "es": "No cambia nada, así que no hay nada que deshacer.",
    },
    EffectClass.IDEMPOTENT: {
        "en": "Interrupted, it is tried again, and still happens once.",
        "de": "Unterbrochen wird es noch einmal versucht und geschieht doch nur einmal.",
        "es": "Si se interrumpe, se intenta otra vez, y aun así ocurre una sola vez.",
    },
    EffectClass.RECONCILABLE: {
        "en": "Interrupted, the other side is asked first whether it happened.",
        "de": "Unterbrochen wird die andere Seite zuerst gefragt, ob es geschehen ist.",
        "es": "Si se interrumpe, primero se pregunta al otro lado si ocurrió.",
    },
    EffectClass.COMPENSABLE: {
        "en": "Only if it is interrupted or cancelled is it taken back.",
        "de": "Nur wenn es unterbrochen oder abgebrochen wird, wird es zurückgenommen.",
        "es": "Solo si se interrumpe o se cancela se vuelve atrás.",
    },
    EffectClass.AT_MOST_ONCE: {
        "en": "Interrupted, it is not tried again, and someone must find out if it happened.",
        "de": "Unterbrochen wird es nicht noch einmal versucht, und jemand muss herausfinden, ob es geschehen ist.",
        "es": "Si se interrumpe, no se intenta otra vez, y alguien debe averiguar si ocurrió.",
    },
    EffectClass.STAGED: STAGED,
}
CLASS: Phrases = {
    "en": "(Effect class: {effect}.)",
    "de": "(Wirkungsklasse: {effect}.)",
    "es": "(Clase de efecto: {effect}.)",
}
DID_IT_HAPPEN: Phrases = {
    "en": "Did this happen? {what}",
    "de": "Ist das geschehen? {what}",
    "es": "¿Ocurrió esto? {what}",
}


def commit_title(said: Language, count: int, *, clashes: int, trouble: str) -> str:
    """What a person who speaks so is asked about a diff of so many changes."""
    if clashes:
        return CLASH[said].format(clashes=clashes, n=count)
    title = COMMIT[said].format(n=count, s=MANY[said] if count != 1 else "")
    return TROUBLE[said].format(title=title, trouble=trouble[:500]) if trouble else title


def commit_undo(said: Language) -> str:
    return COMMIT_UNDO[said]


def more_below(said: Language, count: int) -> str:
    """What the choice of a diff leaves out; empty where that is nothing."""
    return MORE_BELOW[said].format(n=count) if count else ""


def denied(said: Language, found: Sequence[tuple[str, str]]) -> str:
    """Files that say the opposite of what was looked for, each with its line."""
    told = ", ".join(SAYS[said].format(path=path, line=line) for path, line in found)
    return DENIED_IN[said].format(files=told)[:1000] if told else ""


def unread(said: Language, paths: Sequence[str], count: int) -> str:
    """So many documents of which nobody knows what they say, some by their names."""
    more = [] if count <= len(paths) else ["…"]
    return UNREAD[said].format(n=count, files=", ".join((*paths, *more)))[:500] if count else ""


def undo(said: Language, effect: EffectClass, *, in_workspace: bool, staged: bool) -> str:
    """How what a tool does can be undone, for a person who speaks so and is asked about it (P5)."""
    if in_workspace:
        return (STAGED if staged else UNDO[effect])[said]
    final = "" if effect in (EffectClass.PURE, EffectClass.STAGED) else f"{FINAL[said]} "
    return f"{final}{UNDO[effect][said]} {CLASS[said].format(effect=effect)}"


def did_it_happen(said: Language, what: str) -> str:
    return DID_IT_HAPPEN[said].format(what=what)[:500]
