"""Control groups: made where this process may, with the sandbox's limits, and removed with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from libs.sandbox import Limits, cgroups

pytestmark = pytest.mark.requirement("S2-11", "S2-19")
V2 = "24 30 0:23 / {mount} rw,nosuid - cgroup2 cgroup2 rw\n"
V1 = "31 30 0:26 /kubepods/x {mount} rw - cgroup cgroup rw,cpu,cpuacct\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """The files of /proc/self that name our groups."""
    made = tmp_path / "proc"
    made.mkdir()
    return made


def test_delegated_group_of_version_2_is_a_sibling(proc: Path, tmp_path: Path) -> None:
    parent = tmp_path / "cgroup" / "user.slice"
    parent.mkdir(parents=True)
    (parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (proc / "mountinfo").write_text(V2.format(mount=tmp_path / "cgroup"))
    (proc / "cgroup").write_text("0::/user.slice/suma.scope\n")
    group = cgroups.create("one", Limits(), proc)
    (folder,) = set(group.folders.values())
    assert (folder.parent, folder.name) == (parent, f"suma-sandbox-{os.getpid()}-one")
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert written == {"memory.max": str(512 << 20), "pids.max": "128", "cpu.max": "100000 100000"}
    group.enter(42)
    assert (folder / "cgroup.procs").read_text() == "42"


def test_controllers_that_are_not_delegated_are_left_out(proc: Path, tmp_path: Path) -> None:
    parent = tmp_path / "cgroup"
    parent.mkdir()
    (parent / "cgroup.subtree_control").write_text("pids\n")
    (proc / "mountinfo").write_text(V2.format(mount=parent))
    (proc / "cgroup").write_text("0::/suma.scope\n")
    assert set(cgroups.create("one", Limits(), proc).folders) == {"pids"}


def test_group_of_version_1_is_below_our_own(proc: Path, tmp_path: Path) -> None:
    own = tmp_path / "cpu" / "inner"
    own.mkdir(parents=True)
    (proc / "mountinfo").write_text(V1.format(mount=tmp_path / "cpu"))
    (proc / "cgroup").write_text("4:memory:/elsewhere\n2:cpu,cpuacct:/kubepods/x/inner\n")
    group = cgroups.create("one", Limits(cpus=2), proc)
    assert set(group.folders) == {"cpu"}
    assert group.folders["cpu"].parent == own
    assert (group.folders["cpu"] / "cpu.cfs_quota_us").read_text() == "200000"


def test_machine_without_groups_has_none(proc: Path) -> None:
    (proc / "mountinfo").write_text("24 30 0:23 / / rw - ext4 /dev/vda rw\n")
    (proc / "cgroup").write_text("")
    assert cgroups.create("one", Limits(), proc).folders == {}


def test_real_group_holds_a_process_and_goes_after_it() -> None:
    group = cgroups.create("real", Limits())
    if not group.folders:
        pytest.skip("no control group can be made here")
    with subprocess.Popen(["sleep", "60"]) as process:
        group.enter(process.pid)
        assert all(str(process.pid) in (at / "cgroup.procs").read_text().split() for at in group.folders.values())
        process.kill()
    group.remove()
    assert not any(folder.exists() for folder in group.folders.values())
