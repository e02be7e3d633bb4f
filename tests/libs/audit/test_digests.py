"""Salted digests: records refer to content without storing it, until the person is erased."""

import json

import pytest

from libs.audit import digests, verify
from libs.audit.chain import record_of
from libs.keys import Keys, SecretForgotten
from tests.libs.audit.exports import Log, event

SECRET = {"command": "transfer 1000 to bob"}


def test_a_digest_matches_its_content_and_no_other(keys: Keys) -> None:
    salt = digests.salt(keys, "acme", "ada")
    recorded = digests.digest(salt, SECRET)
    assert digests.matches(salt, SECRET, recorded)
    assert not digests.matches(salt, {"command": "transfer 1001 to bob"}, recorded)


@pytest.mark.requirement("A36")
def test_without_the_salt_the_content_cannot_be_guessed(keys: Keys) -> None:
    people = [("acme", "ada"), ("acme", "bob"), ("other", "ada"), ("a", "b:c"), ("a:b", "c")]
    told = {digests.digest(digests.salt(keys, *person), SECRET) for person in people}
    assert len(told) == len(people)


def test_each_content_has_its_own_name(keys: Keys) -> None:
    salt = digests.salt(keys, "acme", "ada")
    told = digests.digests(salt, {"args": SECRET, "plan": "plan"})
    assert told == {"args": digests.digest(salt, SECRET), "plan": digests.digest(salt, "plan")}


@pytest.mark.requirement("A36")
async def test_erased_person_leaves_a_verifiable_unlinked_chain(fresh: Keys) -> None:
    salt = digests.salt(fresh, "acme", "ada")
    spoken = event(1)
    data = spoken.data.model_copy(update={"digests": digests.digests(salt, {"args": SECRET})})
    record = dict(record_of(event(1))) | {"data": data.model_dump(mode="json", exclude_none=True)}
    log = Log(fresh, "acme", (record,))
    digests.erase(fresh, "acme", "ada")
    exported = await log.exported()
    assert verify(exported).ok
    assert "transfer" not in json.dumps([line.decode() for line in exported])
    with pytest.raises(SecretForgotten):
        digests.salt(fresh, "acme", "ada")
