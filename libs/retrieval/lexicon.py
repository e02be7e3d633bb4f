"""What words mean: the synonyms by which a request is matched, in English, German and Spanish.

A concept has forms by language: `stem*` takes any ending, `_` joins the words of a phrase. They are written as
`libs.retrieval.words.fold` leaves them, in lower case and without accents. It is a table on purpose: a new synonym is
one word here.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "de", "es"]


def listed(words: str) -> frozenset[str]:
    """A table of words, written as one text."""
    return frozenset(words.split())


CONCEPTS: dict[str, dict[Language, str]] = {
    # What to do.
    "remove": {
        "en": (
            "remove removes kill removed removing removal delete deletes deleted deleting deletion erase*"
            " eliminate discard* drop trash get_rid_of getting_rid_of throw_away throw_out purge* dedup*"
            " de_duplicate de_dupe rid bin ditch chuck toss dispose clear_out clear_away take_out into_the_trash"
            " to_the_trash wipe wipes lose nuke zap scrap del rm unlink can_go may_go must_go should_go gone delte"
            " deleet axe obliterate annihilate destroy destroyed expunge jettison do_away_with weed_out weeded_out"
            " in_the_bin into_the_bin to_the_bin in_the_trash in_the_garbage in_the_recycle_bin to_the_recycle_bin"
            " into_the_recycle_bin trashed binned scrapped trashing binning chucked tossed ditched"
        ),
        "de": (
            "losch* loesch* entfern* beseitig* weg wegwerfen wegschmeissen raus rausschmeissen deduplizier*"
            " loswerden schmeiss* wirf tilge* eliminier* vernicht* ausradier* wegmach*"
            " wegnehm* wegschmeiss* fliegt_raus"
            " wegtun wegzutun weggetan wegschmeiss* wegwerf* wegraum* wegputz* rausschmeiss* rauswerf* raustun"
            " fliegen_raus kick in_den_papierkorb in_den_mull in_die_tonne loszuwerden entsorg* entledig*"
            " ausmist* streich*"
        ),
        "es": (
            "borra borrar borras borrad borrame borrando borrado borrada borrados borradas borro borraras borraste"
            " borre borren borres borremos elimina* elimine* quita quitar quite quitame suprim* deduplica* tira tirar"
            " cargate cargatelos deshazte deshacerme elimin* fulmina* destruy* descarta deshacerte"
            " deshagas deshaz_de tiralo tiralos tirala tiralas a_la_papelera a_la_basura desecha* cepillate"
            " vorra* boora* borar"
        ),
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
            "report reports reporting analyz* analys* overview statistic* stats inspect* survey"
            " breakdown what_is_there what_is_here what_s_there what_s_here whats_in"
            " whats_there whats_here  what_do_i_have what_have_i_got what_i_have"
            " what_there_is what_is_left what_s_left what_remains disk_usage space_used"
            " using_space taking_up takes_up take_up taking_space takes_space how_much_space inventory"
        ),
        "de": (
            "bericht* analys* statistik* ubersicht uebersicht uberblick ueberblick was_ist_da"
            " was_ist_hier was_ist_drin was_da_ist was_hier_ist was_drin_ist was_liegt_hier was_hier_liegt"
            " was_gibt_es was_es_gibt was_da_liegt was_ubrig was_noch_da was_liegt"
            " belegt was_habe_ich was_befindet wie_viel_platz wieviel_platz was_drinsteckt "
        ),
        "es": (
            "analiza* analice* analisis informe* informa estadistic* que_hay lo_que_hay que_tengo"
            " que_queda ocupa cuanto_espacio"
        ),
    },
    "inside": {
        "en": (
            "what_is_in what_s_in whats_in what_is_inside what_s_inside whats_inside contents_of inside_of content_of"
            " what_does_it_contain what_are_in what_is_within what_s_within"
        ),
        "de": (
            "was_in was_im was_sich_in alles_was_in was_ist_in was_enthalt was_steckt_in inhalt_von"
            " was_steht_in was_ist_im inhalt_der inhalt_des"
        ),
        "es": (
            "lo_que_hay_en lo_que_hay_dentro lo_que_contiene todo_lo_que_hay_en que_hay_en que_hay_dentro"
            " que_contiene que_tiene contenido_de contenido_del"
        ),
    },
    "howmany": {
        "en": "how_many count number_of howmany",
        "de": "wie_viele wieviele wie_viel wieviel zahle anzahl",
        "es": "cuantos cuantas cuanto cuanta cuenta contar",
    },
    "summary": {
        "en": "summary summari* gist key_points main_points tl_dr tldr sum_up short_version in_a_nutshell boil_down",
        "de": "zusammenfass* kernaussage* kurzfassung kurz_gesagt zusammengefasst",
        "es": "resum* sintesis sintetiza*",
    },
    "parse": {
        "en": (
            "parse parses parsing read reads reading open opens rows row columns column fields headers header records"
            " lines what_does say says written keys cells entries look_inside look_into peek peek_into crack_open"
        ),
        "de": (
            "lies lese lesen vorlesen auslesen was_steht steht offne offnen spalten spalte zeilen zeile felder"
            " eintrage parse parsen"
        ),
        "es": (
            "lee leer leeme lea abre abrir filas fila lineas linea columnas columna campos que_dice que_pone dice"
            " registros"
        ),
    },
    "explain": {
        "en": (
            "explain explains explaining tell_me_about what_kind_of what_sort_of what_type_of describe"
            " describes tell_about"
        ),
        "de": "erklar* erklaer* erzahl_mir_von was_fur_eine was_fur_ein beschreib* erlauter*",
        "es": (
            "explica* explique* echale_un_ojo echa_un_ojo echar_un_ojo de_que_va de_que_trata hablame_de que_tipo_de"
            " que_clase_de describe*"
        ),
    },
    "whatis": {
        "en": "what_is what_s whats what_are what_the",
        "de": "was_ist was_sind",
        "es": "que_es que_son",
    },
    "list": {
        "en": (
            "list lists listing show shows display ls which_files what_files view print_out which see"
            " what_folders enumerate name_all"
            " grab take pick select let_me_see give_me_a_list run_through"
        ),
        "de": (
            "liste listet zeig* auflist* nimm nehme wahle welche welcher welches anzeigen nenne_mir nenn_mir aufzahl*"
        ),
        "es": (
            "lista listar listame muestra muestrame* muestranos* muestre muestreme* mostrar ensena* que_archivos"
            " que_ficheros cuales que_carpetas toma coge agarra"
            " selecciona* ver dame"
        ),
    },
    "find": {
        "en": (
            "find finds finding search searches searching look_for looking_for locate where_is where_are"
            " where_s hunt where_did where_the_hell wheres track_down seek grep wrote_down written_down"
            " write_down jotted_down noted_down made_a_note end_up_at what_happened_to where_has where_have"
            " whereabouts where_did_i_write where_have_i_written where_did_i_mention"
        ),
        "de": (
            "such suche suchen sucht durchsuch* finde finden findet find wo_ist wo_sind wo_liegt wo_liegen"
            " wo_steckt wo_finde in_welcher in_welchen wo_steht raussuch* heraussuch* aufgeschrieben notiert"
            " aufgeschrieben_habe vermerkt hingekommen abgeblieben geblieben hin_verschwunden wo_ist_hin"
        ),
        "es": (
            "busca busco buscamos buscando buscar buscame busque encuentra* encuentre* encontrar halla"
            " localiza* donde_esta"
            " donde_estan en_que_archivo en_que_fichero rastrea* apunte anote deje_apuntado escribi_lo"
            " tengo_apuntado"
        ),
    },
    "move": {
        "en": (
            "move moves moved moving put puts shift transfer relocate collect collects gather gathered collected"
            " stick go_into go_to"
            " goes_into goes_to go_in belong belongs stash place_into drop_into throw_into bring should_go_into"
            " should_go_to should_go_in should_be_in should_be_put should_be_moved shove sling relocated lived"
            " live lives dump_into dump file_away park parks tuck tucked slot stow haul drag slide lump transport"
            " carry place_them place_it reside resides relocating dispatch plonk plop settle parked placed"
            " shoved kept_in migrate"
        ),
        "de": (
            "verschieb* bewege beweg bewegen leg lege legen pack packe packen steck stecke stecken schieb schiebe"
            " schieben gehoren gehort kommen kommt sammle sammel sammeln wandern wandert verfracht* verschieben"
            " verleg* raume_in bring bringe hol hole holen zieh ziehe ziehen schaff schaffe schaffen schafft"
            " bugsier* deponier* ablegen ablege unterbring* unterzubringen abgelegt gelegt verschoben einfug*"
            " umzieh* umziehen stell stelle stellen raum_es transportier* packt verstau* beforder*"
        ),
        "es": (
            "aparta* aparte manda mandar mandame mueve* mover mueva* muev* guarda guardar guardame pon poner"
            " metas metan metes llevate ponga traslada* traslade* lleva llevar mete meter reune junta coloca*"
            " pasa pasar ponme guarde guarden traspasa* desplaza* deposita* ubica* situa situar arrastra* vuelca*"
            " reubica* recoloca* almacena* trasladen muevan metan pongan vayan vaya van ir dejalos_en dejalas_en"
            " dejalo_en saca sacar saque sacame"
        ),
    },
    "rename": {
        "en": (
            "rename renames renamed renaming change_the_name change_the_names call rname should_be_called"
            " should_be_named be_called retitle retitled rechristen relabel relabelled rebrand shall_be_known_as"
            " be_known_as known_as give_it_the_name give_them_the_name goes_by_the_name new_name new_names"
        ),
        "de": (
            "umbenenn* benenn* umzubenennen nenne nenn umtauf* umgetauft umbenannt* umbenennst"
            " neue_name neuer_name neuen_namen neue_namen andere_den_namen ander_den_namen"
        ),
        "es": (
            "renombra* renombre* cambia_el_nombre cambiar_el_nombre cambiale_el_nombre cambia_los_nombres"
            " cambie_el_nombre cambiele_el_nombre cambie_los_nombres llamalo"
            " llamala rebautiza* retitula* bautiza* ponle_el_nombre ponle_de_nombre ponles_el_nombre nuevo_nombre"
            " nuevos_nombres nombra nombrar"
        ),
    },
    "prefix": {
        "en": (
            "prefix prefixes prefixed prepend prepends in_front_of in_front put_before put_in_front"
            " before_the_name before_the_names before_each_name before_every_name to_the_front"
            " to_the_beginning"
            " at_the_beginning at_the_start to_the_start at_the_front"
        ),
        "de": (
            "prafix praefix voranstellen vorangestellt davor vor_den_dateinamen vor_die_dateinamen"
            " vor_den_namen vor_die_namen vor_jeden_namen voran vorne vor_alle_dateien vor_die_dateien vor_jede_datei"
            " vor_alle_dateinamen an_den_anfang am_anfang"
        ),
        "es": "prefijo prefijos antepon* delante al_principio al_inicio",
    },
    "suffix": {
        "en": (
            "suffix suffixes append appends onto_the_end on_the_end at_the_end to_the_end after_the_name"
            " after_the_names"
        ),
        "de": "suffix anhang anhangen hange haenge ans_ende am_ende hinter_den_namen hinter_die_namen dahinter",
        "es": "sufijo sufijos al_final detras",
    },
    "lower": {
        "en": "lowercase lower_case lower small_letters",
        "de": "kleinbuchstaben kleinschreib* klein_schreiben klein_geschrieben kleinschreibung",
        "es": "minuscula minusculas",
    },
    "upper": {
        "en": "uppercase upper_case upper capital_letters capitals all_caps caps",
        "de": "grossbuchstaben grossschreib* gross_schreiben gross_geschrieben grossschreibung",
        "es": "mayuscula mayusculas",
    },
    "titlecase": {
        "en": "title_case titlecase capitalize capitalise normal_case",
        "de": "titelschreibweise",
        "es": "tipo_titulo",
    },
    "snake": {"en": "snake_case snakecase", "de": "", "es": ""},
    "swap": {
        "en": "replace replaces replacing substitute swap change_every",
        "de": "ersetz* austausch* tausch*",
        "es": "reemplaza* reemplace* sustitu* sustituye",
    },
    "number": {
        "en": "number numbered numbering consecutively sequentially and_so_on sequential",
        "de": "nummerier* durchnummerier* fortlaufend und_so_weiter usw",
        "es": "numera* numere* consecutiv* correlativ* etcetera y_asi_sucesivamente",
    },
    "date": {
        "en": "date dates their_date its_date modification_date chronologically",
        "de": "datum anderungsdatum aufnahmedatum erstellungsdatum chronologisch",
        "es": "fecha fechas cronologicamente",
    },
    "blank": {
        "en": "space spaces blank blanks whitespace",
        "de": "leerzeichen leerschlag leerstellen",
        "es": "espacios espacio_en_blanco",
    },
    "underscore": {
        "en": "underscore underscores",
        "de": "unterstrich unterstriche unterstrichen",
        "es": "guion_bajo guiones_bajos guionbajo barra_baja barras_bajas",
    },
    "hyphen": {
        "en": "dash dashes hyphen hyphens minus",
        "de": "bindestrich bindestriche bindestrichen",
        "es": "guion guiones",
    },
    "pack": {
        "en": (
            "squash squeeze zipped_up compress compresses compressing zip_up bundle gzip tarball"
            " zipping archiving zip_file_of zip_of archive_of zip_from back_up backs_up backing_up wrap wraps"
            " package zipp zpi back_it_up back_them_up back_this_up"
        ),
        "de": (
            "verpack* gezippt gepackt zippe zippen komprimier* archivier* einpack* packe_ein zip_aus zip_von"
            " zip_mit archiv_aus archiv_mit schnur schnure schnuren bundel* bundle zusammenpack* zusammenschnur*"
            " zusammenzupacken verschnur* eintuten"
        ),
        "es": "zipea* zipee* comprim* empaqueta* archiva archivar zip_con zip_de archivo_comprimido",
    },
    "unpack": {
        "en": "unzip unzips unpack unpacks unpacking extract extracts extracting decompress untar uncompress"
        " unarchive expand",
        "de": "entpack* auspack* entzipp* extrahier* dekomprimier*",
        "es": "descomprim* extrae* extraer extraiga desempaqueta* deszipea*",
    },
    "starts": {
        "en": "start_with starts_with starting_with begin_with begins_with beginning_with",
        "de": "beginnen_mit beginnt_mit anfangen_mit fangen_mit mit_dem_anfang beginnen beginnt anfangen anfangt",
        "es": "empiezan_por empiezan_con empiecen_por empiecen_con comienzan_con comienzan_por empieza_por",
    },
    "ends": {
        "en": "end_with ends_with ending_with end_in ends_in ending_in ending_on",
        "de": "enden_auf endet_auf enden_mit endet_mit enden endet",
        "es": "terminan_en terminen_en acaban_en terminan_con acaben_en termina_en",
    },
    "same": {
        "en": "again once_more the_same same_thing same likewise ditto",
        "de": "nochmal noch_mal das_gleiche dasselbe das_selbe genauso gleiche ebenso",
        "es": "otra_vez de_nuevo lo_mismo igual mismo",
    },
    "undo": {
        "en": (
            "undo revert roll_back rollback take_that_back take_it_back put_it_back put_them_back put_it_all_back"
            " put_everything_back put_all_back put_that_back back_the_way_it back_to_how_it back_where_it_was"
            " back_as_it_was back_how_it_was back_where_they_were back_how_they_were"
        ),
        "de": (
            "ruckgangig zurucknehmen mach_das_ruckgangig ungeschehen mach_das_wieder_weg alles_wieder_zuruck"
            " wieder_wie_vorher wieder_wie_es_war wieder_so_wie_vorher"
        ),
        "es": (
            "deshaz deshazlo deshacer deshacerlo revierte revertir deja_todo_como_estaba dejalo_todo_como_estaba"
            " dejalo_como_estaba dejarlo_como_estaba dejalo_como_estava dejarlo_como_estava todo_como_estaba"
            " todo_como_estava como_estaba_antes como_estaban_antes como_antes"
        ),
    },
    "create": {
        "en": ("create creates creating make makes new add adds mkdir set_up tack attach slap"),
        "de": (
            "erstell* anlegen anleg* erzeug* neu neue neuen neues mach mache machen hinzufug* fuge fug einricht*"
            " richte anzuleg* angelegt neuer"
        ),
        "es": (
            "crea crear cree creame haz hazme hacer nueva nuevo anade anadir agrega agregar pon_el"
            " abre_una_carpeta abrir_una_carpeta"
        ),
    },
    "clean": {
        "en": (
            "clean cleans cleaned cleaning cleanup tidy tidying declutter neaten spruce free_up make_space"
            " make_room save_space make_some_space make_more_space free_some_space some_space more_space"
            " mess_up in_order sort_out"
        ),
        "de": (
            "aufraum* aufraeum* raum* raeum* saubere saubern saeubere bereinig* platz_schaffen platz_machen platz"
            " ordnung"
        ),
        "es": "limpia* limpiar limpie limpieza haz_limpieza hacer_limpieza ordenada libera* liberar espacio",
    },
    "change": {
        "en": "change changes changing modify modifying alter altering",
        "de": "ander andern veranderst verandern verandere aendere aendern",
        "es": "cambia cambies cambiar cambie modifica* modifique*",
    },
    "keep": {
        "en": "keep keeps keeping retain preserve",
        "de": "behalt* behalte behaelt",
        "es": "conserva* conserve* manten* mantener quedate",
    },
    # What it is about.
    "duplicate": {
        "en": (
            "duplicat* dupe dupes dups copies identical same_file same_files same_content double doubles doubled"
            " redundant twins surplus the_spares spare_copies exactly_the_same more_than_once several_times"
            " extra_copies dedup* de_duplicate de_dupe twice"
        ),
        "de": (
            "duplikat* doppelt* dublette* kopien identisch* mehrfach mehr_als_einmal doppelt_vorhanden"
            " zweimal deduplizier* doppelgang*"
        ),
        "es": (
            "duplicad* repe repes repetid* varias_veces copias identic* redundante* mas_de_una_vez dos_veces dobles"
            " deduplica*"
        ),
    },
    # The verb. Its nouns are told by what stands around them (libs.models.offline.copying).
    "copy": {
        "en": "copy copying replicate replicates be_copied get_copied cp copi coppy cpy",
        "de": "kopier kopiere kopieren kopiert kopierst dupliziere duplizier duplizieren duplizierst",
        "es": "copia copiar copie copiame copien duplica duplicar duplique dupliques duplicame",
    },
    "type": {
        "en": (
            "type types kind kinds category categories extension extensions endings filetype filetypes format formats"
        ),
        "de": "typ typen art arten dateityp* dateiart* kategorie* endung* dateiendung*",
        "es": "tipo tipos categoria* clase clases extension* formato*",
    },
    "content": {
        "en": (
            "mention mentions mentioning contain contains containing about content contents word words"
            " phrase text_of saying talk_about talks_about talk_of refer* with_the_word with_the_text"
            " inside_the_text regarding wrote_down written_down write_down jotted_down noted_down made_a_note"
        ),
        "de": (
            "enthalt* enthaelt enthalten erwahn* erwaehn* inhalt* vorkomm* vorkommt kommt_vor uber ueber"
            " wort drinsteht geht_es_um aufgeschrieben notiert aufgeschrieben_habe vermerkt"
        ),
        "es": (
            "contiene* contengan contenga mencion* contenido* palabra hablan habla hable sobre acerca apunte"
            " anote deje_apuntado escribi_lo tengo_apuntado"
        ),
    },
    "name": {
        "en": "name names named called title titled filename filenames file_name file_names",
        "de": "name namen dateiname dateinamen namens genannt heisst heissen benannt",
        "es": "nombre nombres llamad* llama llamarse llamar titulad*",
    },
    "size": {
        "en": (
            "size sizes big bigger large larger small smaller huge heavy giant enormous tiny massive how_big"
            " how_large"
            " bulky weigh weighs"
        ),
        "de": (
            "grosse grossen groesse grossen grosser grossere riesig* kleine kleinen kleiner winzig* wie_gross dick*"
            " wiegt wiegen wie_viel_wiegt wie_viel_wiegen"
        ),
        "es": (
            "tamano* grande grandes pequen* pesado* pesan pesa cuanto_pesa cuanto_pesan cuanto_ocupa cuanto_ocupan"
            " gigante* enorme*"
        ),
    },
    "age": {
        "en": (
            "old older newer recent recently last_year last_month last_week yesterday today"
            " ago since age year years month months week weeks day days outdated modified ancient lately"
            " how_old when_was when_were last_changed last_modified last_edited when_did"
        ),
        "de": (
            "alt alte alten alter letzte* gestern heute jahr* monat* woche* tage veraltet* uralt* kurzlich"
            " wie_alt wann_wurde vorletzt*"
        ),
        "es": "viejo* vieja* antiguo* antigua* reciente* ayer hoy ano anos mes meses semana* dia dias",
    },
    "empty": {
        "en": "empty emty empyt empties",
        "de": "leer leere leeren leerer",
        "es": "vacio* vacia vacias vaciar",
    },
    "junk": {
        "en": "junk garbage clutter rubbish crap unneeded unnecessary useless unused unwanted",
        "de": "mull muell kram unnotig* unnoetig* uberflussig*",
        "es": "basura inutil* innecesari*",
    },
    # Which files: the categories of organize-by-type.
    "images": {
        "en": "image images picture pictures photo photos pic pics snaps snapshots photographs pix fotos stills",
        "de": "bild bilder bildern foto fotos bilddateien bilddatei fotografien aufnahmen",
        "es": "imagen imagenes foto fotos fotografia*",
    },
    "documents": {
        "en": "document documents doc docs",
        "de": "dokument dokumente dokumenten",
        "es": "documento documentos",
    },
    "audio": {
        "en": "audio music song songs tracks recordings sound sounds",
        "de": "musik lieder lied audiodateien musikdateien musikstucke songs tonaufnahmen",
        "es": "musica canciones cancion audios grabaciones",
    },
    "video": {
        "en": "video videos vid vids movie movies film films clips",
        "de": "filme filmen videodateien",
        "es": "peliculas pelicula",
    },
    "archives": {
        "en": "archives zips zip tarballs archive",
        "de": "archive archiven archiv archivs zipdatei zipdateien zip_datei zip_dateien",
        "es": "comprimidos",
    },
    "code": {
        "en": "scripts source_code source_files code_files code programs_code",
        "de": "quellcode skripte code quelltexte",
        "es": "codigo scripts",
    },
    "fonts": {
        "en": "fonts font",
        "de": "schriften schriftarten",
        "es": "fuentes",
    },
    "programs": {
        "en": "installers installer programs executables setup_files binaries apps",
        "de": "programme installationsdateien installer",
        "es": "programas instaladores ejecutables",
    },
    # Narrower than a category: FAMILIES says which extensions.
    "wordfiles": {
        "en": "word_files word_file word_documents word_docs word_document",
        "de": "word_dateien word_datei word_dokumente worddateien worddokumente",
        "es": "archivos_word archivos_de_word documentos_word documentos_de_word",
    },
    "spreadsheets": {
        "en": "spreadsheet spreadsheets excel excel_files excel_sheets",
        "de": "tabellen exceldateien excel_dateien tabellenkalkulationen",
        "es": "hojas_de_calculo excel archivos_excel archivos_de_excel",
    },
    "presentations": {
        "en": "presentation presentations slides powerpoint powerpoints slide_decks",
        "de": "prasentation* praesentation* folien",
        "es": "presentacion presentaciones diapositivas",
    },
    "textfiles": {
        "en": "text_files text_file plain_text textfiles",
        "de": "textdateien textdatei text_dateien",
        "es": "archivos_de_texto ficheros_de_texto archivo_de_texto",
    },
    "pythonfiles": {"en": "python", "de": "python", "es": "python"},
    "jsfiles": {"en": "javascript", "de": "javascript", "es": "javascript"},
    "markdownfiles": {"en": "markdown markdowns", "de": "markdown", "es": "markdown"},
    "logfiles": {"en": "log_files logfiles", "de": "logdateien protokolldateien logs", "es": "registros_log"},
    "ebooks": {"en": "ebook ebooks e_books", "de": "ebooks e_books", "es": "libros_electronicos ebooks"},
    "litterfiles": {
        "en": "litter system_litter system_junk",
        "de": "systemmull systemkram",
        "es": "basura_del_sistema",
    },
    "tempfiles": {
        "en": "temp_files temporary_files temporary temp temps tempfiles",
        "de": "temporar temporare temporaren temporarer temporares temporaere temporaeren tempdateien temp_dateien",
        "es": "temporal temporales",
    },
    "partfiles": {
        "en": (
            "half_downloaded half_finished_downloads half_finished_download half_downloads unfinished_downloads"
            " unfinished_download incomplete_downloads incomplete_download partial_downloads partial_download"
            " broken_downloads aborted_downloads interrupted_downloads"
        ),
        "de": (
            "halbe_downloads halbfertige_downloads unfertige_downloads unfertigen_downloads abgebrochene_downloads"
            " abgebrochenen_downloads angefangene_downloads angefangenen_downloads unvollstandige_downloads"
            " unvollstandigen_downloads halb_heruntergeladene halb_runtergeladene halb_heruntergeladen"
            " halb_runtergeladen"
        ),
        "es": (
            "descargas_a_medias descarga_a_medias descargas_sin_terminar descargas_sin_acabar descargas_incompletas"
            " descargas_no_terminadas descargas_cortadas descargas_a_medio"
        ),
    },
    "lockfiles": {
        "en": "lock_file lock_files lockfile lockfiles",
        "de": "sperrdatei sperrdateien lockdateien lock_dateien",
        "es": "archivos_de_bloqueo archivo_de_bloqueo ficheros_de_bloqueo",
    },
    # How, and how not.
    "not": {
        "en": (
            "not don_t dont do_not wouldn_t_like wouldn_t_want doesn_t mustn_t shouldn_t never no without neither nor"
            " cannot nothing none not_yet"
        ),
        "de": "nicht kein keine keinen keinem keiner nie niemals ohne nichts blo_nicht noch_nicht jetzt_nicht",
        "es": "no sin nunca jamas ni nada todavia_no aun_no",
    },
    "except": {
        "en": (
            "except excluding exclude excepting apart_from other_than ignoring ignore skip skipping besides"
            " but_not spare spares minus aside_from bar save_for not_including"
            " with_the_exception_of"
        ),
        "de": (
            "ausser ausgenommen ignorier* uberspring* bis_auf abgesehen verschone verschonen verschont verschonst"
            " verschonend"
        ),
        "es": "excepto salvo menos ignora* excluye* excluyendo exceptuando a_excepcion aparte_de",
    },
    "untouched": {
        "en": (
            "alone touch touching untouched leave where_they_are where_it_is as_they_are as_it_is as_is in_place"
            " out_of_it stays stay as_they_were safe"
        ),
        "de": (
            "lass lasse lassen in_ruhe anfassen anfasst anruhr* unberuhrt unangetastet so_lassen"
            " wie_sie_sind bleiben bleibt"
            " liegen_lassen finger_weg"
        ),
        "es": "deja dejar dejes deje en_paz toques tocar toca intact* como_estan tal_cual donde_estan sin_tocar",
    },
    "only": {
        "en": "nothing_more only just solely exclusively nothing_but nothing_else and_nothing_else",
        "de": "nichts_weiter nichts_sonst nur ausschliesslich bloss sonst_nichts nichts_anderes",
        "es": "solo solamente unicamente nada_mas",
    },
    "all": {
        "en": "all everything every each whole entire anything any",
        "de": "alle alles allem allen aller gesamte* ganze ganzen jede* samtliche*",
        "es": "todo todos toda todas cualquier",
    },
    "recursive": {
        "en": (
            "recursively recursive all_subfolders in_subfolders its_subfolders including_subfolders"
            " in_the_whole_folder in_the_entire_folder"
            " and_subfolders everywhere those_in_subfolders the_subfolders_too subfolders_too at_any_depth"
            " all_the_subfolders any_subfolder subfolders_as_well including_those_in_subfolders deep"
            " subfolders_included included_subfolders incl_subfolders every_folder_below"
            " all_the_folders_below folders_below everywhere_below anywhere in_all_folders in_all_the_folders"
            " from_all_folders across_all_folders of_all_folders in_every_folder from_every_folder in_each_folder"
            " in_any_folder all_over_the_place wherever_they_are at_every_level at_all_levels incl_subfolders"
            " including_all_subfolders in_all_subfolders in_and_below and_below and_everything_below"
            " in_the_folders_inside the_folders_inside folders_inside folders_within in_the_folders_within"
        ),
        "de": (
            "rekursiv allen_unterordnern uberall in_unterordnern den_unterordnern auch_in_unterordnern"
            " samt_unterordnern unterordner_eingeschlossen in_allen_ordnern aus_allen_ordnern in_jedem_ordner"
            " allen_unterordnern aus_allen_unterordnern in_samtlichen_ordnern inklusive_unterordner im_ganzen_ordner"
            " im_gesamten_ordner in_dem_ganzen_ordner seinen_unterordnern deren_unterordnern ihren_unterordnern"
        ),
        "es": (
            "recursiv* todas_las_subcarpetas en_subcarpetas las_subcarpetas incluidas_las_subcarpetas"
            " en_todas_partes subcarpetas_incluidas incluyendo_subcarpetas en_total_contando en_todas_las_carpetas"
            " de_todas_las_carpetas por_todas_partes por_ahi en_cualquier_carpeta de_cualquier_carpeta"
            " en_cada_carpeta de_cada_carpeta y_subcarpetas y_sus_subcarpetas todas_sus_subcarpetas"
            " en_cualquier_sitio en_cualquier_parte en_toda_la_carpeta en_la_carpeta_entera por_toda_la_carpeta"
        ),
    },
    "newest": {
        "en": "newest latest most_recent most_recently changed_last change_last modified_last edited_last",
        "de": "neueste* neuste* aktuellste* jungste*",
        "es": "mas_nuevo mas_nueva mas_nuevos mas_nuevas mas_reciente mas_recientes ultimos ultimas",
    },
    "oldest": {
        "en": "oldest earliest original originals",
        "de": "alteste* aelteste* original*",
        "es": "mas_antiguo mas_antigua mas_antiguos mas_antiguas mas_viejo mas_vieja mas_viejos mas_viejas original*",
    },
    "largest": {
        "en": "largest biggest heaviest fattest most_space bulkiest",
        "de": "grosste* groste* groesste* schwerste* dickste* meisten_platz am_meisten_platz meisten_speicher",
        "es": "mas_grande mas_grandes mas_pesado mas_pesados mas_pesada mas_pesadas mayores mayor mas_espacio",
    },
    "smallest": {
        "en": "smallest tiniest lightest",
        "de": "kleinste* winzigste* leichteste*",
        "es": "mas_pequeno mas_pequena mas_pequenos mas_pequenas menores",
    },
    "wellnamed": {"en": "wellnamed", "de": "wellnamed", "es": "wellnamed"},
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
        "de": "zuerst zunachst erst",
        "es": "primero",
    },
    "because": {
        "en": (
            "because cause cuz since_i as_i since_he since_she since_we since_they since_it since_my since_our as_my"
            " now_that seeing_that given_that seeing_as"
        ),
        "de": "weil denn zumal da_ich da_er da_wir da_es da_mein da_meine da_man da_der",
        "es": "porque ya_que puesto_que pues_que dado_que",
    },
    "wellknown": {
        "en": "downloads desktop",
        "de": "schreibtisch",
        "es": "descargas escritorio",
    },
    "here": {
        "en": "here this there these those it them they current",
        "de": "hier dieser diesen dieses diesem dies da sie es",
        "es": "aqui esta este estos estas ahi los las",
    },
    "file": {
        "en": "file files item items things thing stuff",
        "de": "datei dateien sachen dinge zeug zeugs",
        "es": "archivo archivos fichero ficheros cosas",
    },
    "folder": {
        "en": (
            "folder folders directory directories dir subfolder subfolders subdirectory subdirectories"
            " in_the_whole_folder in_the_entire_folder"
        ),
        "de": (
            "ordner ordnern verzeichnis verzeichnisse unterordner unterordnern mappe im_ganzen_ordner"
            " im_gesamten_ordner in_dem_ganzen_ordner"
        ),
        "es": (
            "carpeta carpetas directorio directorios subcarpeta subcarpetas abre_una_carpeta abrir_una_carpeta"
            " en_toda_la_carpeta en_la_carpeta_entera por_toda_la_carpeta"
        ),
    },
    # What no skill does.
    "foreign": {
        "en": (
            "email emails mail send weather browse internet website translate translation print prints printing"
            " play buy forward forwards youtube dropbox onedrive book phone encrypt decrypt convert resize shrink"
            " crop edit install uninstall execute run runs"
            " command sudo curl wget ssh scp google upload download clone paste share deploy joke poem story"
            " recipe news stock stocks crypto shutdown reboot shred virus password passwords chmod chown"
            " mount tweet schedule remind calendar bash shell powershell symlink backup_to sync whatsapp slack"
            " compile"
            " printer print_it mp4_to to_mp4 transcode rotate merge concatenate watermark"
        ),
        "de": (
            "maile sende senden schick* wetter ubersetz* uebersetz* drucke drucken druck ausdrucken kaufe"
            " bestell* verschlussel* konvertier* wandle bearbeit* installier* herunterlad*"
            " hochlad* formatier* witz gedicht nachrichten ruf ausfuhren starte starten"
        ),
        "es": (
            "youtube dropbox subeme envia* enviar correo tiempo_hace clima traduce* traducir traduzca imprim* compra*"
            " reproduce* cifra* convierte* convertir edita* instala* descarga* sube subir formatea*"
            " chiste poema noticias llama_a ejecuta* ejecutar"
        ),
    },
    "beside": {
        "en": "next_to alongside beside adjacent_to near",
        "de": "neben",
        "es": "junto_a al_lado_de cerca_de",
    },
    "greeting": {
        "en": (
            "hello hi hey hiya howdy greetings thanks thank good_morning good_evening good_afternoon"
            " perfect that_s_all that_s_it bye goodbye"
        ),
        "de": (
            "hallo moin servus danke guten_tag guten_morgen guten_abend das_ist_alles das_war_s tschuss gruss perfekt"
        ),
        "es": "hola gracias buenos_dias buenas eso_es_todo adios perfecto",
    },
    "capability": {
        "en": (
            "what_can_you_do what_can_you who_are_you are_you_a are_you_real are_you_human what_are_you"
            " how_do_you_work what_do_you_do are_you_able"
            " can_you_do your_skills your_capabilities help help_me capabilities"
        ),
        "de": "was_kannst_du wer_bist_du was_bist_du hilfe kannst_du_was",
        "es": "que_puedes_hacer que_sabes_hacer quien_eres que_eres ayuda ayudame",
    },
}

FILLERS: dict[Language, str] = {
    "en": (
        "still yet etc loose instead yuo pleas thnks telling tells um uh"
        " across throughout a an the teh hte thee including includes included incl i me my mine we us our you your"
        " yourself please pls plz kindly could can would will shall"
        " should may might want wanna need like d s t re ve m am is are was were be been being to of from for"
        " in into on onto at by with within inside under as and or also too so that which who whom have has had do"
        " does did go going gonna let lets now just ok okay hey tell give quickly fast asap really very nicely"
        " neatly properly carefully thoroughly completely kinda bit some up out over off if when while than what"
        " how why where there their its he she they his her one two both lot lots many much more most according"
        " based depending using via per pretty love great nice thing way maybe perhaps well suma again remaining"
        " rest left got get gets place sure thank stuff damn bloody hell fucking fuck bro man dude mate sir gently"
        " seems seem few think guess believe tho ofc thx asap other another different top jesus"
        " goddamn quick nicely sight own deserve simply look looks actually exactly already though"
        " although really ever even whatever those ones else"
        " somewhere shit fucks sake goddamn holy pleas id ive theres im weve you_d quick hurry right away"
        " together below later soon time moment separate own different appropriate respective"
        " matching after before such remote remotely"
        " lol omg wtf uh um uhm er erm hmm hm argh ugh wow oh ah jeez geez yikes anyway anyways alright yo"
        " honestly seriously"
        " frankly listen dear assistant damned freaking frigging effing stupid dumb lousy wretched stinking blasted"
        " crappy shitty silly eventually basically literally simply afterall finally promptly pronto immediately"
        " three four five six seven eight nine ten eleven twelve entirely wholly completely"
        " understood   straight pronto straightaway heck heaven heavens gosh sorry yikes dang darn darned"
        " cheers ta lads folks buddy pal chap dearie honey possible possibly forthwith henceforth onwards onward"
        " ought whether  hence therefore thus moreover furthermore besides_that exact precisely"
        " rotten pesky blimming blooming bleeding sodding cursed frigging measly godforsaken infernal"
        " altogether  anymore   sometime someday once_and_for_all"
        "       known"
        " thanking gladly ever_so fewest somehow someplace a_bit beforehand meanwhile"
        "    willing able"
        " helo hullo thsi tihs waht whta cna yuo hte fro wiht jsut plz plese plase pelase plaese thx thanx thnx"
        " thks tha ot fo"
    ),
    "de": (
        "gegen pro losen mehr exemplar exemplare als statt stattdessen"
        " der die das den dem des ein eine einen einem einer eines ich mir mich mein meine meinen meinem meiner"
        " wir uns unser du dir dich dein deine bitte mal doch und oder auch so dass ob von vom zu zum zur in im"
        " ins an am auf aus bei mit nach um fur fuer durch ist sind war sein hat haben habe kannst konntest"
        " koenntest konnen wurdest wuerdest soll sollen sollten sollst will mochte moechte brauche jetzt schnell"
        " einfach noch"
        " schon sehr ganz ihre ihren ihrem sich sag sage gib ja nein genau gerne gern bisschen etwas dort drin"
        " natuerlich naturlich eigentlich eh dorthin zwar hin hinten andere anderen anderer dran ab"
        " endlich hinein rein einschliesslich inklusive scheiss scheisse verdammt kack mistige"
        " verdammte verdammten blode bloden mist einmal sonst dort darin darein dahin"
        " wohl halt eben gerade meine bitteschon entsprechend jeweils wird werden wurde wurden wer wie wann ob"
        " weil wenn denn dich euch ihr hab hast hatte hatten gibt gibts darf durfen musst muss sowie samt ubrig"
        " boah ey ach hm hmm na naja tja ehrlich verfluchte verfluchten verfluchter damliche damlichen"
        " damlicher beschissene"
        " beschissenen beschissener verkackte verkackten elende elenden dumme dummen bescheuerte bescheuerten"
        " rasch flott lieber also kunftig"
        " umgehend vielleicht freundlicherweise netterweise"
        " ubrigen restlichen rest vorhanden befinde befinden liegt liegen"
        " herumliegt herumliegen rumliegt rumliegen herum"
        " zwei drei vier funf fuenf sechs sieben acht neun zehn elf zwolf"
        " beiden beide beides sollte muss musste kann konnen durfte durften lieb liebe lieben bestens damit  dazu"
        " daran darauf  dafur danke dankeschon evtl eventuell gegebenenfalls ggf zugig zeitnah schleunigst"
        " gefalligst sofort augenblicklich dalli kurz kurzerhand rein raus heraus herunter hervor runter rauf"
        " ruber heruber hinuber"
        " zusammen miteinander gemeinsam gelegentlich irgendwann irgendwie irgendwo irgendwohin nunmehr nun"
        " daher deshalb deswegen darum trotzdem immerhin uberhaupt sogar nochmals wieder freundlich hoflich"
        " hoflichst herzlich seien sei ware waren hatten wurde verfickte verfickten verfluchter verflixte"
        " verflixten dreckige dreckigen dreckiges bloder blodes dummer dummes doofe doofen olle ollen gott himmel"
        " okay ok jo jep tut tun getan    welch    samtlich"
        " bite bitt bidde biite di dei wi dan un unt ma kan kanst kannste kansst nen nem ne eien einne nich"
        " nihct_mehr binich ihc mier"
        " brauchte brauchten mocht mochts"
        " was"
    ),
    "es": (
        "sueltos sueltas tengo tenemos siempre ruego rogaria"
        " el la lo los las un una unos unas yo me mi mis tu tus te se su sus nos y e o u de del al a en por para"
        " con que si ya muy favor porfavor porfa puedes puede podrias podria quiero quisiera necesito es son era"
        " ser estar hay ha he has dime di dame ahora rapido bien tambien asi pero como cada ella ello ellos segun"
        " resto restantes demas le les mierda esa incluyendo incluidos incluidas asco"
        " aun todavia punetero punetera puneteros puneteras menuda menudo otras xfa decir"
        " decirme saber pase porfis plis pues vale ninguno medio otro otra maldito malditos"
        " maldita malditas puto putos puta putas joder"
        " uf ay bueno mira mire oiga venga anda tio tia hombre a_ver jodido jodida jodidos jodidas dichoso"
        " dichosa dichosos"
        " dichosas estupido estupida estupidos estupidas cono hostia inmediatamente amablemente"
        " quien cuando donde sea ocupe ocupen pese pesen peso sean tiene tienen tenga tengan queden"
        " dos tres cuatro cinco seis siete ocho nueve diez once doce"
        " mucho muchas muchos mucha      cosa       "
        " ambos ambas juntos juntas usted ustedes vosotros vuestro vuestra nuestro nuestra nuestros nuestras"
        " tener tenia haber estar estan estaba estaria seria serian podrian pudiera pudieras quisieras queria"
        " pedirte pedirle rogarle agradezco agradeceria vendria gracias porfi pronto enseguida inmediato finalmente"
        " simplemente realmente directamente urgentemente asimismo ademas  acaso siquiera claro pleno cabron"
        " cabrona cabrones carajo leches leche narices caray caramba ostras demonios diablos"
        " conazo asqueroso asquerosa asquerosos asquerosas horrendo horrenda feo fea cojones hala hale"
        "  alli    debe deben deberia deberian hace falta hacen falta"
        " respectivo respectiva correspondiente"
        " varias varios haya hayan quede esten esos esas ese esa aquellos"
        " aquellas fueron sido sobra sobran gustaria quieres quisieras oye ok vale cual llame podeis dentro"
        " ke q k porfabor porfavo xfabor grasias kiero kisiera"
    ),
}
"""Words that say nothing about what is to be done."""

EXTENSIONS = (
    "pdf jpg jpeg png gif txt csv tsv xlsx xls docx pptx ppt mp3 mp4 m4a mov wav zip rar 7z gz tgz json jsonl"
    " xml html htm md log tmp tar iso exe msi dmg svg heic webp bmp tif tiff epub mobi psd py js ts css sql yaml"
    " yml toml"
    " cr2 cr3 nef arw dng orf rw2 raf heif diff mid midi aiff aif wma aac opus m3u sqlite db parquet npy npz pkl ipynb"
    " tex bib cfg conf ndjson docm dotx xlsm xlsb pps ppsx mpg mpeg wmv flv 3gp vob srt vtt azw3 cbz cbr djvu xps vsdx"
    " dwg dxf stl gpx kml kmz woff woff2 eps indd jar ipa bz2 xz zst cab lnk dll cpp hpp rb php lua vue tsx jsx"
    " mjs scss kt orig crdownload torrent vmdk ova qcow2 odg geojson pem crt cer xcf rst"
    " avif ico m4v ogv oga tbz2 txz lz4 pyi java rs jl zsh ps1 avro h5 hdf5 eot appimage"
    " ini bak flac ogg avi mkv webm odt ods odp rtf ttf otf eml ics vcf deb rpm apk raw"
)
"""Words that name an extension; with an s they are several of it."""

CATEGORIES = ("images", "documents", "audio", "video", "archives", "code", "fonts", "programs")
"""The concepts that are categories of organize-by-type."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "wordfiles": ("doc", "docx"),
    "spreadsheets": ("xls", "xlsx", "ods"),
    "presentations": ("ppt", "pptx", "odp", "key"),
    "textfiles": ("txt",),
    "pythonfiles": ("py",),
    "jsfiles": ("js", "mjs", "jsx"),
    "markdownfiles": ("md",),
    "logfiles": ("log",),
    "ebooks": ("epub", "mobi", "azw3"),
    "litterfiles": (".DS_Store", "Thumbs.db", "desktop.ini"),
    "tempfiles": ("*.tmp", "*.temp", "*.sv$", "~$*", "*~", "*~lock.*"),
    "lockfiles": ("~$*", "*~lock.*"),
    "partfiles": ("*.crdownload", "*.part", "*.partial", "*.opdownload", "*.!ut"),
}
"""Kinds narrower than a category, by their concept: extensions, or patterns of names."""

SEPARABLE: dict[str, str] = {
    "remove": (
        "throw+away throw+out chuck+out toss+out clear+out clear+away sweep+out take+away take+out get+rid"
        " wirf+weg wirf+raus schmeiss*+weg"
        " schmeiss*+raus"
        " losch+raus losche+raus losch+weg losche+weg loschen+weg hau+weg haue+weg hauen+weg haut+weg tu+weg tue+weg"
        " tun+weg raum+weg raume+weg raumt+weg raumen+weg nimm+raus mach+weg mache+weg machen+weg macht+weg schaff+weg"
        " schaffe+weg schaffen+weg werf+weg werfe+weg werfen+weg werft+weg"
    ),
    "clean": "raum*+auf mist*+aus tidy+up clean+up sort+out",
    "organize": "sortier*+ein ordne+ein raum*+ein",
    "rename": "benenn*+um nenn*+um tauf*+um",
    "pack": "pack*+ein pack*+zusammen zip*+up pack*+up",
    "unpack": "pack*+aus unzip*+up",
    "summary": "fass*+zusammen sum+up",
    "create": "leg*+an richt*+ein",
    "list": "zeig*+an list*+auf zahl*+auf gib*+aus",
    "find": "such*+raus such*+heraus find*+heraus find+out",
    "parse": "les*+aus lies+aus les*+vor lies+vor",
    "number": "nummerier*+durch",
    "content": "kommt+vor kommen+vor",
    "lower": "schreib*+klein mach*+klein",
    "upper": "schreib*+gross mach*+gross",
    "prefix": "stell*+voran setz*+davor",
    "suffix": "hang*+an haeng*+an hang*+dran haeng*+dran hang*+hintendran",
    "foreign": "druck*+aus lad*+hoch lad*+herunter lad*+runter ruf*+an schalt*+aus schick*+ab fuhr*+aus",
    "undo": "mach*+ruckgangig nimm+zuruck",
}
"""Verbs whose particle stands at the end of their clause, as `verb+particle`."""

CLITICS = (
    *(f"{to}{what}" for to in ("me", "se", "te", "nos") for what in ("los", "las", "lo", "la")),
    *("los", "las", "lo", "la", "les", "nos", "me"),
)
"""Spanish pronouns that are written onto a verb."""
