"""Documents: the text of a PDF, an office file or a web page, and small pictures, made in an isolated child process.

Such files come from strangers, and their formats are large. Each is parsed by a child that gets the bytes on its
standard input, no environment, and limits on time, memory and open files.
"""

from libs.documents.reading import (
    FORMS,
    PICTURES,
    SCAN_PAGES,
    CannotRead,
    Damaged,
    Document,
    Locked,
    Picture,
    Sheet,
    read,
    read_page,
    read_picture,
    read_scan,
    read_sheet,
)

__all__ = [
    "FORMS",
    "PICTURES",
    "SCAN_PAGES",
    "CannotRead",
    "Damaged",
    "Document",
    "Locked",
    "Picture",
    "Sheet",
    "read",
    "read_page",
    "read_picture",
    "read_scan",
    "read_sheet",
]
