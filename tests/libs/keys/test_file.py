"""Keys in a folder: created once, private, and rotated without invalidating old signatures."""

import os
import stat
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from libs.keys import KeyExposed, Keys, KeyUnavailable, Signature, ed25519
from libs.keys.file import FileKeys

STARTERS = 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def keys(folder: Path) -> Keys:
    return FileKeys(folder)


def private_keys(folder: Path, name: str) -> list[Path]:
    return list((folder / name).glob("*.key"))


@pytest.mark.requirement("S3-59")
def test_a_signature_verifies_in_another_process_of_the_same_folder(folder: Path, keys: Keys) -> None:
    signature = keys.sign("grants", b"run it")
    assert FileKeys(folder).verify("grants", b"run it", signature)


def test_another_payload_does_not_verify(keys: Keys) -> None:
    assert not keys.verify("grants", b"run that", keys.sign("grants", b"run it"))


def test_a_signature_for_one_purpose_is_worth_nothing_for_another(keys: Keys) -> None:
    keys.sign("internal", b"")
    assert not keys.verify("internal", b"run it", keys.sign("grants", b"run it"))


@pytest.mark.parametrize("key_id", ["", "0" * 16, "../../etc/passwd", "current", "x" * 5000, "\x00"])
def test_unknown_key_id_does_not_verify(keys: Keys, key_id: str) -> None:
    value = keys.sign("grants", b"run it").value
    assert not keys.verify("grants", b"run it", Signature(key_id, value))


def test_verifying_makes_no_key(folder: Path, keys: Keys) -> None:
    keys.verify("grants", b"run it", Signature("0" * 16, b""))
    assert not folder.exists()


@pytest.mark.requirement("S3-59")
def test_old_signatures_verify_after_rotation_to_a_new_key(keys: Keys) -> None:
    old = keys.sign("audit", b"head")
    current = keys.rotate("audit")
    new = keys.sign("audit", b"head")
    assert (new.key_id, new.key_id != old.key_id) == (current, True)
    assert keys.verify("audit", b"head", old)
    assert keys.verify("audit", b"head", new)
    assert set(keys.public("audit")) == {old.key_id, new.key_id}


def test_rotation_takes_effect_at_once_in_open_instances(folder: Path, keys: Keys) -> None:
    keys.sign("audit", b"head")
    current = FileKeys(folder).rotate("audit")
    assert keys.sign("audit", b"head").key_id == current


def test_a_retired_private_key_is_gone(folder: Path, keys: Keys) -> None:
    keys.sign("audit", b"head")
    current = keys.rotate("audit")
    assert [path.stem for path in private_keys(folder, "audit")] == [current]


def test_an_id_is_the_digest_of_its_key(keys: Keys) -> None:
    assert all(ed25519.key_id(public) == key_id for key_id, public in keys.public("audit").items())


def test_key_stored_under_another_id_verifies_nothing(folder: Path, keys: Keys) -> None:
    signature = keys.sign("grants", b"run it")
    mine = ed25519.generate()
    (folder / "grants" / f"{signature.key_id}.pub").write_bytes(ed25519.public_of(mine))
    forged = Signature(signature.key_id, ed25519.sign(mine, b"run it"))
    assert not FileKeys(folder).verify("grants", b"run it", forged)


def first_use(folder: Path) -> tuple[str, bytes]:
    keys = FileKeys(folder)
    return keys.sign("grants", b"run it").key_id, keys.secret("salt")


@pytest.mark.requirement("S3-59")
def test_processes_that_start_at_once_agree_on_one_key(folder: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        made = set(pool.map(first_use, [folder] * STARTERS))
    assert len(made) == 1
    assert len(private_keys(folder, "grants")) == 1


def test_threads_that_start_at_once_agree_on_one_key(folder: Path) -> None:
    with ThreadPoolExecutor(STARTERS) as pool:
        made = set(pool.map(first_use, [folder] * STARTERS))
    assert len(made) == 1
    assert len(private_keys(folder, "grants")) == 1


def test_only_the_owner_may_read_private_files(folder: Path, keys: Keys) -> None:
    keys.sign("grants", b"run it")
    keys.secret("salt")
    private = [*private_keys(folder, "grants"), folder / "salt" / "secret"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "grants", folder / "salt")} == {0o700}


@pytest.mark.requirement("S3-59")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620])
def test_private_key_readable_by_others_is_refused_in_one_line(folder: Path, keys: Keys, mode: int) -> None:
    keys.sign("grants", b"run it")
    private_keys(folder, "grants")[0].chmod(mode)
    with pytest.raises(KeyExposed) as refused:
        FileKeys(folder).sign("grants", b"run it")
    assert "chmod go-rwx" in str(refused.value)
    assert "\n" not in str(refused.value)


def expose_folder(folder: Path) -> None:
    folder.chmod(0o755)


def expose_secret(folder: Path) -> None:
    (folder / "salt" / "secret").chmod(0o644)


@pytest.mark.parametrize("expose", [expose_folder, expose_secret])
def test_an_open_folder_or_secret_is_refused(folder: Path, keys: Keys, expose: Callable[[Path], None]) -> None:
    keys.secret("salt")
    expose(folder)
    with pytest.raises(KeyExposed):
        keys.secret("salt")


def test_public_keys_alone_verify_but_cannot_sign(folder: Path, keys: Keys) -> None:
    signature = keys.sign("grants", b"run it")
    private_keys(folder, "grants")[0].unlink()
    verifier = FileKeys(folder)
    assert verifier.verify("grants", b"run it", signature)
    with pytest.raises(KeyUnavailable):
        verifier.sign("grants", b"run it")


def test_public_halves_are_shared_without_the_private_ones(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "public" / "grants").mkdir(parents=True)
    signer, verifier = (FileKeys(folder / name, tmp_path / "public") for name in ("signer", "verifier"))
    signature = signer.sign("grants", b"run it")
    assert verifier.verify("grants", b"run it", signature)
    assert [path.stem for path in (tmp_path / "public").rglob("*.*")] == [signature.key_id]
    assert not (folder / "verifier").exists()


def test_older_key_is_published_when_it_signs(folder: Path, tmp_path: Path) -> None:
    FileKeys(folder / "signer").sign("grants", b"before")
    (tmp_path / "public" / "grants").mkdir(parents=True)
    signer, verifier = (FileKeys(folder / name, tmp_path / "public") for name in ("signer", "verifier"))
    assert verifier.verify("grants", b"run it", signer.sign("grants", b"run it"))


def test_key_without_a_shared_folder_stays_in_its_own(folder: Path, tmp_path: Path) -> None:
    keys = FileKeys(folder, tmp_path / "public")
    assert keys.verify("audit", b"head", keys.sign("audit", b"head"))
    assert len(list((folder / "audit").glob("*.pub"))) == 1


def test_a_secret_stays_the_same_and_differs_by_name(folder: Path, keys: Keys) -> None:
    assert keys.secret("salt:a") == FileKeys(folder).secret("salt:a")
    assert keys.secret("salt:a") != keys.secret("salt:b")
    assert len(keys.secret("salt:a")) == 32


def test_an_empty_secret_is_not_used(folder: Path, keys: Keys) -> None:
    keys.secret("salt:a")
    (secret,) = folder.glob("*/secret")
    secret.write_bytes(b"")
    with pytest.raises(KeyUnavailable):
        keys.secret("salt:a")


@pytest.mark.parametrize("name", ["../../outside", "/absolute", "a/b", "", ".", "..", "ü\x00", "x" * 5000])
def test_no_name_leads_out_of_the_folder(folder: Path, keys: Keys, name: str) -> None:
    assert keys.verify(name, b"run it", keys.sign(name, b"run it"))
    assert [entry.name for entry in folder.parent.iterdir()] == ["keys"]
    assert len(os.listdir(folder)) == 1


def test_names_differing_by_case_or_sign_have_different_keys(keys: Keys) -> None:
    names = ["salt:a", "salt:A", "salt/a", "salta", "saltA"]
    assert len({keys.secret(name) for name in names}) == len(names)
