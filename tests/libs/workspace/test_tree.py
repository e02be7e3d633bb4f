"""The tree is the folder as it is on the disk, as a networkx graph."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import networkx as nx
import pytest

from libs.workspace import names
from libs.workspace.tree import ROOT, Tree
from tests.libs.workspace.mounts import apart, mounted
from tests.libs.workspace.trees import forked, grow, shape


@pytest.mark.requirement("S4-24")
def test_a_scan_finds_every_name(root: Path) -> None:
    tree = Tree.scan(root)
    assert {tree.path(node) for node in tree.beneath(ROOT) if node} == set(shape(root))


@pytest.mark.requirement("S4-26")
def test_the_export_is_what_networkx_exports(root: Path) -> None:
    tree = Tree.scan(root)
    assert tree.export() == nx.node_link_data(tree.graph, edges="edges")


@pytest.mark.requirement("S4-24")
def test_the_graph_is_a_networkx_tree(root: Path) -> None:
    assert nx.is_arborescence(Tree.scan(root).graph)


@pytest.mark.requirement("S4-24")
def test_names_of_any_bytes_are_nodes(tmp_path: Path) -> None:
    for raw in (b"caf\xe9", b"back\\slash", "été".encode(), b"new\nline"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).touch()
    tree = Tree.scan(tmp_path)
    assert set(tree.children[ROOT]) == {"caf\\xe9", "back\\\\slash", "été", "new\nline"}
    assert all(os.path.lexists(os.fsencode(tmp_path) + b"/" + names.decode(name)) for name in tree.children[ROOT])


@pytest.mark.requirement("S4-29")
def test_a_link_is_a_node_and_nothing_beyond_it(root: Path) -> None:
    tree = Tree.scan(root)
    link = tree.find(("link",))
    assert link is not None
    assert tree.attrs(link)["kind"] == "symlink"
    assert tree.find(("link", "letter.txt")) is None


def test_pipes_and_sockets_are_other(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
    tree = Tree.scan(tmp_path)
    assert {tree.attrs(node)["kind"] for node in tree.beneath(ROOT) if node} == {"other"}


def test_the_hidden_folder_is_not_scanned_but_its_name_deeper_down_is(tmp_path: Path) -> None:
    tree = Tree.scan(grow(tmp_path, {".suma/lock": "", "a/.suma/x": ""}))
    assert {tree.path(node) for node in tree.beneath(ROOT)} == {"", "a", "a/.suma", "a/.suma/x"}


def test_a_fresh_file_is_looked_at_again_after_the_clocks_tick(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("now")
    tree = Tree.scan(tmp_path)
    assert tree.signature(tree.children[ROOT]["new"]).mtime_ns == (tmp_path / "new").stat().st_mtime_ns


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
@pytest.mark.requirement("S4-29")
def test_another_mount_is_sealed(tmp_path: Path) -> None:
    grow(tmp_path, {"inner": None, "outer/x": "x"})

    def scan() -> None:
        apart()
        mounted("tmpfs", tmp_path / "inner", "tmpfs")
        (tmp_path / "inner/secret").touch()
        tree = Tree.scan(tmp_path)
        assert tree.find(("inner", "secret")) is None
        assert list(tree.sealed) == [tree.find(("inner",))]

    assert forked(scan) == 0
