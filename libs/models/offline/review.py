"""The offline critic and resolver: rules over the words of a request, independent of the planner (S0-16, S0-18).

A change needs a verb that asks for it, and a deletion a verb of deleting. Words that limit which files are meant need a
filter in the plan. A wrong yes costs files, a wrong no costs a question: when in doubt, the critic objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.multimodal import compiler
from libs.multimodal.dsl import PlanRefused
from libs.multimodal.ports import StepType
from libs.skills import ATTACHMENTS, REFERENCE, Effect, Primitive, ToolDefinition, is_reference, sources, strings
from libs.texts import composed

APPROVED = json.dumps({"approved": True, "reason": ""})
Objection = tuple[int | None, str]

VERBS: Mapping[str, str] = {
    "delete": r"delet\w*|remov\w*|eras\w*|trash|bin|del|rm|binn\w*|scrap|toss\w*"
    r"|discard|wipe|purge|shred|clear|dedup\w*"
    r"|clean\w*|tidy|empty (?:the|this|my)|dump|ditch|throw|chuck|toss|get(?:ting)? rid|free up|keep (?:just|only|one)"
    r"|(?:can|should|must|to) go|(?:do not|don'?t|no longer) (?:need|want)",
    "copy": r"copy|copies|copied|copying|duplicate|clone|back(ing)? ?up|backup",
    "pack": r"zip\w*|pack\w*|compress\w*|archiv\w*|bundle|tar\w*|back(ing)? ?up|backup",
    "unpack": r"unzip\w*|unpack\w*|unarchive|extract\w*|decompress\w*|open|untar",
    "create": r"creat\w*|mak(e|ing)|add|new|set up|start|write|folders?|director(y|ies)",
    "remember": r"remember\w*|forget|note|keep in mind|bear in mind|recuerda\w*|acu[eé]rda\w*|olvida\w*|anota\w*",
    "import": r"import\w*|attach\w*|upload\w*",
    "draw": r"draw\w*|mak(?:e|ing)|creat\w*|generat\w*|produc\w*|prepare|build|write|compose|render|take|diagrams?"
    r"|charts?|graphs?|plot|pictures?|images?|illustrations?|screenshots?|overview|report|document|srs|specifications?",
    "rename": r"renam\w*|put the (?:date|year)"
    r"|call\w*|name[ds]?|names|naming|number\w*|prefix|suffix|replac\w*|chang\w*|capitali[sz]\w*"
    r"|(?:lower|upper|title) ?case\w*|extensions?|strip|underscores?",
    "move": r"mov\w*|mv|go(?:es)? (?:in)?to|belongs?|in a (?:new )?folder (?:called|named)"
    r"|put|sort\w*|organi[sz]\w*|group|tidy|filing|arrange|bring|shift|place|drag|clean\w*|split|send"
    r"|separate|gather|collect|store|take|drop|archive|relocate|transfer|categori[sz]e|clear",
}
"""Verbs that ask for a change, by the primitive's kind or the tool's effect."""
KINDS = {"copy_nodes": "copy", "pack_nodes": "pack", "unpack_archive": "unpack", ATTACHMENTS: "import"} | {
    str(step_type): "draw" for step_type in StepType
}
IN_NAMES = re.compile(
    r"\b(remov\w*|delet\w*|strip|tak\w*|drop|eras\w*|cut)\b(?:(?!\b(?:with|ha(?:s|ve|ving)|whose|contain\w*)\b)[^.;])*?"
    r"\b(from|in|out of)\b[^.;]*?\b(?:file)?names?\b"
)
A_COPY = re.compile(r"\b(?:put|place|make|save|create|keep|drop|store)\b(?=[^.;,]{0,20}?\b(?:copy|copies)\b)")
THE_COPY = re.compile(
    r"\b(?:the|this|that|each|every|old|these|those|any|all|its|extra)\s+(?:copy|copies|duplicates?|backups?)\b"
)
SENT = re.compile(r"\b(?:into|to|in|per|for each)\b|->|=>|→")
NOT = r"\b(?:do not|don'?t|never|not|without|no|nor)\s+(?:\w+\s+){0,1}?"
NOTHING = re.compile(
    rf"\bchang\w* nothing\b|{NOT}(?:chang\w*|touch|modify) any(?:thing| files?)|\bonly (?:look|show|tell|list)\b"
)
EXCEPT = re.compile(
    r"\b(?:except|but not|but keep(?! (?:one|only|just|a)\b)|excluding|other than|apart from"
    r"|leave (?!only)(?P<left>[^.;,]*?) (?:alone|as|where))\b(?P<rest>[^.;]*)"
)
UNITS = {"b": 1, "byte": 1, "kb": 1e3, "kib": 1e3, "mb": 1e6, "mib": 1e6, "meg": 1e6, "gb": 1e9, "gib": 1e9, "gig": 1e9}
SIZE = re.compile(
    r"(?P<than>\b(?:larger|bigger|more|over|above|at least|smaller|less|under|below|at most)\b[\w\s]{0,12}?)"
    r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>bytes?|b|[kmg]i?b|megs?|gigs?|megabytes?|gigabytes?|kilobytes?)\b"
)
SMALLER = re.compile(r"smaller|less|under|below|at most")
AGES = r"\b(?:older|newer|since|ago|(?:from|of) (?:yesterday|today)|(?:last|this|past) (?:week|month|year))\b"
LIMITS: Mapping[str, frozenset[str]] = {
    AGES: frozenset(("modified_before", "modified_after", "include", "order")),
    r"\b(?:largest|biggest|smallest|newest|oldest|latest)\b": frozenset(("order", "keep")),
    r"\bempty (?!the\b|this\b|my\b)": frozenset(("empty", "smaller_than")),
    r"\bduplicate(?:s| files)\b": frozenset(("strategy",)),
}
"""Words that limit the files, and the filters of which a read of the plan must have one."""


def review(task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> str:
    """Return the verdict as JSON: `{"approved", "reason", "step"}`; the first objection decides."""
    if task.call is not None and [(step.tool, step.args) for step in plan.steps] == [(task.call.tool, task.call.args)]:
        # The request is this call: there are no words that it could contradict.
        return APPROVED
    objection = next(_objections(task, plan, {tool.name: tool for tool in catalogue}), None)
    if objection is None:
        return APPROVED
    step, reason = objection
    return json.dumps({"approved": False, "reason": reason, "step": step}, ensure_ascii=False)


def is_document(text: str, plan: Plan, catalogue: Sequence[ToolDefinition]) -> bool:
    """Return whether the request is a document of the Task DSL, and the plan is that document."""
    try:
        given = compiler.planned(text, catalogue)
    except PlanRefused:
        return False
    return given is not None and same(given, plan)


def _objections(task: Task, plan: Plan, tools: Mapping[str, ToolDefinition]) -> Iterator[Objection]:
    said = _said(task)
    if not plan.steps:
        yield None, "The plan has no step."
    for step in plan.steps:
        tool = tools.get(step.tool)
        if tool is None:
            yield step.ordinal, f"Step {step.ordinal} uses {step.tool}, which is no tool of the catalogue."
        elif tool.effect is Effect.ACT:
            yield step.ordinal, f"Step {step.ordinal} acts outside the workspace, which these rules cannot judge."
        elif tool.effect is Effect.REMEMBER:
            yield from _unlicensed(step, tool, said)
        elif tool.mutates:
            yield from _unlicensed(step, tool, said)
            yield from _spared(step, plan, said)
    if any(step.tool in tools and _changes_files(tools[step.tool]) for step in plan.steps):
        yield from _unlimited(plan, tools, said)


def _changes_files(tool: ToolDefinition) -> bool:
    return tool.mutates and tool.effect is not Effect.REMEMBER


def _said(task: Task) -> str:
    """Return the request and replies without names and quotes, after the last request if they ask for nothing."""
    told = ". ".join(filter(None, (task.text, *task.replies, task.clarification, task.skill)))
    text = _masked(told, task)
    if task.history and not any(re.search(rf"\b(?:{verbs})\b", text) for verbs in VERBS.values()):
        text = f"{_masked(task.history[-1].about, task)}. {text}"
    return text


def _masked(text: str, task: Task) -> str:
    """Mask names, because a name is no verb: "delete remove.txt" has one verb of deleting."""
    folded = re.sub(r"[\"“„«`][^\"”“»`]*[\"”“»`]", " § ", composed(text).casefold().replace("’", "'"))
    known = {
        composed(str(name)).casefold().rstrip("/")
        for key in ("paths", "names")
        for name in task.workspace.get(key) or ()
    }
    for name in sorted(
        (name for name in known if len(name) > 2 and name in folded and not name.isalnum()), key=len, reverse=True
    ):
        folded = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", f" _{name.translate(DOTS)} ", folded)
    return folded


DOTS = str.maketrans(dict.fromkeys(" -.;,'()&+", "_"))
"""A masked name is one word that no verb matches."""


def _unlicensed(step: Step, tool: ToolDefinition, said: str) -> Iterator[Objection]:
    wanted = {KINDS.get(tool.method, str(tool.effect))} | ({"delete"} if tool.deletes(step.args) else set())
    if wanted == {"pack", "delete"} and re.search(rf"\b(?:{VERBS['move']})\b", said):
        wanted = {"pack"}  # what is moved into an archive does not stay
    for kind in sorted(wanted):
        if NOTHING.search(said) or re.search(rf"{NOT}(?:{_verbs(kind, tool)})\b", said):
            yield step.ordinal, f"Step {step.ordinal} would {kind} files, which the request rules out."
        elif not _asked(kind, tool, said):
            yield step.ordinal, f"Step {step.ordinal} would {kind} files, which the request does not ask for."


def _verbs(kind: str, tool: ToolDefinition) -> str:
    # The words for a primitive are known; those for a program or an external tool are its author's.
    named = bool(tool.method) and tool.primitive is not Primitive.PROGRAM
    declared = () if kind == "delete" or named else tool.intents
    own = {re.escape(verb.split()[0].casefold()) for intent in declared for verb in intent.verbs}
    return "|".join((VERBS.get(kind, r"(?!)"), *sorted(own)))


def _asked(kind: str, tool: ToolDefinition, said: str) -> bool:
    """Return whether the request has a verb for it. A noun is none: "the copy", "from the names"."""
    text = THE_COPY.sub("§", said) if kind == "copy" else A_COPY.sub("§", said) if kind in ("move", "create") else said
    if kind == "delete":
        text = IN_NAMES.sub("§", text)
    if re.search(rf"\b(?:{_verbs(kind, tool)})\b", text) or (kind == "rename" and IN_NAMES.search(said)):
        return True
    verbless = not any(re.search(rf"\b(?:{VERBS[other]})\b", text) for other in ("delete", "copy", "pack", "rename"))
    return kind == "move" and verbless and SENT.search(text) is not None


def _spared(step: Step, plan: Plan, said: str) -> Iterator[Objection]:
    """Object to changes of what an exception names, by name or by a list."""
    spared = " ".join(" ".join(filter(None, found.groups())) for found in EXCEPT.finditer(said))
    words = {word.strip("_.,") for word in spared.split()} - {"the", "folder", "file", "files", "it", "them"}
    if not words:
        return
    for path in _paths(step):
        name = composed(path.rpartition("/")[2]).casefold()
        ending = name.rpartition(".")[2]
        if words & {name.translate(DOTS), ending, f"{ending}s"}:
            yield step.ordinal, f"Step {step.ordinal} changes {path}, which the request wants left alone."
    copies = step.tool == "archive-files.pack" and not step.args.get("remove")  # It leaves the originals anyway.
    for read in () if copies and words <= {"original", "originals"} else _reads(step, plan):
        if not {"exclude", "spare", "include", "order", "lacking", "keep"} & read.args.keys() and not _filtered(read):
            yield read.ordinal, f"Step {read.ordinal} does not exclude what the request wants left alone."


def _filtered(read: Step) -> bool:
    return any(key.endswith("_than") or key.startswith("modified") for key in read.args)


def _unlimited(plan: Plan, tools: Mapping[str, ToolDefinition], said: str) -> Iterator[Objection]:
    """Every size, age, order and emptiness that the request gives is a filter of a read."""
    reads = [step for step in plan.steps if step.tool in tools and not tools[step.tool].mutates]
    first = reads[0].ordinal if reads else 1
    if any(tools[read.tool].effect is Effect.REPORT for read in reads):
        return  # a limit may be that of the report
    for found in SIZE.finditer(said):
        keys = ["smaller_than" if SMALLER.search(found["than"]) else "larger_than"]
        if any(found.start() in range(*each.span()) for each in EXCEPT.finditer(said)):
            keys = ["smaller_than", "larger_than"]
        unit = UNITS.get(found["unit"].rstrip("s")) or UNITS[f"{found['unit'][0]}b"]
        size = float(found["number"].replace(",", "") or 0) * unit
        given = [float(read.args.get(key) or -1e18) for read in reads for key in keys]
        if not any(abs(one - size) <= 0.08 * size + 1 for one in given):
            yield first, f"Step {first} does not keep to {found[0].strip()}: the request limits the size."
    for pattern, fields in LIMITS.items() if reads else ():
        word = re.search(pattern, said)
        if word and not any(fields & read.args.keys() for read in reads):
            yield first, f"Step {first} does not keep to “{word[0].strip()}”: the request limits the files."


def _reads(step: Step, plan: Plan) -> list[Step]:
    numbers = sources(step.args)
    return [other for other in plan.steps if other.ordinal in numbers and not other.mutates]


def _paths(step: Step) -> list[str]:
    given = (step.args[key] for key in ("path", "paths", "source") if key in step.args)
    return [path for path in strings(list(given)) if not is_reference(path)]


def same(left: Plan, right: Plan) -> bool:
    """Return whether both plans do the same, apart from their ids and reasons."""
    return [(step.tool, step.args) for step in left.steps] == [(step.tool, step.args) for step in right.steps]


def without(plan: Plan, reason: str, *, new_id: Callable[[], str]) -> Plan:
    """Return the plan without the step that the reason names and all that need it.

    The plan comes back unchanged if no change would be left. The reasoning names what was left out.
    """
    named = re.search(r"[Ss]tep (\d+)", reason)
    out = {int(named[1])} & {step.ordinal for step in plan.steps} if named else set[int]()
    for step in plan.steps:
        out |= {step.ordinal} if out & {*step.depends_on} else set()
    kept = [step for step in plan.steps if step.ordinal not in out]
    if not out or not any(step.mutates for step in kept):
        return plan
    numbers = {step.ordinal: n for n, step in enumerate(kept, start=1)}
    steps = tuple(_renumbered(step, numbers, new_id) for step in kept)
    return Plan(plan_id=new_id(), reasoning=f"{plan.reasoning} Left out: {reason}".strip(), steps=steps)


def _renumbered(step: Step, numbers: Mapping[int, int], new_id: Callable[[], str]) -> Step:
    def moved(value: Any) -> Any:
        found = REFERENCE.match(value) if isinstance(value, str) else None
        return f"$step({numbers[int(found[1])]}).{found[2]}" if found else value

    args = {name: moved(value) for name, value in step.args.items()}
    changed = {"ordinal": numbers[step.ordinal], "args": args, "depends_on": sources(args)}
    return step.model_copy(update={"step_id": new_id(), **changed})
