"""Bodies: small ones inside the event, large ones in the store, with equal values after loading."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.events.values import Body
from libs.objects import BlobMissing, Objects
from libs.objects.bodies import INLINE, NotJson, load, store
from libs.objects.filesystem import FilesystemObjects
from tests.support.examples import examples

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
LARGE = {"text": "ü" * INLINE}


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return FilesystemObjects(tmp_path_factory.mktemp("store"), max_bytes=64 * INLINE)


@settings(max_examples=examples(50), deadline=None)
@given(value=values, filler=st.sampled_from([0, INLINE]))
async def test_value_is_loaded_from_the_event_or_the_store(objects: Objects, value: Any, filler: int) -> None:
    stored = await store(objects, "acme", [value, "x" * filler])
    travelled = Body.model_validate_json(stored.model_dump_json(by_alias=True))
    assert await load(objects, "acme", travelled) == [value, "x" * filler]


@pytest.mark.parametrize(("length", "inline"), [(INLINE - 2, True), (INLINE - 1, False)])
async def test_the_border_is_64_kib_of_json(objects: Objects, length: int, inline: bool) -> None:
    body = await store(objects, "acme", "x" * length)
    assert (body.sha256 is None, body.size) == (inline, length + 2)


@pytest.mark.requirement("A17b")
async def test_a_large_value_leaves_only_its_name_in_the_event(objects: Objects) -> None:
    body = await store(objects, "acme", LARGE)
    assert len(body.model_dump_json(by_alias=True)) < 200


async def test_equal_values_are_one_blob(objects: Objects, tmp_path: Path) -> None:
    one = await store(objects, "acme", {"a": 1} | LARGE)
    assert await store(objects, "acme", LARGE | {"a": 1}) == one


@pytest.mark.requirement("A29")
async def test_a_body_of_another_tenant_cannot_be_loaded(objects: Objects) -> None:
    body = await store(objects, "acme", LARGE)
    with pytest.raises(BlobMissing):
        await load(objects, "other", body)


@pytest.mark.parametrize("value", [float("nan"), {"a": {1}}, b"bytes", "\ud800", object()])
async def test_value_that_is_not_json_is_refused(objects: Objects, value: Any) -> None:
    with pytest.raises(NotJson):
        await store(objects, "acme", value)


@pytest.mark.parametrize("found", ["a text", {"x": "y" * 40_000}, None])
async def test_body_repeats_only_small_objects(objects: Objects, found: object) -> None:
    body = await store(objects, "acme", {"left_alone": found, "excerpt": {"n": 1}, "rest": "z" * 70_000})
    assert (body.left_alone, body.excerpt) == (None, {"n": 1})
