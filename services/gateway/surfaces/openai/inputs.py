"""Content of a message of OpenAI's API: its text, and its images and files."""

from __future__ import annotations

from collections.abc import Iterator

from libs.errors import Rejected
from services.gateway.surfaces.files import Given, RemoteFile
from services.gateway.surfaces.openai.requests import (
    Content,
    FilePart,
    ImagePart,
    InputFile,
    InputImage,
    OtherPart,
    TextPart,
)


class UnsupportedContent(Rejected):
    """A part of this message is malformed or not supported; send text, images or files."""

    code = "UNSUPPORTED_CONTENT"


def text_of(content: Content) -> str:
    """Return the text of a message's content."""
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def files_of(content: Content) -> Iterator[Given]:
    """Yield the images and files of a message's content. Raises RemoteFile."""
    for part in content:
        match part:
            case ImagePart(image_url=image):
                yield Given(None, image.url, None)
            case FilePart(file=file):
                yield Given(file.file_id, file.file_data, file.filename)
            case InputImage(image_url=url, file_id=upload):
                yield Given(upload, url, None)
            case InputFile() if part.file_url is not None:
                raise RemoteFile
            case InputFile():
                yield Given(part.file_id, part.file_data, part.filename)
            case OtherPart(type=kind):
                raise UnsupportedContent(f"a part `{kind}` is malformed or not supported; send text, images or files")
