"""The program of a turn's container: it reads /turn/input.json, asks for tools, and writes /turn/output.json.

It imports nothing of Suma, and has no effect of its own: tools and models are called by the host, over the socket that
`controllerUrl` names (docs/turn-runner.md). Any other program that keeps to the two files and the socket may take its
place.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
from typing import Any

TURN = "/turn"
OUTPUT = f"{TURN}/output.json"
Json = Any


class Controller(http.client.HTTPConnection):
    """One request to the host, over the socket."""

    def connect(self) -> None:  # type: ignore[explicit-override] # the guest has the standard library alone
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


class Host:
    """The host: answers when the calls have ended, which may take as long as a person takes to approve them."""

    def __init__(self, given: Json) -> None:
        self._socket, self._token = given["controllerUrl"].removeprefix("unix://"), given["token"]

    def tools(self, calls: list[Json], **fields: Json) -> list[Json]:
        results: list[Json] = self._post("/tool", {"calls": calls, **fields})["calls"]
        return results

    def model(self) -> Json:
        """Ask the model what to do next; it sees all calls of this turn so far."""
        return self._post("/model", {})

    def _post(self, path: str, body: Json) -> Json:
        connection = Controller(self._socket)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {said.get('code')}: {said.get('detail')}")
        return said


def play(given: Json, host: Host) -> str:
    """Play the script of the input: an entry is the calls of one round, or the text that ends the turn."""
    done = len(given["calls"])
    for entry in given["runner"]["script"]:
        if isinstance(entry, str):
            return entry
        calls = entry if isinstance(entry, list) else [entry]
        # After a crash the host says which calls are done.
        done -= len(calls)
        if done < 0:
            done = 0
            host.tools(calls)
    return "Done."


def think(given: Json, host: Host) -> str:
    """Do what the model says, until it answers."""
    while True:
        said = host.model()
        if "calls" not in said:
            return str(said["text"])
        host.tools(said["calls"], reasoning=said["reasoning"], final=said["final"])
        if said["final"]:
            # The host has an answer written from the results.
            return str(said["reasoning"] or "Done.")


MODES = {"mock": play, "model": think}


def main() -> None:
    with open(f"{TURN}/input.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs 10 ms of each start
        given = json.load(file)
    text = MODES[given["runner"]["mode"]](given, Host(given))
    # Renamed at the end: the file is whole or not there.
    with open(f"{OUTPUT}.new", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump({"text": text}, file)
    os.rename(f"{OUTPUT}.new", OUTPUT)  # noqa: PTH104


if __name__ == "__main__":
    main()
