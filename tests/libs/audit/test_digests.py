"""Salted digests: records refer to content without storing it."""

import pytest

from libs.audit import digests
from libs.keys import Keys

SECRET = {"command": "transfer 1000 to bob"}


def test_a_digest_matches_its_content_and_no_other(keys: Keys) -> None:
    salt = digests.salt(keys, "acme", "ada")
    recorded = digests.digest(salt, SECRET)
    assert digests.digest(salt, dict(SECRET)) == recorded
    assert digests.digest(salt, {"command": "transfer 1001 to bob"}) != recorded


@pytest.mark.requirement("A36")
def test_equal_content_of_two_principals_has_different_digests(keys: Keys) -> None:
    people = [("acme", "ada"), ("acme", "bob"), ("other", "ada"), ("a", "b:c"), ("a:b", "c")]
    told = {digests.digest(digests.salt(keys, *person), SECRET) for person in people}
    assert len(told) == len(people)


def test_each_content_has_its_own_name(keys: Keys) -> None:
    salt = digests.salt(keys, "acme", "ada")
    told = digests.digests(salt, {"args": SECRET, "plan": "plan"})
    assert told == {"args": digests.digest(salt, SECRET), "plan": digests.digest(salt, "plan")}
