"""Logs: each line is a fixed phrase and fields, as JSON, or coloured on a terminal.

No secrets: a field with a secret's name loses its value, at any depth, and so does text that looks like a secret. Lines
within a trace carry its id. Library logs through `logging` get the same form.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import Processor

from libs.telemetry.traces import trace_id

HIDDEN = "[hidden]"
SECRET_WORDS = ("key", "token", "secret", "password", "authorization", "grant", "cookie")
PLAIN = {"key", "idempotency_key", "tokens"}
"""Fields with a secret-sounding name and a harmless value: the partition key, counts."""

SECRET_TEXT = re.compile(
    r"(?<=bearer )[\w.~+/=-]{8,}"  # RFC 6750
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # a URL's user and password
    r"|\bsuma_[a-z2-7]{16}_[a-z2-7]{52}\b"  # our API keys
    r"|(?<=x-amz-signature=)[0-9a-f]{16,}"  # a link into an object store
    r"|\beyJ[\w-]+\.[\w-]+\.[\w-]*",  # a JWT
    re.IGNORECASE,
)

Fields = MutableMapping[str, Any]
LIBRARIES = "WARNING"
"""The lowest level of library logs; their INFO describes their internals."""


def hide(_logger: object, _method: str, fields: Fields) -> Fields:
    """Remove secrets from a log line."""
    for name in fields:
        fields[name] = HIDDEN if _secret(name) else _clean(fields[name])
    return fields


def within(_logger: object, _method: str, fields: Fields) -> Fields:
    """Add the current trace's id, if there is one."""
    current = trace_id()
    if current is not None:
        fields["trace_id"] = current
    return fields


def configure(*, json: bool, level: str = "INFO") -> None:
    """Configure the process's logging once, at its start. Lines go to standard error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        within,
    ]
    renderer: Processor = structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer()
    # Format exceptions before hiding secrets: their text may quote a URL or a header.
    end: list[Processor] = [structlog.processors.format_exc_info, hide, renderer]
    structlog.configure(
        processors=[*shared, *end],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    _libraries(level, structlog.stdlib.ProcessorFormatter(foreign_pre_chain=[_part, *shared], processors=_bare(end)))


@contextmanager
def quiet(level: str = "ERROR") -> Iterator[None]:
    """Drop lines below `level` in this block, for commands whose output is for people."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]))
    try:
        yield
    finally:
        structlog.configure(**before)


def logger(name: str) -> Any:
    """Return a logger for one part of the platform."""
    return structlog.get_logger(part=name)


class _Handler(logging.StreamHandler[Any]):
    """A handler of our own, so that configuring again replaces it and no other."""


def _libraries(level: str, formatter: logging.Formatter) -> None:
    """Format what comes through `logging` like our own lines."""
    root = logging.getLogger()
    handler = _Handler(sys.stderr)
    handler.setFormatter(formatter)
    handler.setLevel(max(logging.getLevelNamesMapping()[level], logging.getLevelNamesMapping()[LIBRARIES]))
    root.handlers = [*(other for other in root.handlers if not isinstance(other, _Handler)), handler]


def _part(logger: logging.Logger, _method: str, fields: Fields) -> Fields:
    """Use the library's name as the part."""
    fields["part"] = fields["_record"].name
    return fields


def _bare(end: list[Processor]) -> list[Processor]:
    return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *end]


def _secret(name: str) -> bool:
    return name not in PLAIN and any(word in name.lower() for word in SECRET_WORDS)


def _clean(value: Any) -> Any:
    match value:
        case str():
            return SECRET_TEXT.sub(HIDDEN, value)
        case Mapping():
            return {name: HIDDEN if _secret(str(name)) else _clean(below) for name, below in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
        case BaseException():
            return SECRET_TEXT.sub(HIDDEN, repr(value))
        case _:
            return value
