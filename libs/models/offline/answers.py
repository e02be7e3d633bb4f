"""The answer, made from what the finished steps showed. Every number is a step's own; what was not done is said too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from libs.events import reasons
from libs.events.committee import Task
from libs.events.values import Observation, StepState, refused
from libs.models.offline.choices import Choosing
from libs.retrieval.formality import formal, formally
from libs.retrieval.lexicon import Language
from libs.retrieval.words import language_of
from libs.skills import Categories

Data = Mapping[str, Any]
SHOWN, LISTED, FEWER = 10, 20, 5
"""Names told before the rest is only counted; of a list that was asked for, as many as are no burden."""
QUOTED = 200
"""Letters of a file that an answer repeats."""
UNITS = ("kB", "MB", "GB", "TB")

NOUNS: Mapping[str, Mapping[Language, tuple[str, str]]] = {
    "byte": {"en": ("byte", "bytes"), "de": ("Byte", "Byte"), "es": ("byte", "bytes")},
    "file": {"en": ("file", "files"), "de": ("Datei", "Dateien"), "es": ("archivo", "archivos")},
    "duplicate": {
        "en": ("duplicate file", "duplicate files"),
        "de": ("doppelte Datei", "doppelte Dateien"),
        "es": ("archivo duplicado", "archivos duplicados"),
    },
    "folder": {"en": ("folder", "folders"), "de": ("Ordner", "Ordner"), "es": ("carpeta", "carpetas")},
    "in_folder": {"en": ("folder", "folders"), "de": ("Ordner", "Ordnern"), "es": ("carpeta", "carpetas")},
    "subfolder": {
        "en": ("subfolder", "subfolders"),
        "de": ("Unterordner", "Unterordner"),
        "es": ("subcarpeta", "subcarpetas"),
    },
    "item": {"en": ("item", "items"), "de": ("Eintrag", "Einträge"), "es": ("elemento", "elementos")},
    "group": {"en": ("group", "groups"), "de": ("Gruppe", "Gruppen"), "es": ("grupo", "grupos")},
    "row": {"en": ("row", "rows"), "de": ("Zeile", "Zeilen"), "es": ("fila", "filas")},
    "line": {"en": ("line", "lines"), "de": ("Zeile", "Zeilen"), "es": ("línea", "líneas")},
    "document": {
        "en": ("document", "documents"),
        "de": ("Dokument", "Dokumente"),
        "es": ("documento", "documentos"),
    },
    "page": {"en": ("page", "pages"), "de": ("Seite", "Seiten"), "es": ("página", "páginas")},
    "slide": {"en": ("slide", "slides"), "de": ("Folie", "Folien"), "es": ("diapositiva", "diapositivas")},
    "paragraph": {"en": ("paragraph", "paragraphs"), "de": ("Absatz", "Absätze"), "es": ("párrafo", "párrafos")},
    "chapter": {"en": ("chapter", "chapters"), "de": ("Kapitel", "Kapitel"), "es": ("capítulo", "capítulos")},
    "word": {"en": ("word", "words"), "de": ("Wort", "Wörter"), "es": ("palabra", "palabras")},
    "change": {"en": ("change", "changes"), "de": ("Änderung", "Änderungen"), "es": ("cambio", "cambios")},
    "step": {"en": ("step", "steps"), "de": ("Schritt", "Schritte"), "es": ("paso", "pasos")},
}
CATEGORIES: Mapping[str, Mapping[Language, str]] = {
    "Images": {"de": "Bilder", "es": "imágenes"},
    "Documents": {"de": "Dokumente", "es": "documentos"},
    "Audio": {"de": "Audio", "es": "audio"},
    "Video": {"de": "Video", "es": "vídeo"},
    "Archives": {"de": "Archive", "es": "comprimidos"},
    "Code": {"de": "Code", "es": "código"},
    "Data": {"de": "Daten", "es": "datos"},
    "Fonts": {"de": "Schriften", "es": "fuentes"},
    "Programs": {"de": "Programme", "es": "programas"},
    "Other": {"de": "Sonstiges", "es": "otros"},
}
"""The bundled categories (`organize-by-type`), as they are called beside their names on the disk."""
SENTENCES: Mapping[str, Mapping[Language, str]] = {
    "deduplicated": {
        "en": "Removed {files} (saved {bytes}).",
        "de": "{files} entfernt ({bytes} gespart).",
        "es": "Eliminé {files} ({bytes} ahorrados).",
    },
    "sorted": {
        "en": "Organized {files} into {folders}.",
        "de": "{files} in {folders} einsortiert.",
        "es": "Organicé {files} en {folders}.",
    },
    "duplicates": {
        "en": "Found {groups} of identical files: {files} could go, which would save {bytes}.",
        "de": "{groups} gleicher Dateien gefunden: {files} könnten weg, das spart {bytes}.",
        "es": "Encontré {groups} de archivos idénticos: sobran {files}, lo que ahorraría {bytes}.",
    },
    "duplicates_one": {
        "en": "Found {groups} of identical files: {files} could go, which would save {bytes}.",
        "de": "{groups} gleicher Dateien gefunden: {files} könnte weg, das spart {bytes}.",
        "es": "Encontré {groups} de archivos idénticos: sobra {files}, lo que ahorraría {bytes}.",
    },
    "unique": {"en": "There are no duplicates.", "de": "Es gibt keine Duplikate.", "es": "No hay duplicados."},
    "unique_among": {
        "en": "There are no duplicates among these: {what} {where}{but}.",
        "de": "Darunter gibt es keine Duplikate: {what} {where}{but}.",
        "es": "Entre estos no hay duplicados: {what} {where}{but}.",
    },
    "but": {"en": ", without {names}", "de": ", ohne {names}", "es": ", sin {names}"},
    "holds": {
        "en": "There are {files} in {folders} ({bytes}).",
        "de": "Es sind {files} in {folders} ({bytes}).",
        "es": "Hay {files} en {folders} ({bytes}).",
    },
    "single": {"en": "There is {files} ({bytes}).", "de": "Es ist {files} ({bytes}).", "es": "Hay {files} ({bytes})."},
    "flat": {"en": "There are {files} ({bytes}).", "de": "Es sind {files} ({bytes}).", "es": "Hay {files} ({bytes})."},
    "kinds": {"en": "By kind: {kinds}.", "de": "Nach Art: {kinds}.", "es": "Por tipo: {kinds}."},
    "largest": {"en": "Largest: {paths}.", "de": "Am größten: {paths}.", "es": "Los más grandes: {paths}."},
    "surplus_one": {
        "en": "1 of them has the same content as another ({bytes}).",
        "de": "1 davon hat denselben Inhalt wie eine andere ({bytes}).",
        "es": "1 tiene el mismo contenido que otro ({bytes}).",
    },
    "surplus": {
        "en": "{files} of them have the same content as another ({bytes}).",
        "de": "{files} davon haben denselben Inhalt wie eine andere ({bytes}).",
        "es": "{files} tienen el mismo contenido que otro ({bytes}).",
    },
    "listed": {"en": "{items}: {paths}.", "de": "{items}: {paths}.", "es": "{items}: {paths}."},
    "deeper": {
        "en": "In subfolders ({folders}) there is more like this: {files}. Say “in all subfolders” to include it.",
        "de": "In Unterordnern ({folders}) gibt es mehr davon: {files}. Sag „in allen Unterordnern“ dazu.",
        "es": "En subcarpetas ({folders}) hay más así: {files}. Di «en todas las subcarpetas» para incluirlos.",
    },
    "only_below": {
        "en": "No {what} {where}, but {n} in subfolders ({folders}): all of these?",
        "de": "Keine {what} {where}, aber {n} in Unterordnern ({folders}): alle davon?",
        "es": "No hay {what} {where}, pero sí {n} en subcarpetas ({folders}): ¿todos esos?",
    },
    "none": {"en": "No {what} {where}.", "de": "Keine {what} {where}.", "es": "No hay {what} {where}."},
    "nothing": {"en": "Nothing was found.", "de": "Nichts gefunden.", "es": "No encontré nada."},
    "lacking": {
        "en": "No name and no text here has {words}.",
        "de": "Kein Name und kein Text hier enthält {words}.",
        "es": "Ningún nombre ni texto de aquí contiene {words}.",
    },
    "fewer": {
        "en": "Only one of the words: {paths}.",
        "de": "Nur eins der Wörter: {paths}.",
        "es": "Solo una de las palabras: {paths}.",
    },
    "elsewhere": {
        "en": "Also in files that are called otherwise: {paths}.",
        "de": "Auch in anders benannten Dateien: {paths}.",
        "es": "También en archivos con otro nombre: {paths}.",
    },
    "matched": {"en": "Found in {files}:", "de": "Gefunden in {files}:", "es": "Encontrado en {files}:"},
    "otherwise": {
        "en": "Left out, since it says otherwise: {files}.",
        "de": "Nicht dabei, denn dort steht es anders: {files}.",
        "es": "Quedan fuera, porque dicen otra cosa: {files}.",
    },
    "line": {"en": "{path} (“{line}”)", "de": "{path} („{line}“)", "es": "{path} («{line}»)"},
    "unread": {
        "en": "Not looked into: {files} ({why}).",
        "de": "Nicht hineingeschaut: {files} ({why}).",
        "es": "Sin mirar dentro: {files} ({why}).",
    },
    "unread_too_large": {"en": "too large", "de": "zu groß", "es": "demasiado grande"},
    "unread_locked": {"en": "with a password", "de": "mit Passwort", "es": "con contraseña"},
    "unread_damaged": {"en": "damaged", "de": "beschädigt", "es": "dañado"},
    "unread_older_form": {"en": "of an older form", "de": "in einem älteren Format", "es": "en un formato antiguo"},
    "unread_no_words": {
        "en": "without text, perhaps scanned",
        "de": "ohne Text, vielleicht eingescannt",
        "es": "sin texto, quizá escaneado",
    },
    "unread_later": {
        "en": "for lack of time; ask again",
        "de": "aus Zeitmangel; frag noch einmal",
        "es": "por falta de tiempo; pregunta otra vez",
    },
    "stale": {
        "en": "{files} changed since they were indexed, so this may be incomplete.",
        "de": "{files} haben sich seit der Aufnahme in den Index geändert, also fehlt vielleicht etwas.",
        "es": "{files} cambiaron desde que se indexaron, así que puede faltar algo.",
    },
    "deleted": {"en": "Deleted {items}: {paths}.", "de": "{items} gelöscht: {paths}.", "es": "Borré {items}: {paths}."},
    "has_word": {
        "en": "That is: they say {word}.",
        "de": "Das heißt: {word} steht darin.",
        "es": "Es decir: dicen {word}.",
    },
    "lacks_word": {
        "en": "That is: {word} is not said there, or is denied; I can't tell more than that.",
        "de": "Das heißt: {word} steht nicht darin oder wird verneint; mehr sehe ich nicht.",
        "es": "Es decir: no dicen {word}, o lo niegan; más no puedo saber.",
    },
    "moved": {"en": "Moved {items}.", "de": "{items} verschoben.", "es": "Moví {items}."},
    "moved_up": {
        "en": "Moved {items} up into the main folder.",
        "de": "{items} in den Hauptordner verschoben.",
        "es": "Moví {items} a la carpeta principal.",
    },
    "moved_into": {
        "en": "Moved {items} into {folder}.",
        "de": "{items} nach {folder} verschoben.",
        "es": "Moví {items} a {folder}.",
    },
    "copied_into": {
        "en": "Copied {files} ({bytes}) into {folder}.",
        "de": "{files} ({bytes}) nach {folder} kopiert.",
        "es": "Copié {files} ({bytes}) en {folder}.",
    },
    "copied_as": {
        "en": "Copied {files} ({bytes}): {names}.",
        "de": "{files} ({bytes}) kopiert: {names}.",
        "es": "Copié {files} ({bytes}): {names}.",
    },
    "taken_names": {
        "en": "Names that were taken: {names}.",
        "de": "Vergebene Namen: {names}.",
        "es": "Nombres ya usados: {names}.",
    },
    "not_copied": {
        "en": "There was nothing to copy.",
        "de": "Es gab nichts zu kopieren.",
        "es": "No había nada que copiar.",
    },
    "created": {"en": "Created {paths}.", "de": "{paths} angelegt.", "es": "Creé {paths}."},
    "renamed": {"en": "Renamed to {paths}.", "de": "Umbenannt in {paths}.", "es": "Renombrado a {paths}."},
    "kept_names": {
        "en": "No name had to change.",
        "de": "Kein Name musste sich ändern.",
        "es": "Ningún nombre tenía que cambiar.",
    },
    "renamed_many": {
        "en": "Renamed {files}: {names}.",
        "de": "{files} umbenannt: {names}.",
        "es": "Cambié el nombre de {files}: {names}.",
    },
    "packed": {
        "en": "Packed {files} ({bytes}) into {archive} ({packed}).",
        "de": "{files} ({bytes}) in {archive} gepackt ({packed}).",
        "es": "Empaqueté {files} ({bytes}) en {archive} ({packed}).",
    },
    "packed_away": {
        "en": "What was packed is deleted: {paths}.",
        "de": "Das Gepackte ist gelöscht: {paths}.",
        "es": "Lo empaquetado está borrado: {paths}.",
    },
    "holds_entries": {
        "en": "The archive holds {files} ({bytes}): {paths}.",
        "de": "Das Archiv enthält {files} ({bytes}): {paths}.",
        "es": "El archivo comprimido contiene {files} ({bytes}): {paths}.",
    },
    "holds_nothing": {
        "en": "The archive is empty.",
        "de": "Das Archiv ist leer.",
        "es": "El archivo comprimido está vacío.",
    },
    "unpacked": {
        "en": "Unpacked {files} ({bytes}) into {target}.",
        "de": "{files} ({bytes}) nach {target} entpackt.",
        "es": "Descomprimí {files} ({bytes}) en {target}.",
    },
    "unpacked_here": {
        "en": "Unpacked {files} ({bytes}) right here.",
        "de": "{files} ({bytes}) direkt hierher entpackt.",
        "es": "Descomprimí {files} ({bytes}) aquí mismo.",
    },
    "parsed": {
        "en": "It is {format} with {rows}.",
        "de": "Es ist {format} mit {rows}.",
        "es": "Es {format} con {rows}.",
    },
    "together": {"en": "Together: {rows}.", "de": "Zusammen: {rows}.", "es": "En total: {rows}."},
    "uncounted": {
        "en": "There are no rows to count in {paths}.",
        "de": "Keine Zeilen zum Zählen in {paths}.",
        "es": "No hay filas que contar en {paths}.",
    },
    "fields": {"en": "Fields: {fields}.", "de": "Felder: {fields}.", "es": "Campos: {fields}."},
    "headed": {"en": "In it: {fields}.", "de": "Darin: {fields}.", "es": "Contiene: {fields}."},
    "wordless": {
        "en": "There are no words in it that can be read; its pages may be pictures.",
        "de": "Darin steht kein Text, der sich lesen lässt; vielleicht sind die Seiten Bilder.",
        "es": "No tiene texto que se pueda leer; quizá sus páginas sean imágenes.",
    },
    "in_part": {
        "en": "Only the beginning was read, so there is more.",
        "de": "Nur der Anfang wurde gelesen, es gibt also mehr.",
        "es": "Solo leí el principio, así que hay más.",
    },
    "begins": {"en": "It begins: {text}", "de": "Es beginnt: {text}", "es": "Empieza: {text}"},
    "is_a": {"en": "{path}: {kind}, {bytes}.", "de": "{path}: {kind}, {bytes}.", "es": "{path}: {kind}, {bytes}."},
    "is_folder": {
        "en": "{path} is a folder with {files} ({bytes}).",
        "de": "{path} ist ein Ordner mit {files} ({bytes}).",
        "es": "{path} es una carpeta con {files} ({bytes}).",
    },
    "belied": {
        "en": "Its bytes say otherwise, though: {looks}.",
        "de": "Sein Inhalt sieht aber anders aus: {looks}.",
        "es": "Pero su contenido dice otra cosa: {looks}.",
    },
    "changed_at": {
        "en": "Last changed on {day}.",
        "de": "Zuletzt geändert am {day}.",
        "es": "Último cambio el {day}.",
    },
    "contains": {"en": "In it: {what}.", "de": "Darin: {what}.", "es": "Contiene: {what}."},
    "pixels": {
        "en": "It is {width} by {height} pixels.",
        "de": "Es hat {width} mal {height} Pixel.",
        "es": "Mide {width} por {height} píxeles.",
    },
    "gist": {
        "en": "{path} ({words}), in its own words:",
        "de": "{path} ({words}), in eigenen Worten:",
        "es": "{path} ({words}), en sus propias palabras:",
    },
    "no_text": {
        "en": "There is no text to summarise in {paths}.",
        "de": "In {paths} steht kein Text, der sich zusammenfassen ließe.",
        "es": "No hay texto que resumir en {paths}.",
    },
    "committed": {
        "en": "{changes} committed.",
        "de": "{changes} übernommen.",
        "es": "{changes}: confirmado.",
    },
    "left_out": {"en": "{n} left out.", "de": "{n} ausgelassen.", "es": "{n}: omitido."},
    "refused": {
        "en": "Nothing was changed: the changes were not approved.",
        "de": "Nichts wurde geändert: Die Änderungen wurden nicht erlaubt.",
        "es": "Nada cambió: los cambios no se aprobaron.",
    },
    "spared": {
        "en": "Nothing was changed: all of it was left out.",
        "de": "Nichts wurde geändert: Alles wurde ausgelassen.",
        "es": "Nada cambió: se dejó fuera todo.",
    },
    "undone": {"en": "Not done: {what}.", "de": "Nicht getan: {what}.", "es": "No hecho: {what}."},
    "idle": {"en": "I did nothing.", "de": "Ich habe nichts getan.", "es": "No hice nada."},
    "more": {"en": "and {n} more", "de": "und {n} weitere", "es": "y {n} más"},
    "rest": {
        "en": "Say “show the rest” to see them all.",
        "de": "Sag „zeig den Rest“, um alle zu sehen.",
        "es": "Di «muestra el resto» para verlos todos.",
    },
}


def answer(task: Task, categories: Categories) -> tuple[str, ...]:
    """The sentences of the answer, in the language of the request, with what stands between them."""
    before = [exchange.text for exchange in reversed(task.history)]
    speaker = Speaker(language_of(task.text, *before), categories, formal=formal((task.text, *before)))
    told: list[str] = []
    for seen in _worth_telling(task.observations):
        done = seen.tool in CHANGES and not _idle(seen)
        told += [one for one in speaker.told(seen) if done or one not in told]
    told += [speaker.say("refused")] if _refused(task.observations) else []
    told = told or [speaker.say("idle")]
    told += [*_left_below(speaker, task.observations), *_left_unsaid(speaker, task.observations)]
    return (told[0], *(f"{chr(10) if chr(10) in before else ' '}{one}" for before, one in pairwise(told)))


def _left_below(say: Speaker, seen: Sequence[Observation]) -> list[str]:
    """What a list of one folder leaves unsaid: more of the same in subfolders. Who said no has been told before."""
    if _refused(seen):
        return []
    lists = [step.data for step in seen if step.state is StepState.SUCCEEDED and isinstance(step.data, Mapping)]
    found = [_mapping(data, "deeper") for data in lists if not data.get("sought")]
    told = ((_further(say, more), say.names(_list(more, "folders"))) for more in found if more)
    return list(dict.fromkeys(say.say("deeper", files=files, folders=folders) for files, folders in told))


def _left_unsaid(say: Speaker, seen: Sequence[Observation]) -> list[str]:
    """What a choice by what files say leaves out: those that say otherwise, and those that nobody could look into."""
    if _refused(seen):
        return []
    chosen = [step.data for step in seen if step.tool in LISTS and isinstance(step.data, Mapping)]
    told = (
        one
        for data in chosen
        for one in (_otherwise(say, _mapping(data, "denied")), _unread(say, _mapping(data, "unread")))
    )
    looked = not any(step.tool in CHANGES for step in seen)
    by = [_chosen_by(say, _mapping(data, "by")) for data in chosen if looked and _list(data, "nodes")]
    return list(dict.fromkeys(one for one in (*by, *told) if one))


def _chosen_by(say: Speaker, by: Data) -> str:
    """That a word alone decided: who has paid and not written so has not paid, for all that we can see."""
    if not by:
        return ""
    return say.say("lacks_word" if by.get("lacks") else "has_word", word=say.choosing.quoted(str(by.get("word"))))


LISTS = ("manage-files.list",)


def _otherwise(say: Speaker, denied: Data) -> str:
    lines = [say.say("line", path=say.name(path), line=str(line)) for path, line in denied.items()]
    return say.say("otherwise", files=say.joined(lines, FEWER)) if lines else ""


def _further(say: Speaker, more: Data) -> str:
    noun = {"any": "item", "directory": "folder"}.get(str(more.get("node_kind")), "file")
    return say.count(noun, _number(more, "count"))


def _refused(seen: Sequence[Observation]) -> bool:
    """Did a person say no, at a step or to the whole difference, so that nothing was changed?"""
    settled = [step for step in seen if step.tool == COMMIT and isinstance(step.data, Mapping)]
    if settled:
        return not any(_number(step.data, "operations") or _number(step.data, "left_out") for step in settled)
    changed = any(step.tool in CHANGES and step.state is StepState.SUCCEEDED and not _idle(step) for step in seen)
    return not changed and any(map(_denied, seen))


def _denied(step: Observation) -> bool:
    return refused(step.state, step.error)


def _idle(step: Observation) -> bool:
    """A change that had nothing to do."""
    done = step.tool in CHANGES and step.state is StepState.SUCCEEDED
    return done and isinstance(step.data, Mapping) and not any(step.data.values())


def _worth_telling(seen: Sequence[Observation]) -> list[Observation]:
    """Every change and failure, and the reads that no later change took up. Of a change that had nothing to do, only
    what was looked for; of what a person refused nothing.
    """
    done = [step for step in seen if step.state is StepState.SUCCEEDED]
    empty = [step for step in done if _mapping(step.data or {}, "sought")]
    unwanted = [step for step in seen if step.state is StepState.ROLLED_BACK or _denied(step)] if _refused(seen) else []
    changed = {step.tool for step in (*done, *unwanted)}
    taken = {read for read, change in TAKEN_UP if change in changed}
    asked = [step for step in done if step.tool in taken and not _serves(step, done)]
    if any(step.tool == COMMIT and isinstance(step.data, Mapping) and step.data.get("left_out") for step in done):
        # They tell what was planned, of which the person left something out.
        taken |= CHANGES
    quiet = [step for step in done if (empty and _idle(step)) or (step.tool in taken and step not in (*empty, *asked))]
    quiet += [*unwanted, *(step for step in done if unwanted and step.tool == COMMIT)]
    return [step for step in seen if step not in quiet]


def _serves(read: Observation, seen: Sequence[Observation]) -> bool:
    """Is it about files that were changed? Of changes that do not say their files, whoever looked looked for them."""
    nodes = {*map(str, _list(read.data or {}, "nodes"))}
    changed = [step for step in seen if step.tool in CHANGES and not _idle(step)]
    files = [_changed(step.data or {}) for step in changed]
    return not nodes or not files or any(not paths or _within(paths, nodes) for paths in files)


def _within(paths: set[str], nodes: set[str]) -> bool:
    return any(path in nodes or any(above in nodes for above in _above(path)) for path in paths)


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:n]) for n in range(1, len(parts)))


def _changed(data: Data) -> set[str]:
    """The files that a change says it was about, as they were before."""
    told = [one for name in ("deleted", "moved", "copied", "renamed") for one in _list(data, name)]
    told += [one] if (one := _mapping(data, "renamed")) else []
    return {str(one["from"] if isinstance(one, Mapping) else one) for one in told}


TAKEN_UP = (
    ("remove-duplicates.scan", "remove-duplicates.remove"),
    ("manage-files.list", "organize-by-type.sort"),
    ("manage-files.list", "manage-files.move"),
    ("manage-files.list", "manage-files.copy"),
    ("manage-files.list", "manage-files.delete"),
    ("manage-files.get_metadata", "manage-files.delete"),
    ("manage-files.list", "batch-rename.rename"),
    ("manage-files.list", "archive-files.pack"),
    ("manage-files.list", "summarize.summarize"),
    ("manage-files.list", "parse-content.count"),
    ("search-files.find", "manage-files.move"),
    ("search-files.find", "manage-files.copy"),
    ("search-files.find", "manage-files.delete"),
    ("search-files.find", "batch-rename.rename"),
    ("search-files.find", "archive-files.pack"),
    ("search-files.find", "summarize.summarize"),
    ("archive-files.contents", "archive-files.unpack"),
)
"""Reads that only served a change, which tells more."""
COMMIT = "workspace.commit"
CHANGES = frozenset(
    {change for _, change in TAKEN_UP} | {"manage-files.create", "manage-files.rename", "batch-rename.rename"}
)


class Speaker:
    """Says what a step showed, in one language."""

    def __init__(self, language: Language, categories: Categories, *, formal: bool = False) -> None:
        self._language: Language = language
        self._formal = formal and language == "de"
        self.choosing = Choosing(language, categories, self.size)

    def told(self, seen: Observation) -> list[str]:
        if seen.state is not StepState.SUCCEEDED:
            why = f" ({reasons.plain(seen.error, self._language)})" if seen.error else ""
            return [self.say("undone", what=f"{seen.description.rstrip('.')}{why}")]
        speak = SPEAKERS.get(seen.tool)
        if speak is None or not seen.data:
            return [seen.summary or seen.description]
        return [sentence for sentence in speak(self, seen.data) if sentence]

    def say(self, sentence: str, **values: str) -> str:
        template = SENTENCES[sentence][self._language]
        return (formally(template) if self._formal else template).format(**values)

    def count(self, noun: str, number: int) -> str:
        one, many = NOUNS[noun][self._language]
        return f"{self.number(number)} {one if number == 1 else many}"

    def kind(self, category: str) -> str:
        """A category of files by its usual name; one that is not bundled has its own."""
        return CATEGORIES.get(category, {}).get(self._language, category)

    def number(self, value: float) -> str:
        """`1,234` in English, `1.234` elsewhere; one decimal where there is one."""
        said = f"{value:,.1f}" if value % 1 else f"{value:,.0f}"
        return said if self._language == "en" else said.translate(str.maketrans(",.", ".,"))

    def size(self, number: int) -> str:
        """Bytes as people say them, in steps of 1000."""
        if number < 1000:
            return self.count("byte", number)
        value, unit = number / 1000, 0
        while value >= 999.5 and unit < len(UNITS) - 1:
            value, unit = value / 1000, unit + 1
        return f"{self.number(round(value, 1) if value < 10 else float(round(value)))} {UNITS[unit]}"

    def sought(self, args: Data) -> dict[str, str]:
        """What was to be found, and where."""
        return {"what": self.choosing.what(args), "where": self.choosing.where(args)}

    def name(self, path: object) -> str:
        """A path as it stands in a sentence: with blanks in it, in quotes."""
        said = str(path)
        return self.choosing.quoted(said) if " " in said else said

    def names(self, paths: Sequence[object]) -> str:
        return self.joined([*map(self.name, paths)])

    def joined(self, told: Sequence[object], most: int = SHOWN) -> str:
        """The first of them, and how many more there are."""
        shown = ", ".join(map(str, told[:most]))
        rest = len(told) - most
        return f"{shown}, {self.say('more', n=self.number(rest))}" if rest > 0 else shown


def _deduplicated(say: Speaker, data: Data) -> list[str]:
    if not _files(data, "deleted"):
        return [say.say("unique")]
    return [
        say.say(
            "deduplicated",
            files=say.count("duplicate", _files(data, "deleted")),
            bytes=say.size(_number(data, "bytes")),
        )
    ]


def _sorted(say: Speaker, data: Data) -> list[str]:
    folders = len(_list(data, "folders")) or len({_parent(move) for move in _list(data, "moved")})
    return [say.say("sorted", files=say.count("file", _files(data, "moved")), folders=say.count("subfolder", folders))]


def _unique(say: Speaker, sought: Data) -> str:
    """That there are no duplicates, and where this was looked at, if not everywhere."""
    if not sought:
        return say.say("unique")
    left = _list(sought, "exclude")
    return say.say("unique_among", **say.sought(sought), but=say.say("but", names=say.names(left)) if left else "")


def _scanned(say: Speaker, data: Data) -> list[str]:
    groups = len(_list(data, "groups"))
    if not groups:
        return [_unique(say, _mapping(data, "sought"))]
    files, saved = say.count("file", _number(data, "files")), say.size(_number(data, "bytes"))
    head = say.say(
        "duplicates" if _number(data, "files") > 1 else "duplicates_one",
        groups=say.count("group", groups),
        files=files,
        bytes=saved,
    )
    alike = [f"- {say.names(paths)}" for group in _list(data, "groups") if (paths := _list(group, "paths"))]
    rest = [f"- {say.say('more', n=say.number(len(alike) - SHOWN))}"] if len(alike) > SHOWN else []
    return ["\n".join((head, *alike[:SHOWN], *rest))]


def _reported(say: Speaker, data: Data) -> list[str]:
    told = [_measured(say, data)]
    kinds = sorted(_mapping(data, "by_category").items(), key=lambda kind: (-_number(kind[1], "files"), kind[0]))
    if kinds:
        counted = [
            f"{say.kind(kind)} {say.number(_number(held, 'files'))} ({say.size(_number(held, 'bytes'))})"
            for kind, held in kinds
        ]
        told.append(say.say("kinds", kinds=", ".join(counted)))
    largest = [f"{say.name(big['path'])} ({say.size(_number(big, 'size'))})" for big in _list(data, "largest")[:3]]
    if largest:
        told.append(say.say("largest", paths=", ".join(largest)))
    surplus = _mapping(data, "duplicates")
    if _number(surplus, "files"):
        many, size = _number(surplus, "files"), say.size(_number(surplus, "bytes"))
        told.append(say.say("surplus" if many > 1 else "surplus_one", files=say.number(many), bytes=size))
    return told


def _listed(say: Speaker, data: Data) -> list[str]:
    nodes = _list(data, "nodes")
    if not nodes:
        return [_none(say, data)]
    sizes = [say.size(size) for size in _list(data, "sizes")] or _list(data, "days")
    names = [*map(say.name, nodes)]
    named = [f"{path} ({told})" if told else path for path, told in zip(names, sizes, strict=False)] if sizes else names
    paths = say.joined(named, LISTED)
    listed = say.say("listed", items=say.count("item", _number(data, "count") or len(nodes)), paths=paths)
    whole = sum(_list(data, "sizes")) if len(_list(data, "sizes")) == len(nodes) > 1 else 0
    return [
        listed,
        say.say("together", rows=say.size(whole)) if whole else "",
        say.say("rest") if len(named) > LISTED else "",
    ]


def _none(say: Speaker, data: Data) -> str:
    """Nothing, of what, and where; what is in subfolders is asked about."""
    more, sought = _mapping(data, "deeper"), _mapping(data, "sought")
    if not sought:
        return say.say("nothing")
    if not more:
        return say.say("none", **say.sought(sought))
    n, folders = say.number(_number(more, "count")), say.names(_list(more, "folders"))
    return say.say("only_below", n=n, folders=folders, **say.sought(sought))


def _searched(say: Speaker, data: Data) -> list[str]:
    matches = _list(data, "matches")
    lines = [f"- {match['path']}: {match.get('excerpt', '')}".rstrip(": ") for match in matches[:SHOWN]]
    rest = [f"- {say.say('more', n=say.number(len(matches) - SHOWN))}"] if len(matches) > SHOWN else []
    more = say.say("rest") if rest else ""
    stale = _number(data, "stale")
    head = say.say("matched", files=say.count("file", len(matches))) if matches else say.say("nothing")
    missing = [say.choosing.quoted(str(word)) for word in _list(data, "missing")]
    return [
        "\n".join((head, *lines, *rest)),
        more,
        _besides(say, "fewer", _mapping(data, "fewer")),
        _besides(say, "elsewhere", _mapping(data, "elsewhere")),
        say.say("lacking", words=", ".join(missing)) if missing else "",
        _unread(say, _mapping(data, "unread")),
        say.say("stale", files=say.count("file", stale)) if stale else "",
    ]


def _besides(say: Speaker, what: str, data: Data) -> str:
    """The files that have one of several words, where others have more of them; or that were not asked about."""
    number, named = int(_number(data, "count")), _list(data, "paths")[:FEWER]
    more = [say.say("more", n=say.number(number - len(named)))] if number > len(named) else []
    return say.say(what, paths=", ".join([*map(say.choosing.quoted, named), *more])) if named else ""


def _unread(say: Speaker, data: Data) -> str:
    """The documents that were not looked into, and why."""
    reasons = [(f"unread_{why}", int(number)) for why, number in sorted(_mapping(data, "why").items())]
    told = [f"{say.number(number)} {say.say(why)}" for why, number in reasons if why in SENTENCES]
    number = _number(data, "count")
    return say.say("unread", files=say.count("document", number), why=", ".join(told)) if number and told else ""


def _described(say: Speaker, data: Data) -> list[str]:
    return [_measured(say, data)]


def _measured(say: Speaker, data: Data) -> str:
    files, folders = _number(data, "files"), _number(data, "directories")
    how = "holds" if folders else "single" if files == 1 else "flat"
    size = say.size(_number(data, "bytes"))
    return say.say(how, files=say.count("file", files), folders=say.count("in_folder", folders), bytes=size)


def _deleted(say: Speaker, data: Data) -> list[str]:
    paths = _list(data, "deleted")
    return (
        [say.say("deleted", items=say.count("item", len(paths)), paths=say.names(paths))]
        if paths
        else [say.say("nothing")]
    )


def _moved(say: Speaker, data: Data) -> list[str]:
    if not _files(data, "moved") and not _list(data, "moved"):
        return [say.say("nothing")]
    moved = _list(data, "moved")
    items = say.count("item", len(moved) or _number(data, "files"))
    places = {_parent(move["to"]) for move in moved} or {""}
    if len(places) > 1 or "" in places:
        return [say.say("moved", items=items)]
    place = places.pop()
    how = "moved_up" if place in ("", ".") else "moved_into"
    return [say.say(how, items=items, folder=say.name(place))]


def _copied(say: Speaker, data: Data) -> list[str]:
    """Where to, where all keep their names or nearly all; else each with its new one."""
    copied = _list(data, "copied")
    if not copied:
        return [say.say("not_copied")]
    files = _number(data, "files")
    what = say.count("file", files) if files else say.count("folder", _number(data, "folders"))
    size = say.size(_number(data, "bytes"))
    renamed = [copy for copy in copied if _base(copy["from"]) != _base(copy["to"])]
    places = {_parent(copy["to"]) for copy in copied}
    if len(places) > 1 or "" in places or len(renamed) == len(copied):
        return [say.say("copied_as", files=what, bytes=size, names=say.joined([_arrow(copy) for copy in copied]))]
    told = say.say("copied_into", files=what, bytes=size, folder=say.name(places.pop()))
    return [told, say.say("taken_names", names=say.joined([_arrow(copy) for copy in renamed])) if renamed else ""]


def _created(say: Speaker, data: Data) -> list[str]:
    return [say.say("created", paths=say.names(_list(data, "created")))]


def _committed(say: Speaker, data: Data) -> list[str]:
    made, left = _number(data, "operations"), _number(data, "left_out")
    told = [
        say.say("committed", changes=say.count("change", made)) if made else say.say("spared" if left else "refused")
    ]
    return [
        *told,
        say.say("left_out", n=say.count("change", left)) if left and made else "",
        *map(str, _list(data, "warnings")),
    ]


def _renamed(say: Speaker, data: Data) -> list[str]:
    return [say.say("renamed", paths=say.name(data.get("path", "")))]


def _renamed_many(say: Speaker, data: Data) -> list[str]:
    renamed = [f"{change['from']} → {_base(change['to'])}" for change in _list(data, "renamed")]
    if not renamed:
        return [say.say("kept_names")]
    return [say.say("renamed_many", files=say.count("file", len(renamed)), names=say.joined(renamed))]


def _packed(say: Speaker, data: Data) -> list[str]:
    if not _number(data, "files"):
        return [say.say("nothing")]
    files, size = say.count("file", _number(data, "files")), say.size(_number(data, "bytes"))
    packed, deleted = say.size(_number(data, "packed_bytes")), _list(data, "deleted")
    told = say.say("packed", files=files, bytes=size, archive=say.name(data.get("archive", "")), packed=packed)
    return [told, say.say("packed_away", paths=say.names(deleted)) if deleted else ""]


def _contained(say: Speaker, data: Data) -> list[str]:
    entries = [entry["path"] for entry in _list(data, "entries")]
    if not entries:
        return [say.say("holds_nothing")]
    files, size = say.count("file", _number(data, "files")), say.size(_number(data, "bytes"))
    return [say.say("holds_entries", files=files, bytes=size, paths=say.names(entries))]


def _unpacked(say: Speaker, data: Data) -> list[str]:
    files, size = say.count("file", _number(data, "files")), say.size(_number(data, "bytes"))
    target = str(data.get("target", ""))
    return [say.say("unpacked_here" if target == "." else "unpacked", files=files, bytes=size, target=say.name(target))]


def _parsed(say: Speaker, data: Data) -> list[str]:
    fields, text = _list(data, "fields"), " ".join(str(data.get("text", "")).split())
    unit = str(data.get("unit", ""))
    unit = "line" if data.get("format") in LINED else unit if unit in NOUNS else "row"
    return [
        say.say("parsed", format=str(data.get("format", "")), rows=say.count(unit, _number(data, "rows"))),
        say.say("headed" if unit not in ("row", "line") else "fields", fields=say.joined(fields)) if fields else "",
        say.say("in_part") if data.get("complete") is False else "",
        say.say("begins", text=_short(text)) if text else say.say("wordless") if unit not in ("row", "line") else "",
    ]


def _counted(say: Speaker, data: Data) -> list[str]:
    """Each file's, and of several in one unit the sum."""
    counts, unread = _list(data, "counts"), _list(data, "unread")
    told = [_rows_of(say, one) for one in counts]
    rest = [say.say("more", n=say.number(len(told) - SHOWN))] if len(told) > SHOWN else []
    units = {_unit(one) for one in counts}
    whole = say.count(units.pop(), _number(data, "rows")) if len(told) > 1 and len(units) == 1 else ""
    return [
        "\n".join(f"- {line}" for line in (*told[:SHOWN], *rest)) if len(told) > 1 else "".join(f"{t}." for t in told),
        say.say("together", rows=whole) if whole else "",
        say.say("uncounted", paths=say.names(unread)) if unread else "" if told else say.say("nothing"),
    ]


def _rows_of(say: Speaker, one: Mapping[str, Any]) -> str:
    rows = say.count(_unit(one), _number(one, "rows"))
    part = f" ({say.say('in_part').rstrip('.')})" if one.get("complete") is False else ""
    return f"{say.name(one['path'])}: {rows}{part}"


LINED = ("plain text", "Markdown")
"""Forms of which every row is a line."""


def _unit(counted: Mapping[str, Any]) -> str:
    return str(counted["unit"]) if counted["unit"] in NOUNS else "row"


def _explained(say: Speaker, data: Data) -> list[str]:
    holds, path, size = _mapping(data, "holds"), say.name(data.get("path", "")), say.size(_number(data, "size"))
    if data.get("node_kind") == "directory":
        head = say.say("is_folder", path=path, files=say.count("file", _number(holds, "files")), bytes=size)
    else:
        head = say.say("is_a", path=path, kind=str(data.get("kind", "")), bytes=size)
    belied = data.get("agrees") is False
    day = str(data.get("modified_at") or "")[:10]
    inside = _list(holds, "headings") or _list(holds, "fields") or _list(holds, "names")
    wide, high = _number(holds, "width"), _number(holds, "height")
    return [
        head,
        say.say("belied", looks=str(data.get("looks_like", ""))) if belied else "",
        say.say("changed_at", day=day) if day else "",
        say.say("pixels", width=say.number(wide), height=say.number(high)) if wide and high else "",
        say.say("contains", what=say.joined(inside)) if inside else "",
        say.say("begins", text=_short(str(holds["begins"]))) if holds.get("begins") else "",
    ]


def _summarised(say: Speaker, data: Data) -> list[str]:
    silent = _list(data, "without_text")
    told = [
        "\n".join(
            (
                say.say("gist", path=say.name(found["path"]), words=say.count("word", _number(found, "words"))),
                *(f"- {sentence}" for sentence in _list(found, "sentences")),
            )
        )
        for found in _list(data, "summaries")
    ]
    return [*told, say.say("no_text", paths=say.names(silent)) if silent else "" if told else say.say("nothing")]


SPEAKERS: Mapping[str, Callable[[Speaker, Data], list[str]]] = {
    "remove-duplicates.remove": _deduplicated,
    "remove-duplicates.scan": _scanned,
    "organize-by-type.sort": _sorted,
    "analyze-directory.report": _reported,
    "search-files.search": _searched,
    "workspace.commit": _committed,
    "search-files.find": _listed,
    "manage-files.list": _listed,
    "manage-files.get_metadata": _described,
    "manage-files.delete": _deleted,
    "manage-files.move": _moved,
    "manage-files.copy": _copied,
    "manage-files.create": _created,
    "manage-files.rename": _renamed,
    "batch-rename.rename": _renamed_many,
    "archive-files.pack": _packed,
    "archive-files.contents": _contained,
    "archive-files.unpack": _unpacked,
    "parse-content.parse": _parsed,
    "parse-content.count": _counted,
    "explain.explain": _explained,
    "summarize.summarize": _summarised,
}
"""How each bundled tool's result is told; any other tool's summary is told as it is."""


def _files(data: Data, listed: str) -> int:
    return _number(data, "files") if "files" in data else len(_list(data, listed))


def _number(data: object, key: str) -> int:
    value = data.get(key, 0) if isinstance(data, Mapping) else 0
    return int(value) if isinstance(value, int | float) else 0


def _list(data: Data, key: str) -> list[Any]:
    value = data.get(key)
    return list(value) if isinstance(value, list | tuple) else []


def _mapping(data: Data, key: str) -> Data:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _parent(move: object) -> str:
    target = move.get("target", "") if isinstance(move, Mapping) else move
    return str(target).rpartition("/")[0]


def _arrow(change: Mapping[str, Any]) -> str:
    return f"{change['from']} → {change['to']}"


def _base(path: object) -> str:
    return str(path).rpartition("/")[2]


def _short(text: str) -> str:
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
