"""What words mean: the synonyms by which a request is matched, in English, German and Spanish.

A concept has forms by language: `stem*` takes any ending, `_` joins the words of a phrase. They are written as
`libs.retrieval.words.fold` leaves them, in lower case and without accents. It is a table on purpose: a new synonym is
one word here.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "de", "es"]

CONCEPTS: dict[str, dict[Language, str]] = {
    # What to do.
    "remove": {
        "en": (
            "remove removes kill removed removing removal delete deletes deleted deleting deletion erase* eliminate"
            " discard* drop trash get_rid_of getting_rid_of throw_away throw_out purge* dedup* de_duplicate"
            " de_dupe rid"
        ),
        "de": "losch* loesch* entfern* beseitig* weg wegwerfen raus deduplizier*",
        "es": "borra* borre* elimina* elimine* quita quitar quite suprim* deduplica* tira",
    },
    "organize": {
        "en": (
            "organize* organise* organizing organising organization sort sorts sorted sorting arrange* arranging"
            " group grouped grouping categori* classify classif* order ordering structure"
        ),
        "de": ("sortier* ordne ordnen ordnet organisier* gruppier* einsortier* strukturier* kategorisier* einordnen"),
        "es": "organiza* organice* ordena ordenar ordenalos ordene clasifica* clasifique* agrupa* agrupe*",
    },
    "report": {
        "en": (
            "report reports reporting analyz* analys* summary summari* overview statistic* stats inspect* survey"
            " breakdown what_is_there what_is_here what_is_in what_s_in what_s_there what_s_here whats_in"
            " whats_there whats_here what_is_inside what_s_inside what_do_i_have what_have_i_got what_i_have"
            " what_there_is what_is_left what_s_left what_remains how_many how_much count disk_usage space_used"
            " using_space taking_up takes_up take_up describe"
        ),
        "de": (
            "bericht* analys* statistik* ubersicht uebersicht uberblick ueberblick zusammenfass* was_ist_da"
            " was_ist_hier was_ist_drin was_da_ist was_hier_ist was_drin_ist was_liegt_hier was_hier_liegt"
            " was_gibt_es was_es_gibt was_da_liegt was_ist_in was_ubrig was_noch_da wie_viele wie_viel wieviele"
            " wieviel belegt was_habe_ich"
        ),
        "es": (
            "analiza* analice* analisis informe* informa resum* estadistic* que_hay lo_que_hay que_tengo"
            " que_queda cuantos cuantas cuanto cuanta describe ocupa"
        ),
    },
    "list": {
        "en": "list lists listing show shows display ls dir which_files what_files view print_out",
        "de": "liste listet zeig* auflist* welche_dateien anzeigen",
        "es": "lista listar listame muestra* mostrar ensena* que_archivos que_ficheros",
    },
    "find": {
        "en": (
            "find finds finding search searches searching look_for looking_for locate where_is where_are where_s hunt"
        ),
        "de": "such suche suchen sucht durchsuch* finde finden findet wo_ist wo_sind wo_liegt",
        "es": "busca buscar buscame busque encuentra* encontrar halla localiza* donde_esta donde_estan",
    },
    "move": {
        "en": "move moves moved moving put puts shift transfer relocate",
        "de": "verschieb* bewege bewegen leg lege legen pack packe",
        "es": "mueve* mover mueva pon poner ponlos traslada* lleva",
    },
    "rename": {
        "en": "rename renames renamed renaming change_the_name call",
        "de": "umbenenn* benenn* umzubenennen nenne",
        "es": "renombra* renombre* cambia_el_nombre cambiar_el_nombre",
    },
    "create": {
        "en": "create creates creating make makes new add mkdir",
        "de": "erstell* anlegen anleg* erzeug* neu neue neuen neues mach mache",
        "es": "crea crear cree haz hacer nueva nuevo",
    },
    "clean": {
        "en": (
            "clean cleans cleaned cleaning cleanup tidy tidying declutter neaten spruce free_up make_space"
            " make_room save_space mess_up in_order sort_out"
        ),
        "de": (
            "aufraum* aufraeum* raum* raeum* saubere saubern saeubere bereinig* platz_schaffen platz_machen platz"
            " ordnung"
        ),
        "es": "limpia* limpiar limpie limpieza ordenada libera* liberar espacio",
    },
    "change": {
        "en": "change changes changing modify modifying alter altering",
        "de": "ander andern veranderst verandern verandere aendere aendern",
        "es": "cambia cambies cambiar cambie modifica* modifique*",
    },
    "keep": {
        "en": "keep keeps keeping retain preserve",
        "de": "behalt* behalte behaelt",
        "es": "conserva* conserve* manten* mantener guarda quedate",
    },
    # What it is about.
    "duplicate": {
        "en": (
            "duplicat* dupe dupes dups copies identical same_file same_files same_content double doubles doubled"
            " redundant twins dedup* de_duplicate de_dupe twice"
        ),
        "de": "duplikat* doppelt* dublette* kopien identisch* mehrfach deduplizier* doppelgang*",
        "es": "duplicad* repetid* copias identic* redundante* dobles deduplica*",
    },
    "type": {
        "en": "type types kind kinds category categories extension extensions filetype filetypes format formats",
        "de": "typ typen art arten dateityp* dateiart* kategorie* endung* dateiendung*",
        "es": "tipo tipos categoria* clase clases extension* formato*",
    },
    "content": {
        "en": (
            "mention mentions mentioning contain contains containing about content contents word words phrase"
            " text_of saying says"
        ),
        "de": "enthalt* enthaelt enthalten erwahn* erwaehn* inhalt* vorkomm* uber ueber wort",
        "es": "contiene* contengan mencion* contenido* palabra hablan sobre",
    },
    "name": {
        "en": "name names named called title titled",
        "de": "name namen namens genannt heisst heissen benannt",
        "es": "nombre nombres llamad* llama titulad*",
    },
    "size": {
        "en": "size sizes big bigger biggest large larger largest small smaller smallest huge heavy heaviest",
        "de": "grosse grossen groesse grosser grossere grosste grossten klein* riesig*",
        "es": "tamano* grande grandes pequen* pesado*",
    },
    "age": {
        "en": (
            "old older oldest new newer newest recent latest last_year last_month last_week yesterday today date"
            " dates ago since age before year years month months week weeks day days outdated modified"
        ),
        "de": (
            "alt alte alten alter alteste* aelteste* neueste* neuste* letzte* gestern heute datum jahr* monat*"
            " woche* tage veraltet*"
        ),
        "es": "viejo* vieja* antiguo* antigua* reciente* ayer hoy fecha* ano anos mes meses semana* dia dias",
    },
    "empty": {
        "en": "empty",
        "de": "leer leere leeren leerer",
        "es": "vacio* vacia*",
    },
    "junk": {
        "en": "junk garbage clutter rubbish crap unneeded unnecessary useless unused unwanted temporary",
        "de": "mull muell kram unnotig* unnoetig* uberflussig*",
        "es": "basura inutil* innecesari*",
    },
    # Which files: the categories of organize-by-type.
    "images": {
        "en": "image images picture pictures photo photos pic pics",
        "de": "bild bilder bildern foto fotos",
        "es": "imagen imagenes foto fotos fotografia*",
    },
    "documents": {
        "en": "document documents doc docs",
        "de": "dokument dokumente dokumenten",
        "es": "documento documentos",
    },
    "audio": {
        "en": "audio music song songs mp3s",
        "de": "musik lieder audiodateien",
        "es": "musica canciones cancion",
    },
    "video": {
        "en": "video videos movie movies film films clips",
        "de": "filme",
        "es": "peliculas pelicula",
    },
    "archives": {
        "en": "archives zips zip tarballs",
        "de": "archive archiven",
        "es": "comprimidos",
    },
    "code": {
        "en": "scripts source_code",
        "de": "quellcode skripte",
        "es": "codigo",
    },
    "fonts": {
        "en": "fonts font",
        "de": "schriften schriftarten",
        "es": "fuentes",
    },
    "programs": {
        "en": "installers programs executables",
        "de": "programme",
        "es": "programas instaladores",
    },
    # How, and how not.
    "not": {
        "en": "not don_t dont do_not never no without neither nor cannot nothing none",
        "de": "nicht kein keine keinen keinem keiner nie niemals ohne nichts",
        "es": "no sin nunca jamas ni nada",
    },
    "except": {
        "en": (
            "except excluding exclude excepting apart_from other_than ignoring ignore skip skipping besides"
            " but_not all_but everything_but all_except spare spares"
        ),
        "de": "ausser ausgenommen ignorier* uberspring*",
        "es": "excepto salvo menos ignora* excluye* excluyendo",
    },
    "untouched": {
        "en": ("alone touch touching untouched leave where_they_are where_it_is as_they_are as_it_is as_is in_place"),
        "de": "in_ruhe anfassen anruhr* unberuhrt unangetastet",
        "es": "en_paz toques tocar toca intact*",
    },
    "only": {
        "en": "only just solely exclusively nothing_but",
        "de": "nur ausschliesslich bloss",
        "es": "solo solamente unicamente",
    },
    "all": {
        "en": "all everything every each whole entire anything any",
        "de": "alle alles allen aller gesamte* ganze ganzen jede* samtliche*",
        "es": "todo todos toda todas cualquier",
    },
    "recursive": {
        "en": (
            "recursively recursive all_subfolders in_subfolders its_subfolders including_subfolders"
            " and_subfolders everywhere"
        ),
        "de": "rekursiv allen_unterordnern uberall",
        "es": "recursiv* todas_las_subcarpetas",
    },
    "newest": {
        "en": "newest latest most_recent newer",
        "de": "neueste* neuste* aktuellste* jungste*",
        "es": "mas_nuevo mas_nueva mas_nuevos mas_reciente mas_recientes",
    },
    "oldest": {
        "en": "oldest earliest original originals",
        "de": "alteste* aelteste* original*",
        "es": "mas_antiguo mas_antigua mas_viejo original*",
    },
    "shortest": {
        "en": "shortest",
        "de": "kurzeste* kuerzeste*",
        "es": "mas_corto mas_corta",
    },
    "then": {
        "en": "then afterwards afterward after_that next finally lastly",
        "de": "dann danach anschliessend schliesslich",
        "es": "luego despues entonces finalmente",
    },
    "first": {
        "en": "first firstly",
        "de": "zuerst zunachst",
        "es": "primero",
    },
    "wellknown": {
        "en": "downloads desktop",
        "de": "schreibtisch",
        "es": "descargas escritorio",
    },
    "here": {
        "en": "here this there these those it them current",
        "de": "hier dieser diesen dieses diesem dies da sie es",
        "es": "aqui esta este estos estas ahi los las",
    },
    "file": {
        "en": "file files item items things thing stuff",
        "de": "datei dateien sachen dinge",
        "es": "archivo archivos fichero ficheros cosas",
    },
    "folder": {
        "en": "folder folders directory directories dir subfolder subfolders subdirectory subdirectories",
        "de": "ordner ordnern verzeichnis verzeichnisse unterordner unterordnern mappe",
        "es": "carpeta carpetas directorio directorios subcarpeta subcarpetas",
    },
    # What no skill does.
    "foreign": {
        "en": (
            "email emails mail send weather browse internet website translate translation compress archive unzip"
            " extract play print buy book phone encrypt decrypt convert resize crop edit install uninstall execute"
            " command sudo curl wget ssh scp google upload download copy clone paste share deploy joke poem story"
            " recipe news stock stocks crypto shutdown reboot wipe shred virus password passwords chmod chown"
            " mount tweet schedule remind calendar bash shell powershell"
        ),
        "de": (
            "maile sende senden schick* wetter ubersetz* uebersetz* komprimier* packe_ein drucke drucken kaufe"
            " bestell* verschlussel* konvertier* wandle bearbeit* installier* kopiere kopieren herunterlad*"
            " hochlad* formatier* witz gedicht nachrichten ruf"
        ),
        "es": (
            "envia* enviar correo tiempo_hace clima traduce* traducir comprime* comprimir imprim* compra*"
            " reproduce* cifra* convierte* convertir edita* instala* copia copiar descarga* sube subir formatea*"
            " chiste poema noticias llama_a"
        ),
    },
    "greeting": {
        "en": ("hello hi hey hiya howdy greetings thanks thank good_morning good_evening good_afternoon bye goodbye"),
        "de": "hallo moin servus danke guten_tag guten_morgen guten_abend tschuss gruss",
        "es": "hola gracias buenos_dias buenas adios",
    },
    "capability": {
        "en": (
            "what_can_you_do what_can_you who_are_you what_are_you how_do_you_work what_do_you_do are_you_able"
            " can_you_do your_skills your_capabilities help help_me capabilities"
        ),
        "de": "was_kannst_du wer_bist_du was_bist_du hilfe kannst_du_was",
        "es": "que_puedes_hacer que_sabes_hacer quien_eres que_eres ayuda ayudame",
    },
}

FILLERS: dict[Language, str] = {
    "en": (
        "a an the i me my mine we us our you your yourself please pls plz kindly could can would will shall"
        " should may might want wanna need like d ll s t re ve m am is are was were be been being to of from for"
        " in into on onto at by with within inside under as and or also too so that which who whom have has had do"
        " does did go going gonna let lets now just ok okay hey tell give quickly fast asap really very nicely"
        " neatly properly carefully thoroughly completely kinda bit some up out over off if when while than what"
        " how why where there their its he she they his her one two both lot lots many much more most according"
        " based depending using via per pretty love great nice thing way maybe perhaps well suma again remaining"
        " rest left got get gets place sure thank stuff damn bloody hell fucking fuck bro man dude mate sir gently"
        " simply look looks actually exactly later soon time moment separate own different appropriate respective"
        " matching after before such remote remotely"
    ),
    "de": (
        "der die das den dem des ein eine einen einem einer eines ich mir mich mein meine meinen meinem meiner"
        " wir uns unser du dir dich dein deine bitte mal doch und oder auch so dass ob von vom zu zum zur in im"
        " ins an am auf aus bei mit nach um fur fuer durch ist sind war sein hat haben habe kannst konntest"
        " koenntest konnen wurdest wuerdest soll sollst will mochte moechte brauche jetzt schnell einfach noch"
        " schon sehr ganz ihre ihren ihrem sich sag sage gib ja nein gerne gern bisschen etwas dort drin"
        " entsprechend jeweils ubrig ubrigen restlichen rest vorhanden lass lasse befinde befinden liegt liegen"
    ),
    "es": (
        "el la lo los las un una unos unas yo me mi mis tu tus te se su sus nos y e o u de del al a en por para"
        " con que si ya muy favor porfavor porfa puedes puede podrias podria quiero quisiera necesito es son era"
        " ser estar hay ha he has dime di dame ahora rapido bien tambien asi pero como cada ella ello ellos segun"
        " resto restantes demas deja dejar le les"
    ),
}
"""Words that say nothing about what is to be done."""

EXTENSIONS = (
    "pdf pdfs:pdf jpg jpgs:jpg jpeg jpegs:jpeg png pngs:png gif gifs:gif txt csv csvs:csv xlsx docx pptx mp3 mp4"
    " mov wav zip json xml html md log logs:log tmp tar iso exe dmg svg heic webp epub psd py bak flac avi mkv"
)
"""Words that name an extension, or a plural of one as `word:extension`."""
