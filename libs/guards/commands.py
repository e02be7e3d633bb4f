r"""Find blocked patterns in every argument that may be run (S0-15, S0-22): the first of three layers.

A pattern is matched on the text read as shell words, so its spelling does not matter: `rm -fr`, `\rm --recursive
--force`, `curl x|bash`. A text that names a file of the workspace is that file: `curl-8.5.tar.gz` may be moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Any

from libs.guards.blocked import CommandBlocked
from libs.guards.paths import path_args
from libs.guards.words import Command, commands, views

if TYPE_CHECKING:
    from libs.skills import ToolDefinition

KnownPaths = Callable[[str], bool]

DEEPEST = 32
NESTED = 4
"""Deepest nesting of commands inside commands; deeper ones are refused unread."""

DOWNLOADERS = frozenset({"curl", "wget"})
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "rbash"})

STARTERS = frozenset(
    """
    sudo doas env nohup nice ionice time timeout stdbuf setsid command builtin exec xargs busybox toybox chroot
    unshare nsenter strace ltrace watch parallel flock script su runuser ssh taskset chrt
    """.split()  # noqa: SIM905 -- a list to read
)
"""Programs whose arguments name the program that runs."""

RESERVED = frozenset("if then else elif do while until for { } ! coproc function".split())  # noqa: SIM905
FLAGS = frozenset("rRfivdIhc")
"""The short flags of rm, chmod and chown, so that `-for` counts as a word of prose."""

EXEC_OF_FIND = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

CODE = (
    (
        "subprocess",
        re.compile(r"\bsubprocess\s*\.\s*(?:call|run|Popen|check_call|check_output|getoutput|getstatusoutput)"),
    ),
    ("os.system", re.compile(r"\bos\s*\.\s*(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?)\b")),
    ("eval", re.compile(r"(?:(?<![\w.])|\bbuiltins\s*\.\s*)(?:eval|exec|__import__)\s*\(")),
)
FORK_BOMB = re.compile(r"([\w:.!@]{1,32})\(\)\{(?:function)?.{0,64}?\1[|&]+\1")

SYSTEM_FOLDERS = ("/etc", "/boot", "/sys", "/proc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/root", "/var/spool")
HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"})
EVERYTHING = re.compile(r"(?:/|~|\$HOME|\.|\.\.|/(?:bin|boot|dev|etc|home|lib|root|sbin|sys|usr|var))?/*\**")

SUSPECT = re.compile(
    r"(?<![\w.-])(?:rm|curl|wget|dd|chmod|chown|mkfs[.\w]*|wipefs|[a-z]{0,3}sh)(?![\w-])|[$`>{]|/dev/|/[^\s/?*\[]*[?*\[]|\(\)|subprocess|\bos\b|eval|exec"
)
"""Besides quotes and backslashes, the characters of which a text needs one to be worth reading as words."""


def no_paths(_: str) -> bool:
    return False


def check_call(tool: ToolDefinition | None, args: Mapping[str, Any], known_paths: KnownPaths) -> None:
    """Check the args of a call; None is a tool of the workspace itself. If the tool draws its words, only paths are
    checked: names of files may reach a shell. Raises CommandBlocked.
    """
    check_args(path_args(tool.params, args) if tool is not None and tool.draws else args, known_paths)


def check_args(args: Any, known_paths: KnownPaths = no_paths) -> None:
    """Check every text of a tool's args, including keys and lists of words. Raises CommandBlocked.

    Pass no `known_paths` for args that are run as commands: a file may be named like one.
    """
    texts = list(_texts(args, depth=0))
    for text in texts:
        check_argument(text, known_paths)
    # {"program": "rm", "args": ["-rf", "/"]} is still a command although it is in pieces.
    _check_deletion([text for text in texts if not known_paths(text)])


def check_argument(text: str, known_paths: KnownPaths = no_paths) -> None:
    """Refuse a text that holds a blocked pattern. Raises CommandBlocked, whose `rule` names the pattern."""
    # A file may be called `x; rm -rf y`: only plain words count as the name of one.
    if not _suspicious(text) or (_plain(text) and known_paths(text.strip())):
        return
    _check_code(text)
    _check_text(text, depth=0)
    # Words in another language's quotes: system("rm -rf /"), ["rm", "-rf", "/"].
    _check_deletion(re.sub(r"[\"'`,()\[\]{};|&]", " ", text).split())


def _suspicious(text: str) -> bool:
    # A shell drops quotes and backslashes inside a word, so `r\m` and `c''url` must be found as well.
    return SUSPECT.search(re.sub(r"[\\'\"]", "", text)) is not None


def _plain(text: str) -> bool:
    """Return whether a text is only words, without anything that a shell would interpret."""
    return re.search(r"[;&|<>$`(){}\r\n\0\\]", text) is None


def _check_code(text: str) -> None:
    for rule, pattern in CODE:
        if pattern.search(text):
            raise CommandBlocked(rule, f"The text calls {rule}.")
    if FORK_BOMB.search(re.sub(r"\s+", "", text)):
        raise CommandBlocked("fork bomb", "The text is a fork bomb.")


def _check_text(text: str, *, depth: int) -> None:
    if depth > NESTED:
        raise CommandBlocked("nesting", "Commands nest too deeply to be read.")
    for view in dict.fromkeys(views(text)):
        for command in commands(view):
            _check_command(command, depth=depth)


def _check_command(command: Command, *, depth: int) -> None:
    _check_deletion(command.words)
    _check_redirects(command)
    # In `$(…) -rf x` the program's name is known only when it runs.
    if command.starts in (")", "`") and command.words and _deletes_all(command.words):
        raise CommandBlocked("rm -rf", "A program that is computed gets the flags of rm -rf.")
    for position in _programs(command.words):
        program, rest = _name(command.words[position]), command.words[position + 1 :]
        _check_program(program, rest, piped=command.piped)
        for text in _scripts(program, rest, command):
            _check_text(text, depth=depth + 1)
    for text in command.nested:
        _check_text(text, depth=depth + 1)


def _programs(words: Sequence[str]) -> Iterator[int]:
    """Return the positions of words that may be run: the first, and those that a starter or `find -exec` would run."""
    first = next((at for at, word in enumerate(words) if word not in RESERVED and not _assigns(word)), None)
    waiting = [] if first is None else [first]
    waiting += [at + 1 for at, word in enumerate(words[:-1]) if word in EXEC_OF_FIND]
    seen = set(waiting)
    for position in waiting:
        yield position
        if _name(words[position]) in STARTERS:
            real = (at for at in range(position + 1, len(words)) if _could_run(words[at]))
            # The second one, too: the first may be an option's value, as in `sudo -u ann rm`.
            found = [at for at in islice(real, 2) if at not in seen]
            waiting += found
            seen.update(found)


def _assigns(word: str) -> bool:
    return re.match(r"\w+\+?=", word) is not None


def _could_run(word: str) -> bool:
    """Skip options, numbers, durations, signals and assignments, which precede a starter's program."""
    return not (word.startswith("-") or _assigns(word) or re.fullmatch(r"[\d.]+[smhd]?|[A-Z+]+|\W+", word))


def _name(word: str) -> str:
    """Return the program that a word runs: its last path component, with a glob read as what it could match."""
    folder, _, name = word.rpartition("/")
    if folder and re.search(r"[?*\[]", name):
        return next((known for known in ("rm", *DOWNLOADERS, *SHELLS) if fnmatchcase(known, name)), name)
    return name


def _scripts(program: str, rest: Sequence[str], command: Command) -> Iterator[str]:
    """Return the texts that a program would run as commands."""
    if program in SHELLS or program in ("su", "runuser"):
        takes = next((at for at, word in enumerate(rest) if _runs_text(word)), None)
        yield from rest[takes + 1 :] if takes is not None else ()
        # A here-string is the shell's input, so the shell runs it.
        yield from (target for operator, target in command.redirects if operator == "<<<")
    elif program in ("eval", "ssh", "watch", "parallel"):
        yield " ".join(rest)


def _runs_text(word: str) -> bool:
    """Return whether an option makes a shell run the next word: -c, also combined (-lc)."""
    return word == "--command" or (re.fullmatch(r"-\w+", word) is not None and "c" in word)


def _check_program(program: str, rest: Sequence[str], *, piped: bool) -> None:
    if program in DOWNLOADERS:
        raise CommandBlocked(program, f"The text runs {program}.")
    if program.startswith("mkfs") or program == "wipefs":
        raise CommandBlocked("mkfs", "The text makes a new file system.")
    if program == "dd" and any(_dangerous(word.removeprefix("of=")) for word in rest if word.startswith("of=")):
        raise CommandBlocked("dd", "The text writes to a device.")
    if program in ("chmod", "chown", "chgrp") and _recursive(rest) and any(map(EVERYTHING.fullmatch, rest)):
        raise CommandBlocked("chmod -R", f"The text runs {program} over everything.")
    # With a script among its arguments a shell runs that, not what is piped into it.
    if program in SHELLS and piped and all(word.startswith("-") for word in rest):
        raise CommandBlocked("pipe to shell", f"The text pipes into {program}.")


def _check_redirects(command: Command) -> None:
    for operator, target in command.redirects:
        # bash opens a connection under such a name.
        if target.startswith(("/dev/tcp/", "/dev/udp/")) or (">" in operator and _dangerous(target)):
            raise CommandBlocked("redirect", f"The text redirects to {target}.")


def _dangerous(target: str) -> bool:
    path = re.sub(r"/+", "/", target)
    if path.startswith("/dev/"):
        return path not in HARMLESS_DEVICES
    return any(path == folder or path.startswith(folder + "/") for folder in SYSTEM_FOLDERS)


def _check_deletion(words: Sequence[str]) -> None:
    """Find `rm` with recursion and force, or over everything, anywhere among the words."""
    first = next((at for at, word in enumerate(words) if _name(word) == "rm"), None)
    if first is None:
        return
    rest = words[first + 1 :]
    if _deletes_all(rest):
        raise CommandBlocked("rm -rf", "The text runs rm -rf.")
    if "--no-preserve-root" in rest or (_recursive(rest) and any(map(EVERYTHING.fullmatch, rest))):
        raise CommandBlocked("rm -r /", "The text deletes everything.")


def _deletes_all(words: Sequence[str]) -> bool:
    return _recursive(words) and any(_flagged(word, "f", "--force") for word in words)


def _recursive(words: Sequence[str]) -> bool:
    return any(_flagged(word, "rR", "--recursive") for word in words)


def _flagged(word: str, letters: str, name: str) -> bool:
    """Return whether a word is a short flag with one of `letters`, or `name` abbreviated, as getopt accepts."""
    if word.startswith("--"):
        return len(word) > 2 and name.startswith(word.partition("=")[0])
    flags = set(word[1:])
    return word.startswith("-") and flags <= FLAGS and not flags.isdisjoint(letters)


def _texts(value: Any, *, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise CommandBlocked("nesting", "The args nest too deeply to be read.")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, depth=depth + 1)
