"""The port of a server that offers tools: it lists them and calls one. Each protocol has one adapter.

A server's text is not trusted. A listing is data to judge (`definitions`), a result is data for the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from libs.errors import Rejected, SumaError, Unavailable
from libs.remote_tools.settings import RemoteServer
from libs.tools import Intent, Outcome


class ServerDown(Unavailable):
    """The server does not answer; nothing was called."""

    code = "TOOL_SERVER_UNAVAILABLE"


class ServerRefused(Rejected):
    """The server refused the request; nothing happened there."""

    code = "TOOL_SERVER_REFUSED"


class ToolReportedError(Rejected):
    """The tool answered that it failed."""

    code = "TOOL_REPORTED_ERROR"


class ToolChanged(Rejected):
    """The server's tool is not the approved one any more; an operator must approve it again."""

    code = "REMOTE_TOOL_CHANGED"


class AnswerLost(SumaError):
    """The call was sent and its answer did not arrive, so the effect may have happened."""

    code = "ANSWER_LOST"


ERROR_MOST = 500
"""Characters of a server's own text about an error."""


def one_line(error: BaseException) -> str:
    """Return one line about an error. Its text may be the server's own."""
    said = " ".join(str(getattr(error, "message", error)).split())[:ERROR_MOST]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as its server describes it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    returns: Mapping[str, Any] | None = None
    """The JSON Schema of the structured result, if the server declares one."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    """Hints on effects. The server may lie, so they count only together with the settings."""
    title: str = ""
    source: str = ""
    """The digest of the files of a server that is a program."""


class Server(Protocol):
    """A server of remote tools. Every call has a time limit, and every answer a size limit."""

    @property
    def name(self) -> str:
        """The prefix of its tools' names."""
        ...

    @property
    def protocol(self) -> str: ...

    @property
    def settings(self) -> RemoteServer: ...

    async def tools(self) -> Sequence[Listed]:
        """Return the tools as they are now. Raises ServerDown and ServerRefused."""
        ...

    async def call(self, tool: str, intent: Intent, *, unchanged: Unchanged) -> Outcome:
        """Compare the tool's present description by `unchanged`, then call it.

        Raises:
            ServerDown: nothing was called.
            ToolChanged, ServerRefused, ToolReportedError: it did not happen.
            AnswerLost: it may have happened.
        """
        ...


class Unchanged(Protocol):
    """Compares a listing with the approved description. Raises ToolChanged."""

    def __call__(self, listed: Sequence[Listed]) -> None: ...
