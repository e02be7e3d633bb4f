"""The explorer: cases of every operation, valid and not, and sequences of operations, each as both tenants in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from random import Random
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import Case, GenerationMode, Response
from schemathesis.core.result import Err
from typing_extensions import override

from services.gateway.http.middleware.concurrency import OPEN
from services.gateway.http.urls import METADATA
from tests.exploration.steering import steer
from tests.exploration.verdicts import judge
from tests.exploration.world import Party

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
ANSWER_SECONDS = 60.0
BATCH = 10
"""Sequences that share a seed."""
Json = Any


@dataclass
class Findings:
    """What was asked and what was wrong. Equal findings of an operation count as one, with their first request."""

    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    """The time of the answers, by operation."""
    sequences: int = 0
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        return self.asked.total()

    def note(self, label: str, status: int, seconds: float, wrongs: Iterable[str], shown: str) -> None:
        """Count an answer, and keep what is wrong with it."""
        self.asked[label] += 1
        self.seconds[label] = self.seconds.get(label, 0.0) + seconds
        self.statuses[status] += 1
        for wrong in wrongs:
            self.wrong.setdefault((label, wrong), shown)


@dataclass
class Explorer:
    """Asks a platform at `url`, whose OpenAPI document is `document`. Equal arguments ask the same."""

    url: str
    document: Json
    parties: Sequence[Party]
    owner: Party
    seed: int = 1
    found: Findings = field(default_factory=Findings)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._web = requests.Session()
        self._web.trust_env = False
        # The cookie of a sign-in would authenticate requests that must have no credentials.
        self._web.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._schema = schemathesis.openapi.from_dict(self.document)
        self._schema.config.update(base_url=self.url)
        self._schema.config.generation.update(with_security_parameters=False)
        self._turn = 0

    def operations(self) -> list[Any]:
        """Return every operation of the document. Raises the error of one that cannot be read."""
        return [_operation(found) for found in self._schema.get_all_operations()]

    def each(self, cases: int) -> None:
        """Ask each operation for `cases` valid requests and as many invalid ones, and once without credentials."""
        for operation in self.operations():
            for mode in GenerationMode:
                if mode is GenerationMode.POSITIVE or self._has_form(operation):
                    self._drawn(operation, mode, cases)
            self._anonymous(operation)

    def sequences(self, number: int, steps: int) -> None:
        """Follow `number` sequences of up to `steps` operations, in which answers supply the ids of later requests."""
        explorer = self

        class Machine(self._schema.as_state_machine()):  # type: ignore[misc]
            @override
            def setup(self) -> None:
                explorer.found.sequences += 1
                self.party = explorer.next_party()

            @override
            def call(self, case: Case[Any], **kwargs: Any) -> Response:
                return explorer.ask(case, self.party)

            @override
            def validate_response(self, response: Response, case: Case[Any], *args: Any, **kwargs: Any) -> None:
                """Judge nothing more: `ask` has."""

        batch = 0
        while self.found.sequences < number:
            batch += 1
            # Hypothesis expects equal answers to equal requests, and the platform has a memory: a batch may end early.
            with suppress(FlakyStrategyDefinition):
                seed(self.seed + batch)(Machine).run(settings=_settings(BATCH, stateful_step_count=steps))

    def next_party(self) -> Party:
        self._turn += 1
        return self.parties[self._turn % len(self.parties)]

    def ask(self, case: Case[Any], me: Party) -> Response:
        """Send a request as this party, and judge the answer."""
        others = [party for party in self.parties if party is not me]
        sent = steer(case, me, others, self._random)
        headers = {"Authorization": f"Bearer {me.key}"}
        try:
            answer = case.call(session=self._web, headers=headers, timeout=ANSWER_SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            self.found.wrong[case.operation.label, f"no answer: {type(error).__name__}"] = str(error)[:400]
            reject()
        # What a body holds may be kept and shown again: a title, a root, the id of a commit to undo.
        me.echoed |= {word for other in others for word in other.own if word in repr(case.body)}
        asked = f"{case.path_parameters} {case.query} {case.headers} {case.body!r}"
        hidden = [word for other in others for word in other.own - me.echoed if word not in sent and word not in asked]
        wrongs = judge(case, answer, self.document, hidden)
        self.found.note(case.operation.label, answer.status_code, answer.elapsed, wrongs, _shown(case, answer))
        return answer

    def _drawn(self, operation: Any, mode: GenerationMode, cases: int) -> None:
        # Only the platform's own tenant administers tenants; as others, each of these requests is refused.
        platform = operation.path.startswith("/v1/admin/tenants")

        def ask(case: Case[Any]) -> None:
            self.ask(case, self.owner if platform and self._turn % 3 == 0 else self.next_party())
            self._turn += platform

        drawn = given(case=operation.as_strategy(generation_mode=mode))(ask)
        seed(self.seed)(_settings(cases)(drawn))()

    def _has_form(self, operation: Any) -> bool:
        """Whether a request can have a wrong form: each text is a valid tag."""
        declared = self.document["paths"][operation.path][operation.method.lower()]
        named = {parameter["name"] for parameter in declared.get("parameters", ())}
        return bool(named - {"If-None-Match"}) or "requestBody" in declared

    def _anonymous(self, operation: Any) -> None:
        case = operation.Case(
            path_parameters={parameter.name: "x" for parameter in operation.path_parameters},
            body={} if operation.body else None,
            media_type="application/json",
        )
        answer = self._web.request(case.method, f"{self.url}{case.formatted_path}", timeout=ANSWER_SECONDS)
        # Without an issuer there is no metadata for OAuth.
        expected = 401 if case.path not in OPEN else 404 if case.path.startswith(METADATA) else 200
        self.found.asked[operation.label] += 1
        if answer.status_code != expected:
            self.found.wrong[operation.label, "answers without credentials"] = f"{answer.status_code}"


def _operation(found: Any) -> Any:
    if isinstance(found, Err):
        raise found.err()
    return found.ok()


def _settings(cases: int, **more: Any) -> Any:
    """Return settings that only generate: failures are collected, so there is nothing to shrink or to remember."""
    return settings(
        max_examples=cases,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
        derandomize=False,
        **more,
    )


def _shown(case: Case[Any], answer: Response) -> str:
    body = answer.content[:400].decode("utf-8", "replace")
    asked = (
        f"path={case.path_parameters!r} query={case.query!r} body={case.body!r} headers={dict(case.headers or {})!r}"
    )
    return f"{asked[:700]}\n    → {answer.status_code} {body}"
