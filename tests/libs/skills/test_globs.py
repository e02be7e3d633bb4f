"""One rule selects paths by `include` and `exclude`."""

from __future__ import annotations

import pytest

from libs.skills import selected


@pytest.mark.parametrize(
    ("path", "include", "exclude", "expected"),
    [
        ("a.pdf", [], [], True),
        ("a.PDF", ["*.pdf"], [], True),
        ("deep/down/a.pdf", ["*.pdf"], [], True),
        ("a.txt", ["*.pdf", "*.txt"], [], True),
        ("a.txt", ["*.pdf"], [], False),
        ("a.pdf", [], ["*.pdf"], False),
        ("a.pdf", ["*.pdf"], ["a.*"], False),
        ("Photos", [], ["Photos"], False),
        ("Photos/2024/a.jpg", [], ["Photos"], False),
        ("Photos/2024/a.jpg", [], ["photos/2024"], False),
        ("PhotosOld/a.jpg", [], ["Photos"], True),
        ("My Photos/a.jpg", [], ["Photos"], True),
        ("figures/plot.png", ["figure*.png"], [], False),
        ("figures/plot.png", ["figures/*.png"], [], True),
        ("Draft letters/a.txt", [], ["draft*.txt"], True),
        ("boda lucía.jpg", ["*lucia*"], [], True),
        ("boda lucia.jpg", ["*lucía*"], [], False),
        ("lucía.jpg", ["lucia.jpg"], [], False),
        ("U\u0308bung 1.pdf", ["\u00dcbung*"], [], True),
        ("\u00dcbung 1.pdf", ["U\u0308bung*"], [], True),
        ("U\u0308bung/1.pdf", [], ["\u00fcbung"], False),
    ],
)
def test_excluded_folder_excludes_its_contents(
    path: str, include: list[str], exclude: list[str], expected: bool
) -> None:
    assert selected(path, include=include, exclude=exclude) is expected
