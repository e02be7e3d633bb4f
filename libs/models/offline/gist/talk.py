"""The words that stories are told with, in three languages: who talks with whom and when, what points to something told
before, and what people write things down in. None of them is what a question is about.
"""

from __future__ import annotations

from libs.retrieval.lexicon import listed

HOLDERS = listed(
    "note notes notebook notebooks message messages msg msgs mail mails letter letters paper papers document"
    " documents text texts sheet sheets page pages list lists file files folder folders visit visits zettel"
    " notiz notizen notizbuch heft hefte brief briefe liste listen blatt nachricht nachrichten texte unterlagen"
    " papier papiere nota notas apunte apuntes cuaderno cuadernos libreta papel papeles mensaje mensajes carta"
    " cartas lista listas documento documentos hoja hojas texto textos"
)
"""What something is written in."""
POINTS = listed(
    "it that this them they her his its their there those these das es davon darin dort ihn ihm ihr ihre sein"
    " seine eso esto ello ahi alli su sus"
)
"""What points to something that was told before."""
THEIRS = listed(
    "her his its their there inside darin dort ihr ihre ihrem ihren sein seine seinem seinen su sus ahi alli"
)
"""What points to the place of it."""
TALK = listed(
    "law reckon reckons reckoned figured keep keeps keeping wonders zuletzt letztens neulich hingeschrieben geandert"
    " went want wanting wants came coming comes going goes gone bound use used using tell told telling talk"
    " talked asking ask asks asked call called calls ring rang swore swear bless rest dear today tomorrow"
    " yesterday monday tuesday wednesday thursday friday saturday sunday morning evening night week life idea"
    " memory mind head whole thing worked working work forgot remember years over every last anyway haha lol"
    " jaja jajaja again god almost nearly full hogging biggest brother sister sagt sagte fragt fragte fragen"
    " frag kommt komme komm morgen heute gestern montag dienstag mittwoch donnerstag freitag samstag sonntag"
    " leben kopf idee vergessen steh stehe voll fast platte brocken dicken rechner genau gesucht brauch braucht"
    " bräuchte pide piden pregunta preguntan preguntandome preguntando quiere quieren dice dicen viene vienen"
    " hoy manana ayer lunes martes miercoles jueves viernes sabado domingo vida cabeza memoria hice hizo hago"
    " puse puso pase acuerdo era fue fueron fijate alguno alguna algunos lio iba trabajo mio mia mios mias"
    " nuestro mrs mr miss ms frau herr herrn senora senor don dona vamos ver cos cant ill far him forever down"
    " blowed thinks thought thinking tho tbh chef kollege kollegin nachbar nachbarin opa oma mama papa mutter"
    " vater mum dad wife husband hubby boss friend jefe jefa vecino vecina madre padre abuela abuelo marido"
    " mujer hija hijo"
)
"""What is done, said and thought around a question, and by whom."""
