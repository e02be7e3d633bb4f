"""The words of sizes, dates and counts in English, German and Spanish, folded as `libs.retrieval.words.fold` leaves
them.
"""

from __future__ import annotations

from libs.retrieval.lexicon import listed

NUMBERS: dict[int, str] = {
    1: "one ein eine einen einer eines einem un una uno a an single",
    2: "two zwei dos couple",
    3: "three drei tres",
    4: "four vier cuatro",
    5: "five funf fuenf cinco",
    6: "six sechs seis",
    7: "seven sieben siete",
    8: "eight acht ocho",
    9: "nine neun nueve",
    10: "ten zehn diez",
    11: "eleven elf once",
    12: "twelve zwolf zwoelf doce dozen dutzend docena",
    15: "fifteen funfzehn quince",
    20: "twenty zwanzig veinte",
    25: "twentyfive",
    30: "thirty dreissig treinta",
    40: "forty vierzig cuarenta",
    50: "fifty funfzig cincuenta",
    60: "sixty sechzig sesenta",
    90: "ninety neunzig noventa",
    100: "hundred hundert cien",
    500: "quinientos",
    1000: "thousand tausend mil",
}
ARTICLES = listed("a an ein eine einen einer eines einem un una uno one")
"""Of the words for one, those that count nothing before a noun: "a file"."""

UNITS: dict[int, str] = {
    1: "b byte bytes octet octets",
    1_000: "k kb kilobyte kilobytes kilobites",
    1_000_000: "m mb mbs meg megs megabyte megabytes mega megas",
    1_000_000_000: "g gb gbs gig gigs gigabyte gigabytes giga gigas",
    1_000_000_000_000: "tb tbs terabyte terabytes tera teras",
    1024: "kib",
    1024**2: "mib",
    1024**3: "gib",
}
SPANS: dict[str, str] = {
    "minute": "minute minutes min mins minuten minuto minutos",
    "hour": "hour hours stunde stunden hora horas",
    "day": "day days tag tage tagen dia dias",
    "week": "week weeks woche wochen semana semanas",
    "month": "month months monat monate monaten monats mes meses",
    "year": "year years yr yrs jahr jahre jahren jahres ano anos",
}
MONTHS: dict[int, str] = {
    1: "january jan januar janner enero",
    2: "february feb februar febrero",
    3: "march marz maerz marzo",
    4: "april abril",
    5: "may mai mayo",
    6: "june jun juni junio",
    7: "july jul juli julio",
    8: "august aug agosto",
    9: "september sept sep septiembre setiembre",
    10: "october oct oktober okt octubre",
    11: "november nov noviembre",
    12: "december dec dezember dez diciembre",
}
SEASONS: dict[int, str] = {
    3: "spring fruhling fruhjahr fruhlings primavera",
    6: "summer summers sommer sommers verano",
    9: "autumn fall herbst herbsts otono",
}
"""By their first month, in the north. Winter is of two years, so it is asked about."""

WEEKDAYS: tuple[str, ...] = (
    "monday montag lunes",
    "tuesday dienstag martes",
    "wednesday mittwoch miercoles",
    "thursday donnerstag jueves",
    "friday freitag viernes",
    "saturday samstag sonnabend sabado",
    "sunday sonntag domingo",
)

# What stands before a quantity. `_` joins words; longer forms are tried first.
MORE = (
    "bigger_than larger_than greater_than heavier_than more_than over above exceeding beyond in_excess_of"
    " size_over size_above upwards_of north_of >"
    " grosser_als groesser_als grossere_als mehr_als uber ueber oberhalb_von schwerer_als"
    " mas_de mas_grande_que mas_grandes_que mas_grande_de mas_grandes_de mayor_que mayores_que"
    " mayor_de mayores_de mayor_a"
    " mayores_a superior_a superiores_a por_encima_de que_pesen_mas_de que_pesan_mas_de mas_pesados_que mas_que"
    " exceeds exceed that_exceed which_exceed bigger_then larger_then ubersteigen"
)
AT_LEAST = (
    "at_least no_less_than not_less_than >= from_at_least minimum mindestens ab wenigstens al_menos"
    " como_minimo por_lo_menos"
)
LESS = (
    "smaller_than less_than under below lighter_than < fewer_than smaller_then less_then"
    " kleiner_als weniger_als unter unterhalb_von leichter_als kleinere_als"
    " menos_de mas_pequeno_que mas_pequenos_que mas_pequenas_que mas_pequena_que menor_que menores_que menor_de"
    " menores_de menor_a menores_a inferior_a inferiores_a por_debajo_de"
)
OR_MORE = "or_more or_larger or_bigger and_up and_above and_more and_larger und_mehr oder_mehr und_grosser o_mas y_mas"
OR_LESS = "or_less or_smaller oder_weniger oder_kleiner o_menos"
AT_MOST = "at_most no_more_than not_more_than up_to <= hochstens hoechstens maximal bis_zu como_maximo a_lo_sumo hasta"
BETWEEN = "between zwischen entre from von de"
AND_TO = "and to und bis y a hasta -"

OLDER = (
    "older_than more_than over not_modified_in not_changed_in not_touched_in untouched_for not_opened_in"
    " not_used_in unchanged_for at_least unused_for older_then"
    " alter_als aelter_als alter_is_als alter_ist_als alter_sind_als mehr_als seit_mehr_als"
    " uber ueber altere_als mindestens"
    " mas_antiguo_que mas_antiguos_que mas_antigua_que mas_antiguas_que mas_viejo_que mas_viejos_que mas_vieja_que"
    " mas_viejas_que mas_antiguo_de mas_antiguos_de mas_antiguas_de mas_viejos_de mas_viejas_de"
    " de_mas_de de_hace_mas_de"
    " hace_mas_de con_mas_de mas_de que_tengan_mas_de que_tienen_mas_de mayores_de tengan_mas_de tienen_mas_de"
)
OUTRIGHT_OLDER = frozenset(
    " ".join(form.split("_"))
    for form in listed(
        "older_than older_then alter_als aelter_als alter_is_als alter_ist_als alter_sind_als"
        " altere_als mas_antiguo_que mas_antiguos_que mas_antigua_que"
        " mas_antiguas_que mas_viejo_que mas_viejos_que mas_vieja_que mas_viejas_que mas_antiguo_de mas_antiguos_de"
        " mas_antiguas_de mas_viejos_de mas_viejas_de not_modified_in not_changed_in not_touched_in untouched_for"
        " not_opened_in not_used_in unchanged_for unused_for de_hace_mas_de hace_mas_de mayores_de"
    )
)
"""Of these, those that need no word such as "old" or "ago" after the time."""
NEWER = (
    "newer_than younger_than less_than under within_the_last within_the_past within newer_then more_recent_than"
    " neuer_als junger_als juenger_als neuere_als weniger_als"
    " mas_nuevo_que mas_nuevos_que mas_nueva_que mas_nuevas_que mas_reciente_que mas_recientes_que menos_de"
    " mas_nuevos_de mas_recientes_de de_hace_menos_de hace_menos_de de_menos_de con_menos_de"
)
OUTRIGHT_NEWER = frozenset(
    " ".join(form.split("_"))
    for form in listed(
        "newer_than newer_then younger_than within_the_last within_the_past more_recent_than neuer_als junger_als"
        " juenger_als neuere_als mas_nuevo_que mas_nuevos_que mas_nueva_que mas_nuevas_que mas_reciente_que"
        " mas_recientes_que mas_nuevos_de mas_recientes_de de_hace_menos_de hace_menos_de"
    )
)
OLD = "old ago alt alte alten her antiguedad antiguo antiguos atras"
LAST = (
    "last past previous letzten letzte letztes letzter letztem vergangenen vergangene vergangenes"
    " ultimos ultimas ultimo ultima pasado pasada pasados"
)
THIS = "this current dieses diese dieser diesem diesen este esta"
BEFORE = (
    "before befor prior_to earlier_than older_than from_before from_befor until_before vor antes_de antes_del"
    " anterior_a anteriores_a"
    " anteriores_al anterior_al older_then alter_als aelter_als not_modified_since not_changed_since not_touched_since"
    " untouched_since unchanged_since mas_antiguos_que mas_antiguas_que mas_viejos_que mas_viejas_que de_antes_de"
)
THROUGH = (
    "up_to up_to_and_including up_until until through bis bis_einschliesslich bis_zum bis_ende hasta hasta_el"
    " hasta_finales_de"
)
"""And that one too."""
SINCE = (
    "since from_since starting starting_from seit ab desde desde_el modified_since changed_since from_on a_partir_de"
    " a_partir_del"
)
AFTER = (
    "after later_than newer_than past nach neuer_als junger_als despues_de despues_del posterior_a posteriores_a"
    " posteriores_al mas_nuevos_que mas_recientes_que newer_then modified_after"
)
BEFORE_LAST = "before_last vorletzten vorletztes vorletzte vorletztem antepasado antepasada"
"""Two units back: "the year before last"."""
DURING = "from in of during on dated modified made created aus von vom im in_dem am en de del por"
TODAY = "today todays heute heutigen heutige hoy"
YESTERDAY = "yesterday yesterdays gestern gestrigen ayer"
MODIFIED = (
    "modified changed edited updated touched created made taken saved downloaded written"
    " geandert geaendert bearbeitet erstellt gemacht aufgenommen entstanden gespeichert stammen sind"
    " modificado modificados modificada modificadas cambiados cambiadas creados creadas hechos hechas editados tomadas"
    " modifique cambie edite toque guarde"
)
