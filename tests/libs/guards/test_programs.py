"""Commands without a shell: only listed programs, whose arguments start no other program."""

from __future__ import annotations

import shlex

import pytest

from libs.guards.blocked import CommandBlocked
from libs.guards.programs import ALLOWED, argv, check_command

REFUSED = r"""
find . -exec ls {} +
find . -execdir ls ;
find . -ok ls ;
find . -name x -delete
find . -fprintf /x y
awk 'BEGIN{system("ls")}'
awk 'BEGIN{system ( "ls" )}'
awk 'BEGIN{print "x" | "sh"}'
awk 'BEGIN{print "x" |& "sh"}'
awk '{print > "/etc/x"}'
awk '{"date" | getline d; print d}'
awk -f x.awk
awk -vx=1 -f x.awk y
awk '@load "x"'
gawk '@system("ls")'
tar --checkpoint=1 --checkpoint-action=exec=sh -cf a x
tar xf a.tar --to-command=sh
tar xf a.tar --to-c=sh
tar xf a.tar --to-command sh
tar -I sh -xf a
tar -xIf sh a
tar xIf sh a
tar -cf a -F sh x
tar cf a --use-compress-program=sh x
tar -P -cf x
sed '1e ls' x
sed e x
sed '$!{e ls}' x
sed 's/a/b/e' x
sed 's/[/]/x/e' x
sed 's/a/b/w out' x
sed 's#a#b#ge' x
sed -e 's/a/b/' -e 's|a|b|e' x
sed --expression='1e ls' x
sed -ne '1e ls' x
sed 'w out' x
sed '1!e ls' x
sed -n '/x/w /tmp/y' x
sed '/x/Ie ls' x
sed 'r /etc/passwd' x
sed -f x.sed
git -c core.pager=x log
git config x y
git fetch --upload-pack=x
git submodule foreach x
git bisect run x
python -c 'print(1)'
python -cprint
python3 -Ic x
python -W error -c x
python -
python
python -m timeit x
node -e x
node --eval x
node -r x y
sort --compress-program=sh x
sort -o/etc/x y
rg --pre sh x
zip a b -T -TT sh
make SHELL=/bin/x
split --filter=sh x
ls --to-command=x""".strip().splitlines()

UNLISTED = ["curl x", "nohup ls", "env ls", "env sh -c x", "xargs ls", "sh -c 'a & b'", "bash x", "sudo ls"]

LET_THROUGH = r"""
find . -name '*.py' -type f
find . -size +1k -print0
awk '{print $1}' x
awk -F, '{s+=$2} END{print s}' x
awk '$1 ~ /a|b/ {print}' x
tar -czf a.tar.gz dir
tar xf a.tar
tar czf a.tar.gz dir
tar --create --file=a.tar --exclude=x .
sed -n '1,5p' x
sed 's/old/new/g' x
sed -E 's/(were|error)/write/g' x
sed -e 's/a/b/' -e '/error/d' x
sed '/^$/d' report.txt
sed 's/[0-9]+/w/' report.txt
sed -i 's/x/y/2' re.txt
sed 'y/abc/wer/' x
git log --oneline
git commit -m 'curl fix'
python x.py -c foo
python -m pytest -q
python3 -W error x.py
python --version
sort -rn -k2 x
sort -u -t, x
rg -n curl .
grep -rn rm src
make test
zip -r a.zip dir
split -l 100 x
cp curl-8.5.tar.gz x
pytest -q tests
echo 'a & b'""".strip().splitlines()


@pytest.mark.parametrize("line", REFUSED)
def test_arguments_that_start_or_write_something_else_are_refused(line: str) -> None:
    with pytest.raises(CommandBlocked) as blocked:
        check_command(shlex.split(line))
    assert blocked.value.rule == f"{line.split()[0]} arguments"


@pytest.mark.parametrize("line", [*UNLISTED, "/bin/ls", "./ls", "LS", "ls ", "l\\s\\ "])
def test_only_listed_programs_run_and_never_by_path(line: str) -> None:
    words = shlex.split(line)
    words[0] += " " if line.endswith(" ") else ""
    with pytest.raises(CommandBlocked) as blocked:
        check_command(words)
    assert blocked.value.rule == "program"


@pytest.mark.parametrize("line", LET_THROUGH)
def test_ordinary_commands_run(line: str) -> None:
    check_command(shlex.split(line))


@pytest.mark.parametrize(
    "line", [*UNLISTED[1:], "bash -c ls", "busybox sh", "timeout 5 ls", "python3.11 -c x", "gfind -delete"]
)
def test_listing_an_interpreter_does_not_allow_it(line: str) -> None:
    words = shlex.split(line)
    with pytest.raises(CommandBlocked):
        check_command(words, allowed={words[0]})


@pytest.mark.requirement("S0-15")
def test_blocked_patterns_are_blocked_for_listed_programs_too() -> None:
    with pytest.raises(CommandBlocked) as blocked:
        check_command(["rm", "-r", "-f", "x"], allowed={"rm"})
    assert blocked.value.rule == "rm -rf"


@pytest.mark.parametrize("words", [[], [""], ["ls", "a\0b"]])
def test_command_without_program_or_with_nul_is_refused(words: list[str]) -> None:
    with pytest.raises(CommandBlocked):
        check_command(words, allowed={*ALLOWED, ""})


@pytest.mark.parametrize("mark", ["|", "&&", "||", ";", ">", "<", "&", "\n"])
def test_a_line_that_wants_a_shell_is_refused(mark: str) -> None:
    for line in (f"ls {mark} x", f"ls{mark}x", f'ls "a" {mark} x'):
        with pytest.raises(CommandBlocked):
            argv(line)


@pytest.mark.parametrize("line", ["echo $(x)", "echo `x`", 'echo "$(x)"', 'echo "`x`"', "echo 'x", "ls \\"])
def test_a_line_with_substitutions_or_open_quotes_is_refused(line: str) -> None:
    with pytest.raises(CommandBlocked):
        argv(line)


def test_quoted_marks_are_words() -> None:
    assert argv("grep 'a|b' \"c;d\" e\\;f '$(x)'") == ("grep", "a|b", "c;d", "e;f", "$(x)")
