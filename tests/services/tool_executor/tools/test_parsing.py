"""Parsing: fields and rows that are true of the file, in any encoding, and nothing hostile is let in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.parsing import CannotParse
from services.tool_executor.tools.tool_context import ToolOutput, TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")

Parse = Callable[..., ToolOutput]
MAIL = b"""From: Ana <ana@example.org>
To: Ben <ben@example.org>
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Fri, 31 May 2024 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/html; charset=utf-8

<p>See <b>you</b> soon.</p><script>alert(1)</script>
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename=plan.pdf

%PDF
--X--
"""


@pytest.fixture
def parse(folder: StagedFolder) -> Parse:
    def parsed(name: str, content: str | bytes, **limits: int) -> ToolOutput:
        folder.write(name, content)
        folder.scan()
        return folder.bounded(**limits).run("parse-content.parse", path=name)

    return parsed


@pytest.mark.parametrize(
    ("name", "content", "form", "fields", "rows"),
    [
        ("a.csv", "id,name\n1,Ana\n2,Ben\n", "CSV", ["id", "name"], 2),
        ("a.csv", "id;name\n1;Ana, B\n", "CSV", ["id", "name"], 1),
        ("a.csv", "sep=;\r\nid;name, long\n1;Ana\n", "CSV", ["id", "name, long"], 1),
        ("a.csv", 'a,b\n"x, y\nz",2\n\n', "CSV", ["a", "b"], 1),
        ("a.csv", "", "CSV", [], 0),
        ("a.csv", "only\n1\n2\n", "CSV", ["only"], 2),
        ("a.tsv", "a\tb\n1\t2\n", "TSV", ["a", "b"], 1),
        ("a.json", '{"a": 1, "b": [2]}', "JSON", ["a", "b"], 2),
        ("a.json", '[{"a": 1}, {"b": 2}, 3]', "JSON", ["a", "b"], 3),
        ("a.jsonl", '{"a": 1}\n\n{"b": 2}\n', "JSON Lines", ["a", "b"], 2),
        ("a.yaml", "a: 1\nb: 2024-05-31\n", "YAML", ["a", "b"], 2),
        ("a.yml", "- x\n- y\n", "YAML", [], 2),
        ("a.toml", "[tool]\nx = 1\n", "TOML", ["tool"], 1),
        ("a.ini", "[one]\na=%(x)s\n[two]\nb\n", "INI", ["one", "two"], 2),
        ("a.xml", "<list><item n='1'>x</item><item/></list>", "XML", ["list", "item"], 2),
        ("a.html", "<title>T</title><h1>One</h1><p>x", "HTML", ["T", "One"], 3),
        ("a.md", "# One\n```\n# no\n```\n## Two ##\n", "Markdown", ["One", "Two"], 5),
        ("a.log", "one\ntwo", "plain text", [], 2),
        ("a", "", "plain text", [], 0),
        ("a.eml", MAIL, "mail", ["From", "To", "Date", "Subject"], 1),
    ],
)
def test_a_form_has_its_fields_and_rows(
    parse: Parse, name: str, content: str, form: str, fields: list[str], rows: int
) -> None:
    told = parse(name, content).data
    assert (told["format"], told["fields"], told["rows"], told["complete"]) == (form, fields, rows, True)


def test_row_longer_than_its_header_loses_nothing(parse: Parse) -> None:
    told = parse("a.csv", "id,\n1,x,more\n").data
    assert told["head"] == [{"id": "1", "column 2": "x", "column 3": "more"}]


def test_mail_shows_its_text_and_names_its_attachments(parse: Parse) -> None:
    told = parse("a.eml", MAIL).data
    assert told["text"] == "See you soon."
    assert told["head"][0]["headers"]["Subject"] == "Grüße"
    assert told["head"][1] == {"attachment": "plan.pdf"}


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        ("größe\n1".encode(), "UTF-8"),
        (b"\xef\xbb\xbf" + "größe\n1".encode(), "UTF-8 with a mark"),
        ("größe\n1".encode("utf-16"), "UTF-16"),
        ("größe\n1".encode("utf-16-le"), "UTF-16-LE"),
        ("größe\n1".encode("latin-1"), "Latin-1 (guessed)"),
    ],
)
def test_text_is_read_in_its_encoding_and_guesses_are_marked(parse: Parse, raw: bytes, encoding: str) -> None:
    done = parse("a.csv", raw)
    assert (done.data["encoding"], done.data["fields"]) == (encoding, ["größe"])
    assert bool(done.warnings) is ("guessed" in encoding)


BILLION = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.requirement("A5")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", BILLION),
        ("a.xml", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'),
        ("a.svg", '<!DOCTYPE svg SYSTEM "http://127.0.0.1/x.dtd"><svg/>'),
        ("a.xml", "<a>" * 5000),
        ("a.yaml", LAUGHS),
        ("a.yaml", "!!python/object/apply:os.system ['true']"),
        ("a.yaml", "[" * 5000),
        ("a.yaml", "a: " + "{b: " * 500 + "1" + "}" * 500),
        ("a.json", "[" * 100_000),
        ("a.json", '{"a":' * 5000 + "1" + "}" * 5000),
        ("a.json", "NaN"),
        ("a.jsonl", '{"a": 1}\n' + "[" * 5000),
        ("a.toml", "a = " + "[" * 5000),
        ("a.json", "9" * 5000),
    ],
)
def test_hostile_file_is_refused(parse: Parse, name: str, content: str) -> None:
    with pytest.raises(CannotParse):
        parse(name, content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"a": '),
        ("a.jsonl", '{"a": 1}\nno\n'),
        ("a.yaml", "a: [1"),
        ("a.toml", "a ="),
        ("a.ini", "no section"),
        ("a.xml", "<a><b></a>"),
        ("a.csv", 'a,b\n"1,2\n'),
        ("a.eml", "nothing of a mail"),
        ("a.txt", b"\x7fELF\0\0\0\x01\x02"),
        ("a.csv", b"\xff\xd8\xff\xe0" + bytes(range(256)) * 4),
    ],
)
def test_damaged_or_binary_file_is_refused_by_name(parse: Parse, name: str, content: str | bytes) -> None:
    with pytest.raises(CannotParse, match="a\\."):
        parse(name, content)


def test_a_number_that_json_cannot_hold_is_still_shown(parse: Parse) -> None:
    told = parse("a.yaml", "a: .inf\nb: 99999999999999999999\nc: 2024-05-31\n").data["head"]
    assert told == [{"a": "inf"}, {"b": "99999999999999999999"}, {"c": "2024-05-31"}]
    assert json.dumps(told, allow_nan=False)


def test_long_table_is_read_in_part_with_a_warning(parse: Parse) -> None:
    done = parse("a.csv", "n\n" + "1\n" * 1000, read_bytes_most=101)
    assert (done.data["rows"], done.data["complete"]) == (49, False)
    assert done.warnings == ("Only the first 101 B of a.csv were read.",)


@pytest.mark.parametrize("name", ["a.json", "a.xml", "a.eml", "a.yaml"])
def test_format_that_needs_the_whole_file_has_a_size_limit(parse: Parse, name: str) -> None:
    with pytest.raises(TooMuch):
        parse(name, "x" * 200, read_bytes_most=100)


def test_parsed_output_is_bounded(parse: Parse) -> None:
    value: dict[str, Any] = {f"k{n}": "x" * 400 for n in range(300)}
    told = parse("a.json", json.dumps([value] * 20)).data
    assert (told["rows"], len(told["fields"]), len(told["head"])) == (20, 200, 10)
    assert len(json.dumps(told)) < 256 * 1024


def test_a_folder_is_not_parsed(folder: StagedFolder) -> None:
    with pytest.raises(Rejected, match="folder"):
        folder.files("d/x.csv").run("parse-content.parse", path="d")


def test_staged_content_is_parsed(folder: StagedFolder) -> None:
    folder.run("manage-files.create", path=".", name="a.csv", type="file", content="x\n1\n")
    assert folder.run("parse-content.parse", path="a.csv").data["fields"] == ["x"]


def test_a_document_is_read_and_counted_in_its_own_units(parse: Parse) -> None:
    done = parse("plan.pdf", samples.pdf("Meet at noon.", "Bring bread."))
    told = done.data
    assert (told["format"], told["rows"], told["unit"]) == ("PDF", 2, "page")
    assert told["text"] == "Meet at noon.\nBring bread."
    assert done.summary == "plan.pdf is PDF: 2 pages, 0 fields."
    assert parse("a.xlsx", samples.excel(["id"], [1])).data["head"] == [{"id": "1"}]


def test_locked_damaged_or_large_document_is_refused(parse: Parse) -> None:
    for raw, why in ((samples.locked(samples.pdf("a"), "x"), "locked"), (b"%PDF-1.7", "damaged")):
        with pytest.raises(CannotParse, match=f"a.pdf cannot be read: it is {why}"):
            parse("a.pdf", raw)
    with pytest.raises(TooMuch):
        parse("a.pdf", samples.pdf("a"), document_bytes_most=100)


def test_very_long_document_is_parsed_in_part_with_a_warning(parse: Parse) -> None:
    done = parse("a.docx", samples.word(*["many words in one line"] * 60_000))
    assert done.warnings == ("Only the beginning of a.docx was read.",)
