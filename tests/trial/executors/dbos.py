"""DBOS: a durable workflow of three steps, of which the second makes the effect.

After a crash its launch recovers the pending workflows of its executor id, as its documentation says. A client sends
what has not ended again, under the same workflow id, which starts nothing twice.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from threading import Thread
from typing import Any

import psycopg  # type: ignore[import-not-found]
from dbos import DBOS, SetWorkflowID  # type: ignore[import-not-found]
from psycopg_pool import ConnectionPool  # type: ignore[import-not-found]

from tests.trial import world
from tests.trial.wire import BEGUN, DONE, RETURNED, Wire

STATEMENTS = {"plain": world.PLAIN, "keyed": world.KEYED}
NAME = "trial"


class Here:
    """What a step needs and no workflow may carry."""

    wire: Wire
    pool: Any


@DBOS.step()  # type: ignore[untyped-decorator]
def plan(effect: str) -> str:
    return effect


@DBOS.step()  # type: ignore[untyped-decorator]
def act(turn: str, effect: str, seconds: float) -> str:
    Here.wire.wait(turn, BEGUN)
    with Here.pool.connection() as connection, psycopg.RawCursor(connection) as cursor:
        # The workflow is the turn, so its id is a fair idempotency key.
        cursor.execute(STATEMENTS[effect].encode(), (turn, turn, 1))
    Here.wire.wait(turn, DONE)
    time.sleep(seconds)
    Here.wire.tell(turn, RETURNED)
    return "It is done."


@DBOS.step()  # type: ignore[untyped-decorator]
def reply(text: str) -> str:
    return text


@DBOS.workflow()  # type: ignore[untyped-decorator]
def turn(name: str, effect: str, seconds: float) -> str:
    return str(reply(act(name, plan(effect), seconds)))


def _follow(name: str, handle: Any) -> None:
    handle.get_result()
    Here.wire.say(ended=name, state="completed")


def main(socket: str, name: str, dsn: str, elsewhere: str) -> None:
    DBOS(
        config={
            "name": NAME,
            "system_database_url": dsn,
            "executor_id": "executor",
            "application_version": "1",
            "log_level": "ERROR",
            # Faster than its defaults, which is to its advantage: recovered workflows are polled for.
            "notification_listener_polling_interval_sec": 0.05,
        }
    )
    with ConnectionPool(elsewhere, min_size=4, max_size=16, kwargs={"autocommit": True}) as Here.pool:
        Here.wire = wire = Wire(socket, name)
        DBOS.launch()
        wire.say(versions={"dbos": version("dbos")})
        while True:
            asked = wire.taken.get()
            with SetWorkflowID(asked["turn"]):
                handle = DBOS.start_workflow(turn, asked["turn"], asked["effect"], asked["seconds"])
            Thread(target=_follow, args=(asked["turn"], handle), daemon=True).start()
