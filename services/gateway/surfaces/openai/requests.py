"""Requests of OpenAI's API, as far as Suma reads them.

A member that asks for an answer in a form that Suma cannot give is refused. Settings of sampling are ignored: Suma
chooses its models itself.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema
from typing_extensions import override

from libs.errors import NotFound, Rejected
from services.gateway.http.values import failing_fast
from services.gateway.surfaces.calls import Options

MODEL = "suma"
APPROVAL_TOOL, CLARIFICATION_TOOL = "suma_approval", "suma_clarification"
"""Tools that a client may declare to get questions as calls."""
OURS = (APPROVAL_TOOL, CLARIFICATION_TOOL)


class NoSuchModel(NotFound):
    """There is no such model; the only one is `suma`."""

    code = "MODEL_NOT_FOUND"


class NothingSaid(Rejected):
    """The last message must be from the user, or the result of a tool call; add one."""

    code = "NOTHING_SAID"


class ToolNotOurs(Rejected):
    """Suma runs its own tools and calls none of the client's; leave `tool_choice` at auto."""

    code = "UNSUPPORTED_TOOL_CHOICE"


class Wire(BaseModel):
    """A part of a request. Unknown members are ignored: clients send many."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    @override
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return cast("CoreSchema", failing_fast(handler(source)))


class ImageUrl(Wire):
    url: str


class File(Wire):
    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


class TextPart(Wire):
    type: Literal["text", "input_text", "output_text"]
    text: str


class RefusalPart(Wire):
    type: Literal["refusal"]
    refusal: str


class ImagePart(Wire):
    """An image of a chat message."""

    type: Literal["image_url"]
    image_url: Annotated[ImageUrl, BeforeValidator(lambda url: {"url": url} if isinstance(url, str) else url)]


class FilePart(Wire):
    """A file of a chat message."""

    type: Literal["file"]
    file: File


class InputImage(Wire):
    """An image of a response's input."""

    type: Literal["input_image"]
    image_url: str | None = None
    file_id: str | None = None


class InputFile(File):
    """A file of a response's input."""

    type: Literal["input_file"]
    file_url: str | None = None


class OtherPart(Wire):
    """A part that is malformed, or of a kind that Suma does not read. In an earlier message it refuses nothing."""

    type: str = "unknown"


def _or_other(part: Any, parsed: ValidatorFunctionWrapHandler) -> Any:
    try:
        return parsed(part)
    except ValidationError:
        kind = part.get("type") if isinstance(part, dict) else None
        return OtherPart(type=kind) if isinstance(kind, str) else OtherPart()


def _parts(content: Any) -> Any:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else [] if content is None else [content]


Part = Annotated[
    TextPart | RefusalPart | ImagePart | FilePart | InputImage | InputFile,
    Field(discriminator="type"),
    WrapValidator(_or_other),
]
Content = Annotated[list[Part | OtherPart], BeforeValidator(_parts)]


class Function(Wire):
    name: str = ""


class Tool(Wire):
    """A declared tool, in the form of either API."""

    type: str
    name: str = ""
    function: Function = Function()

    @property
    def called(self) -> str:
        return self.name or self.function.name


class Request(Wire):
    model: str
    stream: bool | None = None
    metadata: Options | None = None
    tools: list[Tool] | None = None
    tool_choice: str | Tool | dict[str, Any] | None = None

    @property
    def options(self) -> Options:
        return self.metadata or Options()

    def checked(self) -> None:
        """Raise NoSuchModel, or ToolNotOurs if a tool of the client must be called."""
        if self.model != MODEL:
            raise NoSuchModel
        if self.tool_choice not in (None, "auto", "none") and not self.asks_by:
            raise ToolNotOurs

    @property
    def asks_by(self) -> frozenset[str]:
        """The tools by which the client takes questions."""
        declared = frozenset(tool.called for tool in self.tools or ()) & frozenset(OURS)
        return declared if self.tool_choice != "none" else frozenset()


class ChatMessage(Wire):
    role: str
    content: Content = []
    tool_call_id: Any = None


class StreamOptions(Wire):
    include_usage: bool | None = None


class TextFormat(Wire):
    type: Literal["text"]


class ChatRequest(Request):
    messages: list[ChatMessage] = Field(min_length=1)
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    logprobs: Literal[False] | None = None
    modalities: list[Literal["text"]] | None = None
    response_format: TextFormat | None = None
    functions: None = None


class InputMessage(Wire):
    """A message among a response's input, or an earlier answer that a client sends back."""

    type: Literal["message"] = "message"
    role: str
    content: Content = []
    id: Any = None


class ApprovalResponse(Wire):
    """An answer to a request for approval. `exclude` and `args` are ours: OpenAI's API has no word for them."""

    type: Literal["mcp_approval_response"]
    approval_request_id: str
    approve: bool
    reason: str | None = None
    exclude: list[str] = []
    args: dict[str, Any] | None = None

    @property
    def answer(self) -> dict[str, object]:
        return self.model_dump(include={"approve", "reason", "exclude", "args"})


class OtherItem(Wire):
    """An earlier output that a client sends back, such as a call."""

    type: str
    id: Any = None


def _kind(item: Any) -> str:
    """Return the tag of an input item. A message may leave its type out."""
    kind = item.get("type") if isinstance(item, dict) else getattr(item, "type", None)
    return kind if kind == "mcp_approval_response" else "message" if kind in (None, "message") else "other"


InputItem = Annotated[
    Annotated[InputMessage, Tag("message")]
    | Annotated[ApprovalResponse, Tag("mcp_approval_response")]
    | Annotated[OtherItem, Tag("other")],
    Discriminator(_kind),
]


class Named(Wire):
    id: str


class TextSettings(Wire):
    format: TextFormat | None = None


class ResponseRequest(Request):
    input: str | list[InputItem]
    previous_response_id: str | None = None
    conversation: str | Named | None = None
    background: bool | None = None
    text: TextSettings | None = None

    @model_validator(mode="after")
    def _one_place(self) -> ResponseRequest:
        if self.previous_response_id is not None and self.conversation is not None:
            raise ValueError("previous_response_id and conversation exclude each other; send one of them")
        return self

    @property
    def session(self) -> Options:
        """The settings, with the session that `conversation` names."""
        named = self.conversation.id if isinstance(self.conversation, Named) else self.conversation
        return self.options.within(named) if named is not None else self.options
