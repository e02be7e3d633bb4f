"""Documents: the words of a PDF or an office file, read in a process of its own that can do nothing else.

Such files come from strangers, and their forms are large. So each is read by a child that has the bytes on its
standard input, no environment, bounds on its time, its memory and its open files, and ends with what it found.
"""

from libs.documents.reading import FORMS, CannotRead, Damaged, Document, Locked, read

__all__ = ["FORMS", "CannotRead", "Damaged", "Document", "Locked", "read"]
