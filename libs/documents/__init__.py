"""Documents: the text of a PDF or an office file, extracted in an isolated child process.

Such files come from strangers, and their formats are large. Each is parsed by a child that gets the bytes on its
standard input, no environment, and limits on time, memory and open files.
"""

from libs.documents.reading import FORMS, CannotRead, Damaged, Document, Locked, read

__all__ = [
    "FORMS",
    "CannotRead",
    "Damaged",
    "Document",
    "Locked",
    "read",
]
