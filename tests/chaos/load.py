"""The load: people who have messy folders tidied, through the public API alone, as ordinary clients do.

Each person opens a session with a folder of its own, plays a story (approves, denies, cancels, rolls back, says two
things at once) and begins again with another. A request is repeated with its key until it is answered. All that was
promised and all that was seen is written into a journal, line by line, by which the checker judges later: nothing here
judges.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import httpx

from libs.workspace import examples
from tests.chaos.checker import digest, manifest

Json: TypeAlias = Any
WISHES = (
    "clean up this folder: remove duplicates, sort by type, and tell me what is there",
    "remove duplicates and sort by type",
    "sort the files in this folder by type",
    "remove the duplicates in this folder",
)
ANSWER_SECONDS = 10.0
LOOK_SECONDS = 0.3
RETRY_SECONDS = (0.1, 0.8)


class Journal:
    """Lines of JSON, one for each thing that someone will have to answer for."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def note(self, what: str, **facts: Json) -> None:
        self._file.write(json.dumps({"what": what, "at": round(time.time(), 3), **facts}) + "\n")

    def close(self) -> None:
        self._file.close()


@dataclass
class Counts:
    """How much there was."""

    sessions: int = 0
    accepted: int = 0
    ended: int = 0
    repeated: int = 0
    """Requests that were sent again, whatever the reason."""
    resumed: int = 0
    """Event streams that were taken up again."""


@dataclass
class Load:
    """What all people share."""

    url: str
    key: str
    folders: Path
    journal: Journal
    counts: Counts = field(default_factory=Counts)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: finish what you are at, and say nothing new."""

    async def run(self, people: int, seed: int) -> None:
        """Until `closing` is set and everyone has finished."""
        await asyncio.gather(*(self._live(number, Random(f"{seed}:{number}")) for number in range(people)))

    async def _live(self, number: int, rng: Random) -> None:
        round = 0
        while not self.closing.is_set():
            round += 1
            async with self._client() as client:
                person = Person(self, client, f"{number}-{round}", rng)
                await person.play(rng.choice(STORIES))
            await asyncio.sleep(rng.uniform(0, 0.5))

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx.AsyncClient]:
        bearer = {"Authorization": f"Bearer {self.key}"}
        async with httpx.AsyncClient(
            base_url=self.url, headers=bearer, timeout=ANSWER_SECONDS, trust_env=False, verify=False
        ) as one:
            yield one


Story: TypeAlias = "Callable[[Person], Awaitable[None]]"
Verdict: TypeAlias = "Callable[[Mapping[str, Json]], Mapping[str, Json]]"
"""What a person answers to a question."""


class Person:
    """One session, and who speaks in it."""

    def __init__(self, load: Load, client: httpx.AsyncClient, name: str, rng: Random) -> None:
        self.load, self.client, self.name, self.rng = load, client, name, rng
        self.folder = load.folders / name
        self.session = ""
        self.last: int | None = None
        """The number of the session's last event, once nothing more is said in it."""
        self.committed = False
        self._seen = 0
        self._keys = 0
        self._ended: set[str] = set()

    async def play(self, story: Story) -> None:
        """Open a session, let someone watch it, and tell the story."""
        self.folder.mkdir()
        examples.random(self.folder, self.rng.randint(1, 10**9))
        before = await asyncio.to_thread(manifest, self.folder)
        hitl = self.rng.choice(("key", "bypass"))
        opened = await self.ask("POST", "/v1/sessions", {"root": str(self.folder), "hitl": hitl})
        self.session = opened["session_id"]
        self.load.counts.sessions += 1
        self.load.journal.note(
            "session", session=self.session, folder=str(self.folder), before=before, story=story.__name__
        )
        watching = asyncio.ensure_future(Watcher(self).watch())
        try:
            await story(self)
            await self._let_it_catch_up(watching)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def say(self, text: str, *, copies: int = 1, key: str | None = None) -> str:
        """A message, perhaps sent several times at once with its one key; the turn that it became."""
        key = key or self.key()
        path, body = f"/v1/sessions/{self.session}/messages", {"text": text}
        answers = await asyncio.gather(*(self.ask("POST", path, body, key=key) for _ in range(copies)))
        for answer in answers:
            self.load.journal.note(
                "accepted",
                session=self.session,
                key=key,
                message=answer["message_id"],
                turn=answer["turn_id"],
                text=text,
            )
        turn = str(answers[0]["turn_id"])
        self.load.counts.accepted += turn not in self._ended
        return turn

    async def follow(self, *turns: str, verdict: Verdict) -> None:
        """Until these turns have ended; questions are answered meanwhile."""
        while not self._ended.issuperset(turns):
            for event in await self._news():
                if event["type"] == "approval.requested":
                    await self.answer(event["data"], verdict(event["data"]))
                elif event["type"] == "workspace.changed":
                    self.committed = event["data"]["change"] == "committed"
                elif event["type"] == "turn.ended":
                    self._ended.add(event["turn_id"])
                    self.load.counts.ended += 1
            await asyncio.sleep(LOOK_SECONDS)

    async def answer(self, question: Mapping[str, Json], answer: Mapping[str, Json]) -> None:
        body = {"digest": question["digest"], **answer}
        await self.ask("POST", f"/v1/approvals/{question['approval_id']}", body)

    async def roll_back(self) -> None:
        """Undo what was committed, if anything was, and see it through."""
        if not self.committed:
            return
        key = self.key()
        asked = await self.ask("POST", f"/v1/sessions/{self.session}/rollback", key=key)
        self.load.journal.note("accepted", session=self.session, key=key, message=None, turn=asked["turn_id"])
        self.load.counts.accepted += 1
        await self.follow(asked["turn_id"], verdict=yes)

    async def cancel(self, turn: str) -> None:
        await self.ask("POST", f"/v1/turns/{turn}/cancel")

    async def ask(self, method: str, path: str, body: Json = None, *, key: str | None = None) -> Json:
        """What was answered in the end: whoever does not answer, or has no time, is asked again with the same key."""
        headers = {"Idempotency-Key": key or self.key()} if method == "POST" else {}
        while True:
            with suppress(httpx.TransportError):
                answer = await self.client.request(method, path, json=body, headers=headers)
                if answer.status_code < 500 and answer.status_code != 429:
                    self._refused(method, path, answer)
                    return answer.json()
            self.load.counts.repeated += 1
            await asyncio.sleep(self.rng.uniform(*RETRY_SECONDS))

    def key(self) -> str:
        self._keys += 1
        return f"chaos-{self.name}-{self._keys}"

    def _refused(self, method: str, path: str, answer: httpx.Response) -> None:
        if answer.status_code >= 400:
            self.load.journal.note(
                "refused", session=self.session, ask=f"{method} {path}", status=answer.status_code, said=answer.text
            )

    async def _news(self) -> list[Json]:
        path = f"/v1/sessions/{self.session}/events?stream=false&after={self._seen}"
        page = await self.ask("GET", path)
        self._seen = page["next"]
        return list(page["events"])

    async def _let_it_catch_up(self, watching: asyncio.Future[None]) -> None:
        """The watcher is to see all that there is, so that the checker can compare it all."""
        self.last = (await self.ask("GET", f"/v1/sessions/{self.session}"))["last_seq"]
        self.load.journal.note("watched", session=self.session, last=self.last)
        await watching


class Watcher:
    """An event stream that is cut again and again, and taken up where it was cut."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self._last = 0
        self._rng = Random(person.name)

    async def watch(self) -> None:
        """Until all of a session's turns are over and the last event was seen."""
        person = self._person
        while not self._over():
            with suppress(httpx.HTTPError, TimeoutError):
                async with asyncio.timeout(self._rng.uniform(0.5, 8.0)):
                    await self._read()
            person.load.counts.resumed += 1
            await asyncio.sleep(self._rng.uniform(0, 0.3))

    async def _read(self) -> None:
        person = self._person
        headers = {"Last-Event-ID": str(self._last)} if self._last else {}
        path = f"/v1/sessions/{person.session}/events"
        async with person.client.stream("GET", path, headers=headers, timeout=20.0) as answer:
            if answer.status_code != 200:
                return
            seq, data = 0, ""
            async for line in answer.aiter_lines():
                name, _, value = line.partition(":")
                match name:
                    case "id":
                        seq = int(value)
                    case "data":
                        data += value.removeprefix(" ")
                    case "" if not line:
                        if seq and data:
                            self._see(seq, data)
                        seq, data = 0, ""

    def _see(self, seq: int, data: str) -> None:
        event = json.loads(data)
        self._person.load.journal.note(
            "seen",
            session=self._person.session,
            seq=seq,
            type=event["type"],
            turn=event["turn_id"],
            digest=digest(event["data"]),
        )
        self._last = seq

    def _over(self) -> bool:
        return self._person.last is not None and self._last >= self._person.last


def yes(question: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"verdict": "approve"}


def no(question: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"verdict": "deny", "reason": "not now"}


def unless_final(question: Mapping[str, Json]) -> Mapping[str, Json]:
    """Yes to each step, and no to what came of it."""
    return no(question) if question["kind"] == "commit" else yes(question)


def but_for_one(question: Mapping[str, Json]) -> Mapping[str, Json]:
    """Yes, with one thing left as it is, where there are several."""
    items = question["items"]
    if len(items) < 2:
        return yes(question)
    return {"verdict": "override", "exclude": [items[0]["id"]], "reason": "this one stays"}


async def tidies(person: Person) -> None:
    await person.follow(await person.say(person.rng.choice(WISHES)), verdict=yes)


async def tidies_and_takes_it_back(person: Person) -> None:
    await tidies(person)
    await person.roll_back()


async def changes_its_mind_twice(person: Person) -> None:
    await tidies_and_takes_it_back(person)
    await tidies(person)


async def keeps_one_thing(person: Person) -> None:
    await person.follow(await person.say(WISHES[0]), verdict=but_for_one)
    await person.roll_back()


async def refuses_in_the_end(person: Person) -> None:
    await person.follow(await person.say(person.rng.choice(WISHES)), verdict=unless_final)


async def refuses_at_once(person: Person) -> None:
    await person.follow(await person.say(person.rng.choice(WISHES)), verdict=no)


async def cancels(person: Person) -> None:
    turn = await person.say(person.rng.choice(WISHES))
    await asyncio.sleep(person.rng.uniform(0, 3))
    await person.cancel(turn)
    await person.follow(turn, verdict=yes)


async def insists(person: Person) -> None:
    """The same message at once over several connections, and once more when it has long been answered."""
    text = WISHES[2]
    key = person.key()
    await person.follow(await person.say(text, copies=3, key=key), verdict=yes)
    await person.say(text, key=key)


async def says_three_things_at_once(person: Person) -> None:
    turns = await asyncio.gather(*(person.say(wish) for wish in (WISHES[3], WISHES[2], WISHES[0])))
    await person.follow(*turns, verdict=yes)
    await person.roll_back()


async def cancels_one_of_three(person: Person) -> None:
    turns = await asyncio.gather(*(person.say(wish) for wish in (WISHES[3], WISHES[2], WISHES[0])))
    await person.cancel(person.rng.choice(turns))
    await person.follow(*turns, verdict=yes)


STORIES: tuple[Story, ...] = (
    tidies,
    tidies_and_takes_it_back,
    changes_its_mind_twice,
    keeps_one_thing,
    refuses_in_the_end,
    refuses_at_once,
    cancels,
    insists,
    says_three_things_at_once,
    cancels_one_of_three,
)
