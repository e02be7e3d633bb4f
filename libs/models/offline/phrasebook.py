"""What the offline model says, in the three languages that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
        "en": "list, create, move, copy, rename and delete files and folders",
        "de": "Dateien und Ordner auflisten, anlegen, verschieben, kopieren, umbenennen und löschen",
        "es": "listar, crear, mover, copiar, renombrar y borrar archivos y carpetas",
    },
    "search-files": {
        "en": "find files by name, size or date, and search in what they say",
        "de": "Dateien nach Name, Größe oder Datum finden und in ihrem Inhalt suchen",
        "es": "encontrar archivos por nombre, tamaño o fecha y buscar en su contenido",
    },
    "organize-by-type": {
        "en": "sort files into folders by type, by year or by month",
        "de": "Dateien nach Art, Jahr oder Monat in Ordner sortieren",
        "es": "ordenar archivos por tipo, año o mes en carpetas",
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
USES: Mapping[str, Phrases] = {
    "analyze-directory.report": {
        "en": "report what a folder holds and what takes the space",
        "de": "berichten, was in einem Ordner liegt und was den Platz braucht",
        "es": "informar de qué hay en una carpeta y qué ocupa espacio",
    },
    "archive-files.pack": {
        "en": "pack files or folders into an archive",
        "de": "Dateien oder Ordner in ein Archiv packen",
        "es": "comprimir archivos o carpetas",
    },
    "archive-files.contents": {
        "en": "show what is in an archive",
        "de": "zeigen, was in einem Archiv ist",
        "es": "mostrar qué hay en un comprimido",
    },
    "archive-files.unpack": {"en": "unpack an archive", "de": "ein Archiv entpacken", "es": "descomprimir un archivo"},
    "batch-rename.rename": {
        "en": "rename many files by one rule",
        "de": "viele Dateien nach einer Regel umbenennen",
        "es": "renombrar muchos archivos con una regla",
    },
    "explain.explain": {
        "en": "explain what a file or folder is",
        "de": "erklären, was eine Datei oder ein Ordner ist",
        "es": "explicar qué es un archivo o una carpeta",
    },
    "manage-files.list": {
        "en": "list files and folders",
        "de": "Dateien und Ordner auflisten",
        "es": "listar archivos y carpetas",
    },
    "manage-files.get_metadata": {
        "en": "tell the size and dates of a file or folder",
        "de": "Größe und Datum einer Datei oder eines Ordners sagen",
        "es": "decir el tamaño y las fechas de un archivo o una carpeta",
    },
    "manage-files.create": {
        "en": "create a folder or an empty file",
        "de": "einen Ordner oder eine leere Datei anlegen",
        "es": "crear una carpeta o un archivo vacío",
    },
    "manage-files.move": {
        "en": "move files or folders into another folder",
        "de": "Dateien oder Ordner in einen anderen Ordner verschieben",
        "es": "mover archivos o carpetas a otra carpeta",
    },
    "manage-files.copy": {
        "en": "copy files or folders",
        "de": "Dateien oder Ordner kopieren",
        "es": "copiar archivos o carpetas",
    },
    "manage-files.rename": {
        "en": "give one file or folder another name",
        "de": "einer Datei oder einem Ordner einen anderen Namen geben",
        "es": "dar otro nombre a un archivo o una carpeta",
    },
    "manage-files.delete": {
        "en": "delete files or folders",
        "de": "Dateien oder Ordner löschen",
        "es": "borrar archivos o carpetas",
    },
    "organize-by-type.sort": {
        "en": "sort files into folders by type, by year or by month",
        "de": "Dateien nach Art, Jahr oder Monat in Ordner sortieren",
        "es": "ordenar archivos por tipo, año o mes en carpetas",
    },
    "parse-content.parse": {
        "en": "read a table or a document",
        "de": "eine Tabelle oder ein Dokument lesen",
        "es": "leer una tabla o un documento",
    },
    "parse-content.count": {
        "en": "count the rows or lines of files",
        "de": "Zeilen in Dateien zählen",
        "es": "contar las filas o líneas de archivos",
    },
    "remove-duplicates.scan": {
        "en": "show which files are identical",
        "de": "zeigen, welche Dateien gleich sind",
        "es": "mostrar qué archivos son idénticos",
    },
    "remove-duplicates.remove": {
        "en": "remove identical files, keeping one of each",
        "de": "gleiche Dateien löschen, von jeder bleibt eine",
        "es": "borrar los archivos idénticos y dejar uno de cada",
    },
    "search-files.search": {
        "en": "search in what files say",
        "de": "in dem suchen, was in den Dateien steht",
        "es": "buscar en lo que dicen los archivos",
    },
    "search-files.find": {
        "en": "find files by name or kind",
        "de": "Dateien nach Namen oder Art finden",
        "es": "encontrar archivos por nombre o tipo",
    },
    "summarize.summarize": {"en": "summarize texts", "de": "Texte zusammenfassen", "es": "resumir textos"},
}
"""What each bundled tool is good for, where it is one to choose."""
HOW_TO: Phrases = {
    "en": (
        "You only asked, so I changed nothing. I can {can}: say it as a request, and I will show you first what would"
        " change."
    ),
    "de": (
        "Du hast nur gefragt, also blieb alles, wie es ist. Ich kann {can}: Sag es als Auftrag, dann zeige ich vorher,"
        " was sich ändert."
    ),
    "es": "Solo preguntaste, así que no cambié nada. Puedo {can}: pídemelo, y antes te muestro qué cambiaría.",
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
ONLY_LOOKS: Phrases = {
    "en": "Nothing is to be changed, so I just look.",
    "de": "Es soll sich nichts ändern, also sehe ich einfach nach.",
    "es": "No hay que cambiar nada, así que solo miro.",
}
THE_GIST: Phrases = {
    "en": "This is what your words come to here.",
    "de": "Darauf läuft das Gesagte hier hinaus.",
    "es": "A esto se reducen tus palabras aquí.",
}
AT_A_LOSS: Phrases = {
    "en": (
        "I still don't understand. Say it in one short sentence, for example: {examples}. A name with blanks may stand"
        " in quotation marks. Or say “no” to leave it."
    ),
    "de": (
        "Ich verstehe es immer noch nicht. Sag es in einem kurzen Satz, etwa: {examples}. Ein Name mit Leerzeichen darf"
        " in Anführungszeichen stehen. Oder sag „nein“."
    ),
    "es": (
        "Sigo sin entenderlo. Dilo en una frase corta, por ejemplo: {examples}. Un nombre con espacios puede ir entre"
        " comillas. O di «no» para dejarlo."
    ),
}
GIVEN_UP: Phrases = {
    "en": "I can't work out what this means, so I leave it; nothing was changed. Begin anew, for example: {examples}.",
    "de": "Ich finde nicht heraus, was das heißt, und lasse es; nichts wurde geändert. Fang neu an, etwa: {examples}.",
    "es": "No logro saber qué significa y lo dejo; nada cambió. Empieza de nuevo, por ejemplo: {examples}.",
}
IN_FULL: Phrases = {"en": "{n}: {names}.", "de": "{n}: {names}.", "es": "{n}: {names}."}
"""A list that was told in part, or its rest."""
NOT_DONE: Phrases = {
    "en": "That was not done: {reason}. Nothing was changed.",
    "de": "Das ist nicht geschehen: {reason}. Nichts wurde geändert.",
    "es": "Eso no se hizo: {reason}. Nada cambió.",
}
YOU_SAID_NO: Phrases = {
    "en": "Because you said no to it; nothing was changed. Say what should be different.",
    "de": "Weil du nein dazu gesagt hast; nichts wurde geändert. Sag, was anders sein soll.",
    "es": "Porque dijiste que no; nada cambió. Di qué debería ser distinto.",
}
NO_SKILL: Phrases = {
    "en": "Because nothing that I know how to do does it. I can: {can}.",
    "de": "Weil nichts, was ich kann, das tut. Ich kann: {can}.",
    "es": "Porque nada de lo que sé hacer sirve para eso. Puedo: {can}.",
}
NOT_UNDERSTOOD: Phrases = {
    "en": "Because I don't understand “{said}”, and change nothing that I don't understand.",
    "de": "Weil ich „{said}“ nicht verstehe, und was ich nicht verstehe, ändere ich nicht.",
    "es": "Porque no entiendo «{said}», y no cambio nada que no entienda.",
}
NOTHING_REFUSED: Phrases = {
    "en": "I have refused nothing. Tell me what to do.",
    "de": "Ich habe nichts abgelehnt. Sag mir, was ich tun soll.",
    "es": "No he rechazado nada. Dime qué hago.",
}
LEFT_AT_THAT: Phrases = {
    "en": "Fine, I leave it at that.",
    "de": "Gut, ich lasse es dabei.",
    "es": "De acuerdo, lo dejo así.",
}
NEAR: Phrases = {
    "en": "I still don't know what “{said}” is. Is it {names}?",
    "de": "Ich weiß immer noch nicht, was „{said}“ ist. Ist es {names}?",
    "es": "Sigo sin saber qué es «{said}». ¿Es {names}?",
}
EXAMPLES: Mapping[str, Phrases] = {
    "find": {"en": "find {word}", "de": "finde {word}", "es": "busca {word}"},
    "move": {"en": "move {file} to {folder}", "de": "verschiebe {file} nach {folder}", "es": "mueve {file} a {folder}"},
    "inside": {"en": "what is in {folder}", "de": "was ist in {folder}", "es": "qué hay en {folder}"},
    "remove": {
        "en": "delete all empty files",
        "de": "lösche alle leeren Dateien",
        "es": "borra todos los archivos vacíos",
    },
    "duplicate": {"en": "remove the duplicates", "de": "lösche die Duplikate", "es": "borra los duplicados"},
    "pack": {"en": "zip {folder}", "de": "packe {folder} in ein Zip", "es": "comprime {folder}"},
    "unpack": {"en": "unpack {archive}", "de": "entpacke {archive}", "es": "descomprime {archive}"},
    "rename": {"en": "rename {file} to {new}", "de": "benenne {file} in {new} um", "es": "renombra {file} a {new}"},
    "copy": {"en": "copy {file} to {folder}", "de": "kopiere {file} nach {folder}", "es": "copia {file} a {folder}"},
    "organize": {"en": "sort {folder} by year", "de": "sortiere {folder} nach Jahr", "es": "ordena {folder} por año"},
}
"""Requests with names of the person's own folder, each by what it wants."""
SAFE = ("find", "move", "inside")
"""Those that are shown to who spoke of none."""
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
UNKNOWN: Phrases = {
    "en": "I don't know what “{said}” means here. Can you say it differently, with a name or a kind of file?",
    "de": "Ich weiß nicht, was „{said}“ hier heißt. Kannst du es anders sagen, mit einem Namen oder einer Art?",
    "es": "No sé qué significa «{said}» aquí. ¿Puedes decirlo de otra manera, con un nombre o un tipo de archivo?",
}
PROPOSED: Phrases = {
    "en": "Do you mean: {label}? (yes, no, or say it differently)",
    "de": "Meinst du: {label}? (ja, nein, oder sag es anders)",
    "es": "¿Quieres decir: {label}? (sí, no, o dilo de otra manera)",
}
AFTER_THAT: Phrases = {
    "en": "Ask for “{said}” after that.",
    "de": "„{said}“ kannst du danach verlangen.",
    "es": "Pide «{said}» después.",
}
WHAT_ELSE: Phrases = {
    "en": "What should be different: which files, what they are called, or where they go?",
    "de": "Was soll anders sein: welche Dateien, wie sie heißen, oder wohin sie kommen?",
    "es": "¿Qué debe cambiar: qué archivos, cómo se llaman o adónde van?",
}
IN_IT: Phrases = {
    "en": "That is in it already.",
    "de": "Das ist schon dabei.",
    "es": "Eso ya está incluido.",
}
MORE_THAN_YES: Phrases = {
    "en": "A yes alone doesn't tell me that.",
    "de": "Ein Ja allein sagt mir das nicht.",
    "es": "Con un sí solo no me basta.",
}
LEFT_OUT: Phrases = {
    "en": "I don't understand “{said}” and would leave that out.",
    "de": "„{said}“ verstehe ich nicht und ließe es weg.",
    "es": "No entiendo «{said}» y lo dejaría fuera.",
}
CHOOSE: Phrases = {
    "en": "I'm not certain what “{said}” means. Which one do you mean: {choices}?",
    "de": "Ich bin nicht sicher, was „{said}“ heißt. Was meinst du: {choices}?",
    "es": "No estoy seguro de qué significa «{said}». ¿Cuál quieres decir: {choices}?",
}
DEEDS: Mapping[str, Phrases] = {
    "manage-files.delete": {"en": "delete {what}", "de": "{what} löschen", "es": "borrar {what}"},
    "manage-files.move": {"en": "move {what} {end}", "de": "{what} {end} verschieben", "es": "mover {what} {end}"},
    "manage-files.copy": {
        "en": "copy {what} {end} {called}",
        "de": "{what} {end} {called} kopieren",
        "es": "copiar {what} {end} {called}",
    },
    "manage-files.create": {"en": "create {name}", "de": "{name} anlegen", "es": "crear {name}"},
    "manage-files.rename": {
        "en": "rename {what} {called}",
        "de": "{what} umbenennen {called}",
        "es": "cambiar el nombre de {what} {called}",
    },
    "batch-rename.rename": {
        "en": "rename {what} {called}",
        "de": "{what} umbenennen {called}",
        "es": "cambiar el nombre de {what} {called}",
    },
    "organize-by-type.sort": {
        "en": "sort {what} into folders by {by}",
        "de": "{what} nach {by} in Ordner sortieren",
        "es": "ordenar {what} por {by} en carpetas",
    },
    "remove-duplicates.remove": {
        "en": "remove identical files{among}, keeping one of each",
        "de": "gleiche Dateien{among} löschen, von jeder bleibt eine",
        "es": "borrar los archivos idénticos{among} y dejar uno de cada",
    },
    "remove-duplicates.scan": {
        "en": "show which files are identical",
        "de": "zeigen, welche Dateien gleich sind",
        "es": "mostrar qué archivos son idénticos",
    },
    "archive-files.pack": {"en": "zip {what} {end}", "de": "{what} {end} packen", "es": "comprimir {what} {end}"},
    "archive-files.unpack": {
        "en": "unpack {what} {end}",
        "de": "{what} {end} entpacken",
        "es": "descomprimir {what} {end}",
    },
    "archive-files.contents": {"en": "look into {what}", "de": "in {what} hineinsehen", "es": "ver qué hay en {what}"},
    "manage-files.list": {"en": "show {what}", "de": "{what} zeigen", "es": "mostrar {what}"},
    "manage-files.get_metadata": {"en": "describe {what}", "de": "{what} beschreiben", "es": "describir {what}"},
    "search-files.find": {
        "en": "find files by name",
        "de": "Dateien nach Namen finden",
        "es": "buscar archivos por nombre",
    },
    "search-files.search": {"en": "search for {name}", "de": "nach {name} suchen", "es": "buscar {name}"},
    "analyze-directory.report": {
        "en": "tell you what is there and what takes the space",
        "de": "sagen, was da ist und was den Platz braucht",
        "es": "decirte qué hay y qué ocupa el espacio",
    },
    "parse-content.parse": {"en": "read {what}", "de": "{what} lesen", "es": "leer {what}"},
    "parse-content.count": {
        "en": "count the rows in {what}",
        "de": "die Zeilen in {what} zählen",
        "es": "contar las filas de {what}",
    },
    "explain.explain": {
        "en": "explain what {what} is",
        "de": "erklären, was {what} ist",
        "es": "explicar qué es {what}",
    },
    "summarize.summarize": {"en": "sum up {what}", "de": "{what} zusammenfassen", "es": "resumir {what}"},
}
"""What each bundled tool does, as a question proposes it."""
BY_NAME: Phrases = {
    "en": "{label}, by the year in their names",
    "de": "{label}, nach dem Jahr im Namen",
    "es": "{label}, por el año del nombre",
}
BY_CHANGE: Phrases = {
    "en": "{label}, by the date of their last change",
    "de": "{label}, nach dem Datum der letzten Änderung",
    "es": "{label}, por la fecha del último cambio",
}
BOUNDS: Mapping[str, Phrases] = {
    "larger_than": {"en": "over {value}", "de": "über {value}", "es": "de más de {value}"},
    "smaller_than": {"en": "under {value}", "de": "unter {value}", "es": "de menos de {value}"},
    "within": {"en": "from {value}", "de": "von {value}", "es": "de {value}"},
    "modified_before": {"en": "from before {value}", "de": "von vor {value}", "es": "de antes de {value}"},
    "modified_after": {"en": "since {value}", "de": "seit {value}", "es": "desde {value}"},
    "containing": {"en": "that contain {value}", "de": "mit {value} im Text", "es": "que contienen {value}"},
    "lacking": {"en": "that do not contain {value}", "de": "ohne {value} im Text", "es": "que no contienen {value}"},
    "most": {"en": "(the first {value})", "de": "(die ersten {value})", "es": "(los primeros {value})"},
}
NODES: Mapping[str, Phrases] = {
    "file": {"en": "files", "de": "Dateien", "es": "archivos"},
    "directory": {"en": "folders", "de": "Ordner", "es": "carpetas"},
    "any": {"en": "files or folders", "de": "Dateien oder Ordner", "es": "archivos o carpetas"},
}
KINDS: Mapping[str, Phrases] = {
    "Images": {"en": "images", "de": "Bilder", "es": "imágenes"},
    "Documents": {"en": "documents", "de": "Dokumente", "es": "documentos"},
    "Audio": {"en": "audio files", "de": "Audiodateien", "es": "archivos de audio"},
    "Video": {"en": "videos", "de": "Videos", "es": "vídeos"},
    "Archives": {"en": "archives", "de": "Archive", "es": "archivos comprimidos"},
    "Code": {"en": "code files", "de": "Codedateien", "es": "archivos de código"},
    "Data": {"en": "data files", "de": "Datendateien", "es": "archivos de datos"},
    "Fonts": {"en": "fonts", "de": "Schriften", "es": "fuentes"},
    "Programs": {"en": "programs", "de": "Programme", "es": "programas"},
}
"""Files of a bundled category."""
TEMPORARY: Phrases = {"en": "temporary files", "de": "temporären Dateien", "es": "archivos temporales"}
OF_KIND: Phrases = {"en": "{kinds} files", "de": "{kinds}-Dateien", "es": "archivos {kinds}"}
LIKE: Phrases = {"en": "files like {kinds}", "de": "Dateien wie {kinds}", "es": "archivos como {kinds}"}
EMPTY: Mapping[str, Phrases] = {
    "file": {"en": "empty files", "de": "leeren Dateien", "es": "archivos vacíos"},
    "directory": {"en": "empty folders", "de": "leeren Ordner", "es": "carpetas vacías"},
    "any": {"en": "empty files or folders", "de": "leeren Dateien oder Ordner", "es": "archivos o carpetas vacíos"},
}
"""Behind "the" and "no"."""
EMPTY_KIND: Phrases = {"en": "empty {what}", "de": "leeren {what}", "es": "{what} sin contenido"}
QUOTED: Phrases = {"en": "“{name}”", "de": "„{name}“", "es": "«{name}»"}
HERE: Phrases = {"en": "here", "de": "hier", "es": "aquí"}
NOR_BELOW: Phrases = {"en": ", nor in subfolders", "de": ", auch nicht in Unterordnern", "es": " ni en subcarpetas"}
AMONG_THESE: Phrases = {"en": " among {what}", "de": " unter {what}", "es": " entre {what}"}
OF_THESE: Phrases = {
    "en": "those of {named} {bound}",
    "de": "von {named} die {bound}",
    "es": "de {named}, los {bound}",
}
THE: Phrases = {"en": "the {what}", "de": "die {what}", "es": "{what}"}
ALL_HERE: Phrases = {"en": "all that is here", "de": "alles hier", "es": "todo lo que hay aquí"}
WITHIN: Phrases = {"en": "in {place}", "de": "in {place}", "es": "en {place}"}
TO: Phrases = {"en": "into {end}", "de": "nach {end}", "es": "a {end}"}
UP: Phrases = {"en": "up into the main folder", "de": "in den Hauptordner", "es": "a la carpeta principal"}
AND_GONE: Phrases = {
    "en": "{deed} and delete the originals",
    "de": "{deed} und die Originale löschen",
    "es": "{deed} y borrar los originales",
}
"""Of a deed that takes away what it is done to."""
SORTED_INTO: Phrases = {"en": "{deed} in {end}", "de": "{deed}, in {end}", "es": "{deed}, en {end}"}
CALLED: Phrases = {"en": "as {name}", "de": "als {name}", "es": "como {name}"}
IN_SERIES: Phrases = {"en": "to {first}, {second} …", "de": "in {first}, {second} …", "es": "a {first}, {second} …"}
TO_NAME: Phrases = {"en": "to {first}", "de": "in {first}", "es": "a {first}"}
SWAPPED: Phrases = {
    "en": "with {replace} instead of {find}",
    "de": "mit {replace} statt {find}",
    "es": "con {replace} en lugar de {find}",
}
RESHAPED: Phrases = {
    "en": "so that {old} becomes {new}",
    "de": "so dass aus {old} {new} wird",
    "es": "de modo que {old} pase a ser {new}",
}
WITHOUT: Phrases = {"en": "without {find}", "de": "ohne {find}", "es": "sin {find}"}
PREFIXED: Phrases = {"en": "with {text} in front", "de": "mit {text} davor", "es": "con {text} delante"}
SUFFIXED: Phrases = {"en": "with {text} at the end", "de": "mit {text} am Ende", "es": "con {text} al final"}
ENDING: Phrases = {"en": "with the ending {text}", "de": "mit der Endung {text}", "es": "con la extensión {text}"}
DATED: Phrases = {
    "en": "with the date of their last change in front",
    "de": "mit dem Datum der letzten Änderung davor",
    "es": "con la fecha del último cambio delante",
}
DATED_BY: Mapping[str, Phrases] = {
    "month": {
        "en": "with the year and month of their last change in front",
        "de": "mit Jahr und Monat der letzten Änderung davor",
        "es": "con el año y el mes del último cambio delante",
    },
    "year": {
        "en": "with the year of their last change in front",
        "de": "mit dem Jahr der letzten Änderung davor",
        "es": "con el año del último cambio delante",
    },
}
WRITTEN: Mapping[str, Phrases] = {
    "out": {
        "en": "without the date in the name",
        "de": "ohne das Datum im Namen",
        "es": "sin la fecha que llevan en el nombre",
    },
    "first": {
        "en": "with the date in the name first",
        "de": "mit dem Datum im Namen zuerst",
        "es": "con la fecha del nombre al principio",
    },
    "last": {
        "en": "with the date in the name last",
        "de": "mit dem Datum im Namen zuletzt",
        "es": "con la fecha del nombre al final",
    },
}
LETTERS: Mapping[str, Phrases] = {
    "lower": {"en": "in small letters", "de": "in Kleinbuchstaben", "es": "en minúsculas"},
    "upper": {"en": "in capital letters", "de": "in Großbuchstaben", "es": "en mayúsculas"},
    "title": {
        "en": "with a capital for each word",
        "de": "mit großem Anfang in jedem Wort",
        "es": "con mayúscula en cada palabra",
    },
    "sentence": {
        "en": "with a capital for the first word",
        "de": "mit großem Anfang",
        "es": "con mayúscula solo al principio",
    },
    "snake": {"en": "in snake_case", "de": "in snake_case", "es": "en snake_case"},
}
"""What a rule of renaming makes of names."""
BOTH: Phrases = {"en": " and ", "de": " und ", "es": " y "}
AND: Phrases = {"en": " and then ", "de": " und dann ", "es": " y luego "}
WHICH: Phrases = {
    "en": "I'm not certain what “{said}” means. Please choose: {choices}?",
    "de": "Ich bin nicht sicher, was „{said}“ heißt. Bitte wähle: {choices}?",
    "es": "No estoy seguro de qué significa «{said}». Elige: ¿{choices}?",
}
ONLY_PART: Phrases = {
    "en": "I understood only a part: not “{said}”. Shall I do the rest?",
    "de": "Ich habe nur einen Teil verstanden, „{said}“ nicht. Soll ich den Rest tun?",
    "es": "Solo entendí una parte, y no «{said}». ¿Hago el resto?",
}
OR_ELSE: Phrases = {
    "en": "(yes, no, or say it differently)",
    "de": "(ja, nein, oder sag es anders)",
    "es": "(sí, no, o dilo de otra manera)",
}
"""What can be said to "shall I do the rest"."""
WHETHER: Phrases = {
    "en": "I can't check “{said}”. Shall I do it all the same?",
    "de": "„{said}“ kann ich nicht prüfen. Soll ich es trotzdem tun?",
    "es": "No puedo comprobar «{said}». ¿Lo hago de todos modos?",
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
WHICH_JUNK: Phrases = {
    "en": "What do you mean by “{said}”: {choices}? Or say a size (over 10 MB), an age or names.",
    "de": "Was meinst du mit „{said}“: {choices}? Oder sag eine Größe (über 10 MB), ein Alter oder Namen.",
    "es": "¿Qué quieres decir con «{said}»: {choices}? O di un tamaño (más de 10 MB), una edad o nombres.",
}
JUNK: Sequence[Phrases] = (
    {"en": "the temporary files", "de": "die temporären Dateien", "es": "los archivos temporales"},
    {"en": "the empty files", "de": "die leeren Dateien", "es": "los archivos vacíos"},
    {"en": "the duplicates", "de": "die Duplikate", "es": "los duplicados"},
)
BY_YEAR_OR_MONTH: Phrases = {
    "en": "By year or by month? The date is that of the last change.",
    "de": "Nach Jahr oder nach Monat? Es gilt das Datum der letzten Änderung.",
    "es": "¿Por año o por mes? Cuenta la fecha del último cambio.",
}
UNITS: Mapping[str, Phrases] = {
    "extension_category": {"en": "type", "de": "Art", "es": "tipo"},
    "year": {"en": "year", "de": "Jahr", "es": "año"},
    "month": {"en": "month", "de": "Monat", "es": "mes"},
}
SORTED_BY: Mapping[str, Phrases] = {
    **UNITS,
    "year": {
        "en": "the year of their last change",
        "de": "dem Jahr der letzten Änderung",
        "es": "año del último cambio",
    },
    "month": {
        "en": "the month of their last change",
        "de": "dem Monat der letzten Änderung",
        "es": "mes del último cambio",
    },
    "name_year": {"en": "the year in their names", "de": "dem Jahr im Namen", "es": "el año del nombre"},
    "name_month": {"en": "the month in their names", "de": "dem Monat im Namen", "es": "el mes del nombre"},
}
"""The same of a plan, which says which date it goes by."""
BY: Phrases = {"en": "by {unit}", "de": "nach {unit}", "es": "por {unit}"}
NOT_SORTED_BY: Phrases = {
    "en": "I can't sort by “{said}”, only by type, by year or by month (of the last change). By one of these?",
    "de": "Nach „{said}“ kann ich nicht sortieren, nur nach Art, Jahr oder Monat (der letzten Änderung). Nach welchem?",
    "es": "No puedo ordenar por «{said}», solo por tipo, año o mes (del último cambio). ¿Por cuál?",
}
MEANT: Phrases = {
    "en": "There is no “{name}” right here. Do you mean {names}?",
    "de": "„{name}“ gibt es hier nicht. Meinst du {names}?",
    "es": "Aquí no hay «{name}». ¿Quieres decir {names}?",
}
EARLIER: Phrases = {
    "en": "I'm not certain what “{said}” refers to. Which files do you mean?",
    "de": "Ich bin nicht sicher, worauf sich „{said}“ bezieht. Welche Dateien meinst du?",
    "es": "No estoy seguro de a qué se refiere «{said}». ¿Qué archivos quieres decir?",
}
UNDO: Phrases = {
    "en": "The last change can be taken back, and everything is as it was before (the command is `suma rollback`).",
    "de": "Die letzte Änderung lässt sich zurücknehmen, dann ist alles wie zuvor (der Befehl ist `suma rollback`).",
    "es": "El último cambio se puede deshacer y todo queda como antes (el comando es `suma rollback`).",
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
MOVES_ORIGINALS: Phrases = {
    "en": "Moved files are no longer where they were. Say “copy” if they should stay there too, or “move” alone.",
    "de": "Verschobene Dateien sind nicht mehr, wo sie waren. Sag „kopiere“, wenn sie auch dort bleiben sollen.",
    "es": "Lo que se mueve ya no está donde estaba. Di «copia» si también debe quedarse allí, o solo «mueve».",
}
INTO_ITSELF: Phrases = {
    "en": "I can't copy “{name}” into itself. Name another folder for the copy.",
    "de": "„{name}“ kann ich nicht in sich selbst kopieren. Nenne einen anderen Ordner für die Kopie.",
    "es": "No puedo copiar «{name}» dentro de sí misma. Di otra carpeta para la copia.",
}
INSIDE_OR_NAMED: Phrases = {
    "en": "There is no “{end}” yet. Should the copy of “{name}” go {inside}, or {named}?",
    "de": "„{end}“ gibt es noch nicht. Soll die Kopie von „{name}“ {inside} oder {named}?",
    "es": "Todavía no hay «{end}». ¿La copia de «{name}» va {inside} o {named}?",
}
INSIDE: Phrases = {
    "en": "into a folder “{end}”",
    "de": "in einen Ordner „{end}“",
    "es": "a una carpeta «{end}»",
}
NAMED: Phrases = {"en": "be named “{end}”", "de": "„{end}“ heißen", "es": "se llama «{end}»"}
FOLDER: Phrases = {"en": "folder", "de": "Ordner", "es": "carpeta"}
AS: Phrases = {"en": "as", "de": "als", "es": "como"}
CREATES: Phrases = {
    "en": 'create a folder called "{name}"',
    "de": 'erstelle einen Ordner namens "{name}"',
    "es": 'crea una carpeta llamada "{name}"',
}
TAKEN: Phrases = {
    "en": "There is a “{name}” already, and I overwrite nothing. What should the copy be called?",
    "de": "„{name}“ gibt es schon, und ich überschreibe nichts. Wie soll die Kopie heißen?",
    "es": "Ya hay un «{name}», y no sobrescribo nada. ¿Cómo se debe llamar la copia?",
}
CONTRADICTS: Phrases = {
    "en": "You ask for “{said}” and also to leave it, or some of it, alone. Which is it?",
    "de": "Du willst „{said}“ und zugleich, dass ich es oder etwas davon lasse. Was gilt?",
    "es": "Pides «{said}» y también que no lo toque, o no todo. ¿Qué vale?",
}
MISSING: Mapping[str, Phrases] = {
    "files": {
        "en": "Which files? For example “all PDFs”, “the empty ones”, or a name.",
        "de": "Welche Dateien? Zum Beispiel „alle PDFs“, „die leeren“ oder ein Name.",
        "es": "¿Qué archivos? Por ejemplo «todos los PDF», «los vacíos» o un nombre.",
    },
    "file": {
        "en": "Which file? Its name will do.",
        "de": "Welche Datei? Ihr Name genügt.",
        "es": "¿Qué archivo? Basta su nombre.",
    },
    "target": {
        "en": "Into which folder? For example “into Archive”; a new one is made.",
        "de": "In welchen Ordner? Zum Beispiel „nach Archiv“; einen neuen lege ich an.",
        "es": "¿A qué carpeta? Por ejemplo «a Archivo»; si es nueva, la creo.",
    },
    "new_name": {
        "en": "What should the new name be?",
        "de": "Wie soll der neue Name lauten?",
        "es": "¿Cuál es el nuevo nombre?",
    },
    "name": {"en": "What should it be called?", "de": "Wie soll es heißen?", "es": "¿Cómo se debe llamar?"},
    "rule": {
        "en": "How should the names change? For example “Trip 1, Trip 2”, “replace a by b” or “lower case”.",
        "de": "Wie sollen die Namen werden? Etwa „Reise 1, Reise 2“, „ersetze a durch b“ oder „Kleinbuchstaben“.",
        "es": "¿Cómo deben quedar los nombres? Por ejemplo «Viaje 1, Viaje 2», «cambia a por b» o «minúsculas».",
    },
    "listed": {
        "en": "Which files? For example “all PDFs”, “the empty ones”, or a name.",
        "de": "Welche Dateien? Zum Beispiel „alle PDFs“, „die leeren“ oder ein Name.",
        "es": "¿Qué archivos? Por ejemplo «todos los PDF», «los vacíos» o un nombre.",
    },
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
