"""Texts of questions to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libs.events import EffectClass
from libs.texts import count, name, quoted

COMMIT_UNDO = "This can be undone: previous versions are kept; undo restores them unless they have been modified since."
CUT_SHORT = "This is only a part of the task."
STAGED = "Only staged: no file changes until you have seen the whole diff and agreed."
FINAL = "It acts outside this folder and cannot be undone from here."
UNDO: Mapping[EffectClass, str] = {
    EffectClass.PURE: "It changes nothing, so there is nothing to undo.",
    EffectClass.IDEMPOTENT: "If interrupted, it is tried again and still happens once.",
    EffectClass.RECONCILABLE: "If interrupted, Suma first checks whether it happened.",
    EffectClass.COMPENSABLE: "It is undone only if it is interrupted or cancelled.",
    EffectClass.AT_MOST_ONCE: "If interrupted, it is not tried again; you must find out whether it happened.",
    EffectClass.STAGED: STAGED,
}


def commit_title(changes: int, *, clashes: int, trouble: str) -> str:
    """Ask about a diff of so many changes."""
    if clashes:
        return f"{clashes} of {count(changes, 'change')} conflict with newer files; exclude them to commit the rest"
    title = f"Make {count(changes, 'change')}?"
    return f"{title} (the last attempt changed nothing: {trouble[:500]})" if trouble else title


def more_below(found: int) -> str:
    """Say what a list of one folder leaves out; empty if that is nothing."""
    return f"{found:,} more in subfolders; to include them, say: in all subfolders" if found else ""


def denied(found: Sequence[tuple[str, str]]) -> str:
    """Name files that say the opposite of what was looked for, each with its line."""
    quotes = ", ".join(f"{name(path)} ({quoted(line)})" for path, line in found)
    return f"left out, since it says otherwise: {quotes}"[:1000] if quotes else ""


def unread(paths: Sequence[str], found: int) -> str:
    """Count the documents that could not be read, and name the first of them."""
    more = [] if found <= len(paths) else ["…"]
    return f"skipped {count(found, 'unreadable file')} ({', '.join((*map(name, paths), *more))})"[:500] if found else ""


def undo(effect: EffectClass, *, in_workspace: bool, staged: bool, destination: str | None = None) -> str:
    """Say how what a tool does can be undone (P5), and which host receives its args."""
    if in_workspace:
        return STAGED if staged else UNDO[effect]
    final = "" if effect in (EffectClass.PURE, EffectClass.STAGED) else f"{FINAL} "
    sent = f"Its arguments are sent to {destination}. " if destination else ""
    return f"{sent}{final}{UNDO[effect]} (Effect class: {effect}.)"


def did_it_happen(what: str) -> str:
    return f"Did this happen? {what}"[:500]
