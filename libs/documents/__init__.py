"""Documents: the text of a PDF, an office file or a web page, extracted in an isolated child process.

Such files come from strangers, and their formats are large. Each is parsed by a child that gets the bytes on its
standard input, no environment, and limits on time, memory and open files.
"""

from libs.documents.reading import FORMS, CannotRead, Damaged, Document, Locked, read, read_page

__all__ = [
    "FORMS",
    "CannotRead",
    "Damaged",
    "Document",
    "Locked",
    "read",
    "read_page",
]
