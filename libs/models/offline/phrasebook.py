"""What the offline model says, in the three languages that it reads."""

from __future__ import annotations

from collections.abc import Mapping

from libs.retrieval.lexicon import Language

Phrases = Mapping[Language, str]

GREETING: Phrases = {
    "en": "Hello! Tell me what to do with the files here, for example {examples}.",
    "de": "Hallo! Sag mir, was ich mit den Dateien hier tun soll, zum Beispiel {examples}.",
    "es": "¡Hola! Dime qué hago con los archivos de aquí, por ejemplo {examples}.",
}
CAPABILITY: Phrases = {
    "en": "I can do this with the files of this folder: {can}. Nothing changes before you have approved it.",
    "de": "Das kann ich mit den Dateien dieses Ordners: {can}. Nichts ändert sich, bevor du es erlaubt hast.",
    "es": "Esto puedo hacer con los archivos de esta carpeta: {can}. Nada cambia antes de que lo apruebes.",
}
ABILITIES: Mapping[str, Phrases] = {
    "manage-files": {
        "en": "list, create, move, rename and delete files and folders",
        "de": "Dateien und Ordner auflisten, anlegen, verschieben, umbenennen und löschen",
        "es": "listar, crear, mover, renombrar y borrar archivos y carpetas",
    },
    "search-files": {
        "en": "find files by name, size or date, and search in what they say",
        "de": "Dateien nach Name, Größe oder Datum finden und in ihrem Inhalt suchen",
        "es": "encontrar archivos por nombre, tamaño o fecha y buscar en su contenido",
    },
    "organize-by-type": {
        "en": "sort files into folders by type",
        "de": "Dateien nach Art in Ordner sortieren",
        "es": "ordenar archivos por tipo en carpetas",
    },
    "remove-duplicates": {
        "en": "find and remove duplicates",
        "de": "Duplikate finden und entfernen",
        "es": "encontrar y eliminar duplicados",
    },
    "batch-rename": {
        "en": "rename many files by one rule",
        "de": "viele Dateien nach einer Regel umbenennen",
        "es": "renombrar muchos archivos con una regla",
    },
    "archive-files": {
        "en": "pack files into an archive, unpack one, or look into it",
        "de": "Dateien in ein Archiv packen, eines entpacken oder hineinschauen",
        "es": "comprimir archivos, descomprimirlos o ver qué hay en un comprimido",
    },
    "analyze-directory": {
        "en": "report what a folder holds and what takes the space",
        "de": "berichten, was in einem Ordner liegt und was den Platz braucht",
        "es": "informar de qué hay en una carpeta y qué ocupa espacio",
    },
    "parse-content": {
        "en": "read tables and structured files such as CSV or JSON",
        "de": "Tabellen und strukturierte Dateien wie CSV oder JSON lesen",
        "es": "leer tablas y archivos estructurados como CSV o JSON",
    },
    "explain": {
        "en": "explain what a file or folder is",
        "de": "erklären, was eine Datei oder ein Ordner ist",
        "es": "explicar qué es un archivo o una carpeta",
    },
    "summarize": {
        "en": "summarize texts",
        "de": "Texte zusammenfassen",
        "es": "resumir textos",
    },
}
"""What each bundled skill is good for."""
HOW_TO: Phrases = {
    "en": "I can do that with {skill}. You only asked, so I changed nothing; say it as a request and I will plan it.",
    "de": "Das kann ich mit {skill}. Du hast nur gefragt, also blieb alles, wie es ist; sag es als Auftrag.",
    "es": "Puedo hacerlo con {skill}. Solo preguntaste, así que no cambié nada; pídemelo y lo planifico.",
}
DECLINED: Phrases = {
    "en": "I can't do that: no skill of mine covers it. You could ask {examples}.",
    "de": "Das kann ich nicht: Keine meiner Fähigkeiten deckt es ab. Du könntest sagen: {examples}.",
    "es": "No puedo hacer eso: ninguna de mis habilidades lo cubre. Podrías pedir {examples}.",
}
DANGEROUS: Phrases = {
    "en": "I won't do that: it would destroy everything here. Name the files or the folder that you mean.",
    "de": "Das mache ich nicht: Es würde hier alles zerstören. Nenne die Dateien oder den Ordner, die du meinst.",
    "es": "No haré eso: destruiría todo lo que hay aquí. Nombra los archivos o la carpeta que quieres decir.",
}
OUTSIDE: Phrases = {
    "en": "I won't touch {name}: it is outside the folder that I work in.",
    "de": "{name} fasse ich nicht an: Es liegt außerhalb des Ordners, in dem ich arbeite.",
    "es": "No tocaré {name}: está fuera de la carpeta en la que trabajo.",
}
UNDONE: Phrases = {
    "en": "I changed nothing, as you asked.",
    "de": "Ich habe nichts geändert, wie du es wolltest.",
    "es": "No cambié nada, como pediste.",
}
NOT_ALLOWED: Phrases = {
    "en": "I may not use {tool} here, so I can't do that.",
    "de": "Ich darf {tool} hier nicht benutzen, also kann ich das nicht.",
    "es": "Aquí no puedo usar {tool}, así que no puedo hacerlo.",
}
WHAT: Phrases = {
    "en": "What should I do?",
    "de": "Was soll ich tun?",
    "es": "¿Qué quieres que haga?",
}
WHAT_WITH: Phrases = {
    "en": "What should I do, exactly? I don't understand “{said}”.",
    "de": "Was genau soll ich tun? „{said}“ verstehe ich nicht.",
    "es": "¿Qué debo hacer exactamente? No entiendo «{said}».",
}
WHICH: Phrases = {
    "en": "I'm not certain what “{said}” means. Please choose: {choices}?",
    "de": "Ich bin nicht sicher, was „{said}“ heißt. Bitte wähle: {choices}?",
    "es": "No estoy seguro de qué significa «{said}». Elige: ¿{choices}?",
}
ONLY_PART: Phrases = {
    "en": "I understood only a part. I can't do “{said}”. Shall I do the rest?",
    "de": "Ich habe nur einen Teil verstanden. „{said}“ kann ich nicht. Soll ich den Rest tun?",
    "es": "Solo entendí una parte. No puedo hacer «{said}». ¿Hago el resto?",
}
SPARE_WHAT: Phrases = {
    "en": "Which files do you mean by “{said}”? Give a kind (such as PDFs), a name, or a pattern like *.pdf.",
    "de": "Welche Dateien meinst du mit „{said}“? Nenne eine Art (etwa PDFs), einen Namen oder ein Muster wie *.pdf.",
    "es": "¿Qué archivos quieres decir con «{said}»? Da un tipo (como PDF), un nombre o un patrón como *.pdf.",
}
BY_AGE_OR_SIZE: Phrases = {
    "en": "Which files are “{said}”? Give a size (over 10 MB), a time (older than 2 weeks), a count, a kind or a name.",
    "de": (
        "Welche Dateien meinst du mit „{said}“? Sag eine Größe (über 10 MB), eine Zeit (älter als 2 Wochen), eine"
        " Anzahl, eine Art oder einen Namen."
    ),
    "es": (
        "¿Qué archivos son «{said}»? Di un tamaño (más de 10 MB), un tiempo (de hace más de 2 semanas), cuántos, un"
        " tipo o un nombre."
    ),
}
MEANT: Phrases = {
    "en": "Do you mean {names}? There is no “{name}” here.",
    "de": "Meinst du {names}? „{name}“ gibt es hier nicht.",
    "es": "¿Quieres decir {names}? Aquí no hay «{name}».",
}
EARLIER: Phrases = {
    "en": "I'm not certain what “{said}” refers to. Which files do you mean?",
    "de": "Ich bin nicht sicher, worauf sich „{said}“ bezieht. Welche Dateien meinst du?",
    "es": "No estoy seguro de a qué se refiere «{said}». ¿Qué archivos quieres decir?",
}
UNDO: Phrases = {
    "en": "I can't undo a change by words; `suma rollback` takes a session back. Or say what to change.",
    "de": "Eine übernommene Änderung kann ich so nicht zurücknehmen. Sag, was ich stattdessen ändern soll.",
    "es": "No puedo deshacer así un cambio ya hecho. Dime qué debo cambiar en su lugar.",
}
NO_SUCH: Phrases = {
    "en": "There is no “{name}” here. Which one do you mean{among}?",
    "de": "„{name}“ gibt es hier nicht. Was meinst du{among}?",
    "es": "Aquí no hay «{name}». ¿Cuál quieres decir{among}?",
}
NO_SUCH_ONE: Phrases = {
    "en": "“{said}” could be several{among}. Which one?",
    "de": "„{said}“ kann mehreres heißen{among}. Was meinst du?",
    "es": "«{said}» puede ser varias cosas{among}. ¿Cuál?",
}
CONTRADICTS: Phrases = {
    "en": "You ask for “{said}” and also to leave it alone. Which is it?",
    "de": "Du willst „{said}“ und zugleich, dass ich es lasse. Was gilt?",
    "es": "Pides «{said}» y también que no lo toque. ¿Qué vale?",
}
MISSING: Mapping[str, Phrases] = {
    "files": {"en": "Which files?", "de": "Welche Dateien?", "es": "¿Qué archivos?"},
    "file": {"en": "Which file?", "de": "Welche Datei?", "es": "¿Qué archivo?"},
    "target": {"en": "Into which folder?", "de": "In welchen Ordner?", "es": "¿A qué carpeta?"},
    "new_name": {
        "en": "What should the new name be?",
        "de": "Wie soll der neue Name lauten?",
        "es": "¿Cuál es el nuevo nombre?",
    },
    "name": {"en": "What should it be called?", "de": "Wie soll es heißen?", "es": "¿Cómo se debe llamar?"},
    "rule": {
        "en": "How should the names change? For example: a prefix, other text, numbers, the date, or lower case.",
        "de": "Wie sollen die Namen werden? Etwa: ein Präfix, anderer Text, Nummern, das Datum oder Kleinbuchstaben.",
        "es": "¿Cómo deben quedar los nombres? Por ejemplo: un prefijo, otro texto, números, la fecha o minúsculas.",
    },
    "listed": {"en": "Which files?", "de": "Welche Dateien?", "es": "¿Qué archivos?"},
    "query": {"en": "What should I look for?", "de": "Wonach soll ich suchen?", "es": "¿Qué busco?"},
    "wanted": {
        "en": "Which files should I look for?",
        "de": "Welche Dateien soll ich suchen?",
        "es": "¿Qué archivos busco?",
    },
    "keep": {
        "en": "Which file of each group should stay: the newest, the oldest, or the one with the shortest path?",
        "de": "Welche Datei jeder Gruppe soll bleiben: die neueste, die älteste oder die mit dem kürzesten Pfad?",
        "es": "¿Qué archivo de cada grupo se queda: el más nuevo, el más antiguo o el de la ruta más corta?",
    },
}
REQUIRED: Phrases = {
    "en": "I need to know: {missing}.",
    "de": "Ich muss noch wissen: {missing}.",
    "es": "Necesito saber: {missing}.",
}
AMONG: Phrases = {"en": " (there are: {names})", "de": " (es gibt: {names})", "es": " (hay: {names})"}
OR: Phrases = {"en": " or ", "de": " oder ", "es": " o "}
