"""Two jobs with commands: a repair of several rounds, and a page, an edit and a command in one plan."""

from __future__ import annotations

from typing import Any

BROKEN = "def area(width, height):\n    return width + height\n"
MENDED = BROKEN.replace("+", "*")
TESTS = """\
import unittest
from area import area

class Areas(unittest.TestCase):
    def test_area_of_a_rectangle(self):
        self.assertEqual(area(3, 4), 12)
"""
RUN = ("run-commands.run", {"command": "python3 -B -m unittest -v"})
READ = ("edit-files.read", {"path": "area.py"})
GREP = ("edit-files.grep", {"pattern": "width"})


def edit(old: str, new: str, path: str = "area.py") -> tuple[str, dict[str, Any]]:
    return ("edit-files.edit", {"path": path, "old": old, "new": new})


EDIT = edit("width + height", "width * height")
COUNT = "open('count.txt', 'w').write(str(len(open('page.md').read().split())))\n"
"""A program that counts the words of a page."""


def counting(url: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that keep a page, change `count.py` into a program, and run it."""
    return [
        ("web.fetch", {"url": url}),
        ("edit-files.write", {"path": "page.md", "content": "$step(1).text"}),
        ("edit-files.read", {"path": "count.py"}),
        edit("pass\n", COUNT, path="count.py"),
        ("run-commands.run", {"command": "python3 -B count.py"}),
    ]
