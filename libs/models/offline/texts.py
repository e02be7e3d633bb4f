"""Everything that the planner says, in plain English."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SHOWN_MOST = 5

NOT_UNDERSTOOD = "I did not understand “{said}”. Say it in other words. I know requests such as {near}."
NOTHING_UNDERSTOOD = "I did not understand that. Say it in other words. I know requests such as {near}."
NOT_HERE = "There is no “{said}” in this folder.{near} Which file do you mean?"
NEAR = " There is {names}."
TOO_LONG = "This message is too long for me ({length:,} characters; I read up to {most:,}). Make it shorter."
TOO_SLOW = "This took me too long to work out. Say it in fewer words or in several messages."
WHICH = "“{said}” could mean {names}. Which one?"
DISTRIBUTES = "Does “{said}” apply to all of them, or to the last one only? Please say it in two requests."
SHARED = "Does “{said}” apply to all of them, or to one only? Please say it in two requests."
YEAR = (
    "Do you mean {name} in the file names, or files that were changed in {when}? Say “with {name} in the name” or "
    "“changed in {when}”."
)
COUNT = "You said {said}, but {found} match: {names}. Which ones?"
WHICH_OF = "Which {count} of them? I can take the {count} newest, oldest, largest or smallest, or all of them."
ONE = "{found} match “{said}”: {names}. Which one?"
NOTHING_LEFT = "With these exceptions nothing is left to do. What should I do?"
SPARED = "I can't leave out “{said}” in the same step. Name the files that should stay."
OTHERS = "Other than which? Please name the files that should stay."
REST = "Do you mean everything in this folder except {names}?"
WHAT_BEFORE = "I do not know what “{said}” refers to. Which files do you mean?"
IT_WHICH = "“{said}” could be any of these: {names}. Which one?"
TARGET = "There is no folder “{said}” here. Should I make a new folder with that name in this folder?"
EVERYTHING = "I won't delete everything in this folder. Name what should go."
OUTSIDE = "I can't touch “{said}”: it is outside the folder that I work in."
RESERVED = "I don't read or change “{said}”: it is the data of another program, or of Suma."
SHELL = "I don't run commands. Say in words what should happen to which files."
CONDITION = "I can't act on conditions such as “{said}”. Say what to do now, and to which files."
ASKING = (
    "I can't answer that, and I changed nothing. To have something done, say it as a request, such as “delete "
    "notes.txt”."
)
BEYOND = (
    "I can't do that: none of my skills can. I work on the files in this folder, such as “find duplicates” or "
    "“move the PDFs to Papers”."
)
KEPT = "OK, I'll leave that as it is."
NO = "OK, I'll leave it. Nothing was changed."
MEANT = "Do you mean “{said}”?"
DISAGREES = "“{said}” and the tool that the plan uses for it do not agree: {ways}. Which one do you mean?"
WHICH_TOOL = "I can read that in several ways: {ways}. Which one do you mean?"
WHICH_WAY = "I can read that in several ways ({tool}): {ways}. Which one do you mean? Please say it in other words."
WITHOUT = "without that"
NOT_IN_NAMES = "No file name here has “{said}”. Which text should go?"
PART_OF_FOLDER = "I can't do that with “{said}” and leave a part of it as it is. Name the files in it that it is about."
INTO_ITSELF = "“{said}” can't go into itself. Which folder do you mean?"
AMONG = "Among which files? Please say it with their kind, such as “the oldest of the PDFs in Papers”."
COPIES = (
    "The copies that I make are duplicates, too. Should I really remove duplicates after that? Please say it "
    "in two requests."
)
EACH = (
    "Should each get its own archive, or should all go into one? Please name the files of one archive at a "
    "time, or say “all” for one archive."
)
LEFT_OUT = " (I left out “{said}”, which I did not understand.)"
STEPS = "Please say that in several requests: I can't combine these in one step."
UNSEEN = (
    "This folder has {count:,} files, more names than I can look at. Do you mean the files with “{said}” in their name?"
)
UNDO = "To undo the last change, agree to it here, or run `suma rollback`."
REMEMBERED = "I remember: {facts}."
NO_FACTS = "I remember nothing about you yet. Say “remember that …” to change that."
BY_FACT = "You asked me to remember: {fact}."
GREETING = (
    "Hello. Tell me what to do with the files in this folder, such as “sort my files by type” or “find duplicates”."
)
CANNOT_MAKE = (
    "I do not know how to make {said}. I can draw component and sequence diagrams of a folder of code, chart its file "
    "types, sizes or ages, chart a table (“a chart of sales by month from sales.csv”), and put these into one PDF. "
    "Please ask for these alone."
)
FAREWELL = "You're welcome."
CAPABILITY = (
    "I can list, find, search, move, copy, rename, sort, zip, unzip, summarize and delete files in this folder, "
    "and find duplicates. You see every change before it is made, and can undo it. I understand plain requests; "
    "for any words, set SUMA_MODEL to use a language model."
)
CAN_UNDO = "Yes. You see every change before it is made, and “undo” takes the last change back."


def names(paths: Sequence[str]) -> str:
    """Quote some of the paths."""
    shown = ", ".join(f"“{path}”" for path in paths[:SHOWN_MOST])
    return f"{shown} and {len(paths) - SHOWN_MOST} more" if len(paths) > SHOWN_MOST else shown


def choices(options: Sequence[str]) -> str:
    """Numbered, so that a number is an answer."""
    return ", ".join(f"({n}) {option}" for n, option in enumerate(options, 1))


def setting(name: str, value: object) -> str:
    """Return an argument in words."""
    return "subfolders included" if (name, value) == ("recursive", True) else f"{name.replace('_', ' ')} {value}"


def left_out(descriptions: Iterable[str]) -> str | None:
    """Return the sentence in a step's description about words that were left out."""
    begins = LEFT_OUT.partition("“")[0]
    found = next((text.partition(begins) for text in descriptions if begins in text), None)
    return f"{(begins + found[2]).strip(' ()')} " if found else None
