"""The tree is the folder as it is on the disk, as a networkx graph."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import networkx as nx
import pytest

from libs.workspace import names
from libs.workspace.tree import ROOT, Tree
from tests.libs.workspace.mounts import apart, mounted
from tests.libs.workspace.trees import find, forked, graph, grow, shape


@pytest.mark.requirement("S4-24")
def test_a_scan_finds_every_name(root: Path) -> None:
    tree = Tree.scan(root)
    assert {tree.path(node) for node in tree.beneath(ROOT) if node} == set(shape(root))


@pytest.mark.requirement("S4-26")
def test_export_equals_the_networkx_export(root: Path) -> None:
    tree = Tree.scan(root)
    assert tree.export() == nx.node_link_data(graph(tree), edges="edges")


@pytest.mark.requirement("S4-24")
def test_the_graph_is_a_networkx_tree(root: Path) -> None:
    assert nx.is_arborescence(graph(Tree.scan(root)))


@pytest.mark.requirement("S4-24")
def test_names_of_any_bytes_are_nodes(tmp_path: Path) -> None:
    for raw in (b"caf\xe9", b"back\\slash", "été".encode()):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).touch()
    tree = Tree.scan(tmp_path)
    found = {tree.name(node) for node in tree.inside(ROOT)}
    assert found == {"caf\\xe9", "back\\\\slash", "été"}
    assert all(os.path.lexists(os.fsencode(tmp_path) + b"/" + names.decode(name)) for name in found)


@pytest.mark.requirement("S4-24")
def test_a_scan_takes_at_most_100_bytes_per_file(tmp_path: Path) -> None:
    for number in range(20_000):
        (tmp_path / f"{number % 100:02}").mkdir(exist_ok=True)
        (tmp_path / f"{number % 100:02}" / f"file-{number:05}.txt").touch()
    tracemalloc.start()
    try:
        tree = Tree.scan(tmp_path)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 100 * len(tree)
    assert tree.base.nbytes == pytest.approx(taken, rel=0.2)


@pytest.mark.requirement("S4-29")
def test_link_is_a_node_and_is_not_followed(root: Path) -> None:
    tree = Tree.scan(root)
    link = find(tree, "link")
    assert link is not None
    assert tree.attrs(link)["kind"] == "symlink"
    assert find(tree, "link/letter.txt") is None


def test_pipes_and_sockets_are_other(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
    tree = Tree.scan(tmp_path)
    assert {tree.attrs(node)["kind"] for node in tree.beneath(ROOT) if node} == {"other"}


def test_suma_folders_are_no_nodes_at_any_depth(tmp_path: Path) -> None:
    tree = Tree.scan(grow(tmp_path, {".suma/lock": "", "a/.suma/x": "", ".suma-set-aside-1/x": ""}))
    assert {tree.path(node) for node in tree.beneath(ROOT)} == {"", "a"}


def test_fresh_file_is_read_again_after_a_clock_tick(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("now")
    tree = Tree.scan(tmp_path)
    assert tree.attrs(find(tree, "new") or 0)["mtime_ns"] == (tmp_path / "new").stat().st_mtime_ns


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
@pytest.mark.requirement("S4-29")
def test_scan_does_not_enter_another_mount(tmp_path: Path) -> None:
    grow(tmp_path, {"inner": None, "outer/x": "x"})

    def scan() -> None:
        apart()
        mounted("tmpfs", tmp_path / "inner", "tmpfs")
        (tmp_path / "inner/secret").touch()
        tree = Tree.scan(tmp_path)
        assert find(tree, "inner/secret") is None
        assert list(tree.sealed) == [find(tree, "inner")]

    assert forked(scan) == 0
