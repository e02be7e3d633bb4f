"""The command's own texts around a turn. The turn's texts come from the platform."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLAN = "What I will do:"
CHANGES = "changes files"
MORE = "… and {n} more: type “show all”"
MORE_CHANGES = "… {n} of these are not listed here: type “show all”, or run `suma diff`"
WHOLE = "Full output ({size}): suma fetch {id}"
SANDBOX = "It ran in {name}."
BECAUSE = "  Asked because this session has read {sources}"
MARK = "  the first {kind} content of this session: {source}"
LINES_LEFT_OUT = "… {n} lines are left out"
OF_COMMANDS: Mapping[str, str] = {
    "changed {paths}": "changed",
    "refused what it did to {paths}": "refused",
    "the sandbox had no {paths}": "left_out",
}
"""Sentences about the paths in a command's result, and the names of their lists."""
QUEUED = "Waiting for {n} earlier tasks"
KEEP = "keep {keep}, remove {rest}"
CONFLICT = "{name} (modified since)"
SAME = "same as {keep}"
SAYS = "says “{text}”"
PACKS = "contains {files}: {of}"
FOLDER = "a folder with {files}"
ALL_HERE = "everything in this folder"
RIGHT_HERE = "this folder"
GROUP = "{verb} {n} in {place}"
VERBS: Mapping[str, str] = {
    "deleted": "delete",
    "overwritten": "overwrite",
    "changed": "change",
    "moved": "move",
    "created": "create",
}
MORE_FOLDERS = "… and changes in {n} more folders; `suma diff` lists them all"
FIRST_ONES = "These are {n} of {all}, the riskiest first; `suma diff` lists every one."
TAKES_MORE = "With what is in these folders that leaves out {n}. Make the other {rest}?"
PREPARED = "Prepared before: {n} left out. “y” makes the other {rest}; “x” chooses anew."
AND_MORE = "and {n} more"
BACK: Mapping[str, str] = {
    "moved": "{path} (restored)",
    "created": "will be restored",
    "deleted": "will be removed",
    "changed": "will be restored",
    "overwritten": "will be restored",
}
"""The effect of an undo, by kind of change."""
COPY = "a copy of {source}"
DIFF: Mapping[str, tuple[str, str]] = {
    "count": ("change", "changes"),
    "created": ("created", "created"),
    "changed": ("changed", "changed"),
    "overwritten": ("overwritten", "overwritten"),
    "moved": ("moved", "moved"),
    "deleted": ("deleted", "deleted"),
}
KEPT = "{size} kept in history"
FREED = ", freed in {days} or by `suma purge`"
CHOICES = "[y]es, [n]o"
EXCLUDE = "e[x]clude some"
OTHERWISE = "or say what to change"
SUCH_AS = "or say what to change (“but not {name}”)"
UNCLEAR = "Is that a yes? Nothing is changed until you say so. To change the plan, say how: “only the PDFs”."
TAKE_BELOW = "Include those in subfolders?"
BELOW = "in all subfolders"
"""The request that a yes to that question sends."""
LEAVE_OUT = "Numbers to leave out, such as 1,3-5"
NO_NUMBER = "{text} is not a number"
NO_SUCH = "there is no {n}: choose from 1 to {most}"
ANSWER = "Your answer (press Enter to cancel)"
NUMBER_OR_WORDS = "A number, or other words (press Enter to cancel)"
HAPPENED = "[h]appened, did [n]ot happen, [l]ater"
HOW_KNOWN = "How do you know (optional)"
STAYS_OPEN = "Nothing was changed. The question is still pending; resume with suma chat --session {session}"
FIRST_THIS = "Answer yes or no first; “{text}” follows right after."
ALLOW = "Suma has not worked in {folder} before. Allow Suma to work in this folder from now on?"
COMMIT = "Make these changes?"
UNDO_LAST = "Undo this, the last change in this folder?"
NOTHING_TO_UNDO = "Nothing to undo in this folder."
UNDO_OLDER = "The newest session changed nothing. Undo “{title}” in {folder}?"
REDO_OLDER = "The newest session has undone nothing. Redo “{title}” in {folder}?"
STOP = "Stop this task? (no = keep it running in the background)"
STOPPED = "Stopped. No file was changed."
MORE_SESSIONS = "Older sessions are not shown; --limit {n} shows more."
TOO_LATE = "It was done before it could be stopped."
UNDO = "To undo this: suma rollback {session}"
REDO = "To redo this: suma redo {session}"
UNDO_BY_WORDS = "To undo this, say: undo that"
MODIFIED = "Nothing was changed: these files have been modified since."
REST: Mapping[str, str] = {
    "rollback": "To undo the rest: suma rollback --exclude PATH for each of these.",
    "redo": "To redo the rest: suma redo --exclude PATH for each of these.",
}
CHANGED: Mapping[str, str] = {
    "committed": "Done: {n}.",
    "rolled_back": "Undone: {n}.",
    "dropped": "Nothing was changed; the staged changes were discarded.",
}
"""The result for the files, shown if there is no answer text."""
CLOSED: Mapping[str, str] = {
    "expired": "There was no answer in time.",
    "superseded": "Something has changed since, so I'm asking again.",
    "stale": "That answer came too late or was not allowed.",
}
"""Outcomes of a question that the person did not cause."""
STATES: Mapping[str, str] = {
    "failed": "not done",
    "denied": "not done",
    "refused": "refused",
    "skipped": "left out",
    "cancelled": "stopped",
    "rolled_back": "undone",
    "unknown": "outcome unknown",
}
"""States in which a step or a turn ends."""
WAITING: Mapping[str, str] = {
    "message.accepted": "waiting",
    "turn.started": "reading",
    "turn.analysed": "thinking",
    "plan.proposed": "starting",
    "step.changed": "working",
    "approval.closed": "continuing",
    "clarification.replied": "thinking",
    "workspace.changed": "answering",
}
"""The activity after each event, shown while no step runs."""
WELCOME = "Say what you want done{where}. /help explains; exit or Ctrl-D ends."
WHERE = " in {folder}"
HELP = """Say in plain words what to do with your files, for example:
  find duplicates            zip the photos
  move the PDFs to Invoices  delete the .tmp files
  sort by type               how large is this folder?
Every change is shown first: y makes it, n does not, x leaves some out, or say what to change.
undo that   undoes the last change
suma redo   makes it again
/help       shows this help
exit, quit  end the chat (so does Ctrl-D)"""
LEAVE = re.compile(r"/?(?:exit|quit|bye|goodbye|q)[.!]?", re.IGNORECASE)
"""Texts that end the chat."""
ASK_HELP = re.compile(r"/(?:help|\?)|help|\?", re.IGNORECASE)
UNKNOWN_COMMAND = "{text} is not a command. /help explains; exit ends."
COMMAND = re.compile(r"/[a-z]+", re.IGNORECASE)
GO_ON = "To continue later: suma chat --session {session}"
WITHOUT_YOU = "Still running in the background. Resume with suma chat --session {session}"
SOME = re.compile(r"(?:x|exclude)(?:\s+(?P<which>[\d\s,-]+))?", re.IGNORECASE)
"""Excludes items: the given numbers, or those that are asked for next."""
SHOW_ALL = re.compile(
    r"(?:(?:show|list|see) )?(?:(?:me|please) )*"
    r"(?:all|everything|(?:all of )?them(?: all)?|more|the (?:rest|others?))(?: \d+)?"
)
"""The words that ask for the full list of items."""
WORDS = re.compile(r"\w+")
