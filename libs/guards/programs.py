"""Check commands given as lists of words, run without a shell (S2-20): the program and its arguments.

An allowed program may still start another one or write elsewhere: find -exec, tar --to-command, sed e. Each such
program has its own guard here; the sandbox contains whatever runs in the end.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import PurePosixPath

from libs.guards.blocked import CommandBlocked
from libs.guards.commands import SHELLS, STARTERS, check_argument

ALLOWED = frozenset(
    """
    awk basename cat cmp comm cp cut date diff dirname du echo egrep expand false fgrep file find fold gawk git grep
    gunzip gzip head id join jq ls make mawk md5sum mkdir mv nl node npm od paste pip printf pwd pytest python
    python3 readlink realpath rg rm rmdir sed seq sha1sum sha256sum sleep sort split stat tail tar tee test touch tr
    tree true uname uniq unzip wc which xxd zcat zip
    """.split()  # noqa: SIM905 -- a list to read
)
"""Programs that may run in the sandbox where the settings name no others."""

FORBIDDEN = ("||", "|", "&&", "&", ";", ">", "<", "$(", "`", "\n", "\r", "\0")
"""Characters that only a shell interprets; without a shell they show that one was expected (S2-20)."""


def argv(line: str) -> tuple[str, ...]:
    """Split a command line that needs no shell into words. Raises CommandBlocked for one that does."""
    bare = re.sub(r"\\.|'[^']*'", "", line, flags=re.DOTALL)
    for found in ("$(", "`"):
        if found in bare:
            raise CommandBlocked("shell", f"The command holds {found!r}, and no shell reads it.")
    # Only now: a shell substitutes inside double quotes, too.
    bare = re.sub(r'"[^"]*"', "", bare)
    for found in FORBIDDEN:
        if found in bare:
            raise CommandBlocked("shell", f"The command holds {found!r}, and no shell reads it.")
    try:
        return tuple(shlex.split(line))
    except ValueError as broken:
        raise CommandBlocked("words", f"The command cannot be read: {broken}.") from broken


def check_command(argv: Sequence[str], *, allowed: Collection[str] = ALLOWED) -> None:
    """Refuse a program that is not in `allowed`, or arguments that make it start or write something else.

    Raises CommandBlocked. Programs are named, not given by a path: a path could be a file that the turn wrote.
    """
    if not argv or not argv[0]:
        raise CommandBlocked("empty", "The command is empty.")
    if any("\0" in word for word in argv):
        raise CommandBlocked("words", "A word of the command holds a NUL.")
    program, rest = argv[0], tuple(argv[1:])
    if program not in allowed:
        raise CommandBlocked("program", f"{program!r} is not among the programs that may run.")
    check_argument(shlex.join(argv))
    for guard in (GUARDS.get(family(program)), _starters):
        if guard and (why := guard(rest)):
            raise CommandBlocked(f"{program} arguments", f"{program} {why}.")


def family(program: str) -> str:
    """Return the name under which a program is guarded: `python3.11` is python, `gfind` is find."""
    name = re.sub(r"[\d.]+$", "", PurePosixPath(program).name)
    return FAMILIES.get(name, name)


CODE_MODULES = frozenset({"cProfile", "code", "pdb", "profile", "runpy", "timeit", "trace"})
"""Python modules that run a text from their arguments."""

Guard = Callable[[Sequence[str]], str | None]
"""Returns why these arguments are refused, phrased to follow the program's name, or None."""


def _any(words: Sequence[str], pattern: str) -> str | None:
    return next((word for word in words if re.match(pattern, word, re.DOTALL)), None)


def _starters(words: Sequence[str]) -> str | None:
    """Refuse options that start programs in several tools."""
    found = _any(words, r"--(?:to-command|use-compress-program|checkpoint-action|rsh|rmt-command|exec|pre)(?:=|$)")
    return f"would start a program with {found}" if found else None


def _find(words: Sequence[str]) -> str | None:
    found = _any(words, r"-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$")
    return f"would act on files with {found}" if found else None


def _awk(words: Sequence[str]) -> str | None:
    for word in words:
        if re.match(r"(?:-f|-i|-l|-E|--file|--include|--load|--exec|-[a-zA-Z]*[fEil])", word):
            return f"would run a program that was not looked at ({word})"
        code = re.sub(r"/(?:[^/\\\n]|\\.)*/", "", word)
        if re.search(r"\bsystem\s*\(|\bgetline\b|@\w|[|]&?\s*(?:\"|getline|\w)|>", code):
            return "would start programs or write files"
    return None


def _tar(words: Sequence[str]) -> str | None:
    names = "checkpoint-action|to-command|use-compress-program|rsh-command|rmt-command|info-script|new-volume-script"
    for word in words:
        name = word.partition("=")[0]
        if len(name) > 3 and any(("--" + full).startswith(name) for full in names.split("|")):
            return f"would start a program with {name}"
        if re.match(r"-[a-zA-Z]*[IF]", word) or (word == words[0] and re.fullmatch(r"[a-zA-Z]*[IF][a-zA-Z]*", word)):
            return f"would start a program with {word}"
        if word in ("-P", "--absolute-names"):
            return f"would leave the workspace with {word}"
    return None


def _sed(words: Sequence[str]) -> str | None:
    """GNU sed: the commands e, r, R, w, W and the flags e and w of s///; and scripts from files."""
    if found := _any(words, r"-[nErsuzi]*f|--fi"):
        return f"would run a script that was not looked at ({found})"
    for script in _sed_scripts(words):
        if _brackets_hide(script):
            return "has a delimiter inside brackets, where its commands cannot be told apart"
        rest, flags = _substitutions(script)
        rest = re.sub(r"/(?:\\.|[^/\\])*/", "0", rest, flags=re.DOTALL)
        if re.search(r"[ew]", flags) or re.search(r"(?:^|[;{}\n\d$,!~+I])\s*[erRwW]", rest):
            return "would start programs or touch other files"
    return None


def _sed_scripts(words: Sequence[str]) -> Iterator[str]:
    """Return the words that sed reads as a script: after each -e, or else the first that is not an option."""
    given = False
    for at, word in enumerate(words):
        if found := re.match(r"-[nErsuz]*e|--e[a-z]*=?", word):
            given = True
            yield word[found.end() :] or "".join(words[at + 1 : at + 2])
    if not given:
        yield next((word for word in words if not word.startswith("-")), "")


def _brackets_hide(script: str) -> bool:
    delimiters = {"/", *re.findall(r"[sy]([^\w\s\\])", script)}
    return any(delimiters & set(inside) for inside in re.findall(r"\[([^\]]*)\]", script))


def _substitutions(script: str) -> tuple[str, str]:
    """Return a sed script without its s and y commands, and the flags of these."""
    flags: list[str] = []

    def keep(found: re.Match[str]) -> str:
        flags.append(found["flags"])
        return ";"

    pattern = r"[sy](?P<by>[^\w\s\\])(?:\\.|(?!(?P=by)).)*?(?P=by)(?:\\.|(?!(?P=by)).)*?(?P=by)(?P<flags>[\w ]*)"
    return re.sub(pattern, keep, script, flags=re.DOTALL), "".join(flags)


def _git(words: Sequence[str]) -> str | None:
    if found := _any(words, r"(?:-c|--config-env|--exec-path|--upload-pack|--receive-pack|-u|--ext-diff|--open-files)"):
        return f"would start a program with {found}"
    if found := _any(words, r"(?:config|submodule|bisect|filter-branch|rebase|difftool|mergetool|daemon|hook|ext::)"):
        return f"could start other programs ({found})"
    return None


def _interpreter(words: Sequence[str]) -> str | None:
    """Refuse code from arguments or standard input; a script file of the workspace runs in the sandbox."""
    for at, word in enumerate(words):
        # The value of such an option is no option.
        if at and words[at - 1] in ("-W", "-X"):
            continue
        if word in ("-", "--") or re.match(r"-[A-Za-ln-z]*[ceEpr]|--(?:eval|print|require|import|loader|check)", word):
            return f"would run code from its arguments ({word})"
        if word == "-m" and words[at + 1 : at + 2] and words[at + 1] in CODE_MODULES:
            return f"would run code from its arguments ({words[at + 1]})"
        if word == "-m" or not word.startswith("-"):
            return None
    return None if set(words) & {"-V", "-v", "--version", "-h", "--help"} else "would run code from its input"


def _shell(words: Sequence[str]) -> str | None:
    return "is a shell"


def _starts(words: Sequence[str]) -> str | None:
    return "starts other programs" if words else None


def _sort(words: Sequence[str]) -> str | None:
    found = _any(words, r"--comp|-[a-zA-Z]*[oT]|--out|--temp")
    return f"would start a program or write elsewhere with {found}" if found else None


def _rg(words: Sequence[str]) -> str | None:
    found = _any(words, r"--pre|--hostname-bin|-[a-zA-Z]*z|--search-zip")
    return f"would start a program with {found}" if found else None


def _zip(words: Sequence[str]) -> str | None:
    found = _any(words, r"-T|-[a-zA-Z]*TT|--unzip-command|--test")
    return f"would start a program with {found}" if found else None


def _make(words: Sequence[str]) -> str | None:
    found = _any(words, r"(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)\s*[:+?]?=|--eval|-E")
    return f"would run {found}" if found else None


def _split(words: Sequence[str]) -> str | None:
    found = _any(words, r"--f")
    return f"would start a program with {found}" if found else None


def _file(words: Sequence[str]) -> str | None:
    found = _any(words, r"-[a-zA-Z]*[Cm]|--comp|--mag")
    return f"would read other magic with {found}" if found else None


FAMILIES = {
    **dict.fromkeys(("gawk", "mawk", "nawk", "original-awk"), "awk"),
    "gfind": "find",
    "gtar": "tar",
    "bsdtar": "tar",
    "gsed": "sed",
    "nodejs": "node",
    "pypy": "python",
    **dict.fromkeys(SHELLS, "sh"),
    **dict.fromkeys(STARTERS, "env"),
}

GUARDS: dict[str, Guard] = {
    "find": _find,
    "awk": _awk,
    "tar": _tar,
    "sed": _sed,
    "git": _git,
    "sh": _shell,
    "env": _starts,
    "python": _interpreter,
    "perl": _interpreter,
    "ruby": _interpreter,
    "node": _interpreter,
    "sort": _sort,
    "rg": _rg,
    "zip": _zip,
    "make": _make,
    "split": _split,
    "file": _file,
}
