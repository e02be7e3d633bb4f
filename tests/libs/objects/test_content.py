"""The header that gives a download its file name."""

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.objects.content import disposition


@pytest.mark.requirement("A28a")
@given(st.text(max_size=40))
def test_no_name_ends_the_header_or_its_quotes(filename: str) -> None:
    header = disposition(filename)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert header.startswith('attachment; filename="')


@pytest.mark.parametrize("filename", ["a.json", "Größe.json", "a b.json", 'say "hi".txt', "a;b=c.txt", "back\\slash"])
def test_every_file_name_survives_the_header(filename: str) -> None:
    message = EmailMessage()
    message["Content-Disposition"] = disposition(filename).replace('filename="', 'plain="')
    assert message.get_filename() == filename
