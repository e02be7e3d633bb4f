"""A path is inside by its text or refused; it is never rewritten."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.guards.blocked import PathRefused
from libs.guards.paths import check_paths, path_args, within

PARTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Zl", "Zp", "Cs")), max_size=8)
PATH = {"type": "string", "format": "workspace-path"}


@pytest.mark.requirement("A5", "S0-13")
@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("a.txt", "a.txt"),
        ("./a//b/", "a/b"),
        (".", "."),
        ("/tree", "."),
        ("/tree/", "."),
        ("/tree/a", "a"),
        ("//tree/a", "a"),
        ("...", "..."),
        ("a..b/..c", "a..b/..c"),
        ("Screenshot 3.00\u202fPM.png", "Screenshot 3.00\u202fPM.png"),
    ],
)
def test_path_inside_is_returned_relative_to_the_root(path: str, relative: str) -> None:
    assert within("/tree", path) == relative


@pytest.mark.requirement("A5", "S0-13")
@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("..", "path.parent"),
        ("../x", "path.parent"),
        ("a/../../x", "path.parent"),
        ("a/..", "path.parent"),
        ("/tree/../etc/passwd", "path.parent"),
        ("/etc/passwd", "path.outside"),
        ("/tree-evil/x", "path.outside"),
        ("/treex", "path.outside"),
        ("/", "path.outside"),
        ("/WORK/a", "path.outside"),
        ("", "path.empty"),
        ("  ", "path.empty"),
        ("a\0b", "path.characters"),
        ("a\nb", "path.characters"),
        ("a\x1b[2J", "path.characters"),
        ("gpj.\u202eexe", "path.characters"),
        ("\udc80", "path.characters"),
        ("~", "path.home"),
        ("~/x", "path.home"),
        ("~root/x", "path.home"),
        ("a" * 5000, "path.length"),
    ],
)
def test_a_path_that_leads_out_is_refused_by_its_rule(path: str, rule: str) -> None:
    with pytest.raises(PathRefused) as refused:
        within("/tree", path)
    assert refused.value.rule == rule


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("path", ["~$letter.docx", "~WRL0003.tmp", "~invoice.tmp", "Docs/~x"])
def test_office_lock_file_is_not_a_home_path(path: str) -> None:
    assert within("/tree", path, home="/home/ada") == path


@pytest.mark.requirement("A5")
def test_home_means_the_home_that_was_handed_in() -> None:
    assert within("/home/ada/tree", "~/tree/x", home="/home/ada") == "x"
    with pytest.raises(PathRefused):
        within("/home/ada/tree", "~/other", home="/home/ada")
    with pytest.raises(PathRefused):
        within("/home/ada/tree", "~bob/tree/x", home="/home/ada")


@pytest.mark.requirement("A5")
@given(parts=st.lists(st.one_of(PARTS, st.sampled_from(["..", ".", "", "work", "~"])), max_size=6), lead=st.booleans())
def test_allowed_path_is_always_under_the_root(parts: list[str], lead: bool) -> None:
    path = ("/" if lead else "") + "/".join(parts)
    try:
        relative = within("/tree", path)
    except PathRefused:
        return
    joined = posixpath.normpath(posixpath.join("/tree", relative))
    assert joined == "/tree" or joined.startswith("/tree/")
    assert joined == posixpath.normpath(
        posixpath.join("/tree", "/" + path.lstrip("/") if path.startswith("/") else path)
    )


@pytest.mark.requirement("A5", "S0-13")
def test_schema_marks_the_path_args() -> None:
    schema = {
        "$defs": {"place": PATH},
        "properties": {
            "source": {"$ref": "#/$defs/place"},
            "text": {"type": "string"},
            "moves": {"items": {"properties": {"to": PATH, "why": {}}}},
            "either": {"anyOf": [{"type": "integer"}, PATH]},
            "pair": {"prefixItems": [PATH, {}]},
            "by_name": {"propertyNames": PATH, "additionalProperties": PATH},
            "numbered": {"patternProperties": {"^n": PATH}},
        },
    }
    args = {
        "source": "a",
        "text": "not/a/path",
        "moves": [{"to": "b", "why": "no"}, {"to": "c"}],
        "either": "d",
        "pair": ["e", "no"],
        "by_name": {"f": "g"},
        "numbered": {"n1": "h"},
    }
    assert sorted(path_args(schema, args)) == list("abcdefgh")


@pytest.mark.requirement("A5")
@given(depth=st.integers(0, 8), path=st.sampled_from(["../x", "/tree-evil", "/etc/passwd", "a\0"]))
def test_path_is_checked_at_any_depth(depth: int, path: str) -> None:
    schema: dict[str, object] = {**PATH}
    args: object = path
    for _ in range(depth):
        schema, args = {"properties": {"in": {"items": schema}}}, {"in": [args]}
    with pytest.raises(PathRefused):
        check_paths("/tree", {"properties": {"top": schema}}, {"top": args})


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("pointer", ["#/$defs/lost", "other.json#/x"])
def test_a_schema_that_cannot_be_followed_refuses(pointer: str) -> None:
    with pytest.raises(PathRefused):
        path_args({"properties": {"x": {"$ref": pointer}}}, {"x": "a"})


@pytest.mark.requirement("A5")
def test_a_schema_without_end_refuses() -> None:
    with pytest.raises(PathRefused):
        path_args({"$ref": "#"}, {"x": "a"})
