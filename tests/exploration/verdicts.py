"""The judgement of an answer: schemathesis' checks, and what it cannot know: codes, tenants, business rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from schemathesis import Case, Response
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks

from libs.runtime.problem_details import MEDIA_TYPE

Json = Any
CHECKS: tuple[Callable[..., Any], ...] = (
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.unsupported_method,
    checks.allow_header_conformance,
)
SYNTAX = (400, 415)
"""A request that fits the document is never refused for its form; 422 only for a rule, which has its own code."""


def judge(case: Case[Any], answer: Response, document: Json, hidden: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with an answer. `hidden` are the other tenant's ids and words that the request lacks."""
    if answer.status_code >= 500 and not _degraded(case, answer):
        yield f"status {answer.status_code}"
    # A wrong form may be found after another reason to refuse, such as 412.
    accepted = [checks.negative_data_rejection] if answer.status_code < 400 else []
    try:
        case.validate_response(answer, checks=[*CHECKS, *accepted])
    except FailureGroup as group:
        found = [one for one in group.exceptions if not _only_more(one)]
        yield from (f"{type(one).__name__}: {_first(one)}" for one in found)
    except Failure as one:
        yield f"{type(one).__name__}: {_first(one)}"
    if answer.status_code >= 400 and not _degraded(case, answer):
        yield from _problem(case, answer, document)
    text = answer.content.decode("utf-8", "replace") + repr(dict(answer.headers))
    if leaked := [word for word in hidden if word in text]:
        yield f"shows what is another tenant's: {leaked[0]}"


def _only_more(failure: BaseException) -> bool:
    """Whether the request was only wrong by an unknown query parameter or header, which HTTP servers ignore."""
    said = _first(failure)
    return "AcceptedNegativeData" in type(failure).__name__ and (
        "in query - violates `additionalProperties`" in said or "in header - violates `additionalProperties`" in said
    )


def _first(failure: BaseException) -> str:
    said = f"{failure} {getattr(failure, 'message', '')}".strip()
    return " ".join(said.split())[:300]


def _degraded(case: Case[Any], answer: Response) -> bool:
    """Whether this is a report of readiness, whose 503 is an answer."""
    return case.path in ("/readyz", "/v1/health") and answer.status_code == 503


def _problem(case: Case[Any], answer: Response, document: Json) -> Iterator[str]:
    """Yield what is wrong with a refusal: it is a problem document with a code that the operation lists."""
    if answer.status_code == 405 or case.method == "HEAD":
        return
    kind = answer.headers.get("content-type", [""])[0]
    if kind != MEDIA_TYPE:
        yield f"status {answer.status_code} is {kind}, not a problem document"
        return
    code = answer.json()["code"]
    operation = document["paths"][case.path][case.method.lower()]
    listed = _codes(document, operation["responses"].get(str(answer.status_code), {}))
    if code not in listed:
        yield f"code {code} ({answer.status_code}) is not listed"
    # A case whose values were replaced may fit the document no longer; schemathesis then marks it as negative.
    fits = case.meta is not None and case.meta.generation.mode.is_positive
    if fits and (answer.status_code in SYNTAX or code == "INVALID_REQUEST"):
        yield f"refuses what its schema allows: {answer.json()['detail'][:160]}"


def _codes(document: Json, response: Json) -> Collection[str]:
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    codes: Collection[str] = response.get("content", {}).get(MEDIA_TYPE, {}).get("examples", {}).keys()
    return codes
