"""AsyncAPI's own parser, from npm: what it says of a document."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from deploy.local.cache import Unprovided, built

VERSION = "3.6.3"
INSTALL_SECONDS = 600
PARSE_SECONDS = 120
SEVERITIES = ("error", "warning", "information", "hint")

PROGRAM = """
const { Parser } = require("@asyncapi/parser");
let text = "";
process.stdin.on("data", (chunk) => (text += chunk)).on("end", async () => {
  const said = [];
  for (const one of JSON.parse(text)) {
    const { document, diagnostics } = await new Parser().parse(one);
    const found = diagnostics.map(({ severity, message, path }) => ({ severity, message, path: path.join("/") }));
    const operations = document ? document.operations().all().map((operation) => operation.id()) : [];
    const messages = document ? document.allMessages().all().map((message) => message.id()) : [];
    said.push({ found, operations, messages });
  }
  process.stdout.write(JSON.stringify(said));
});
"""


@cache
def parser() -> Path:
    """The folder in which Node finds the parser.

    Raises:
        Unprovided: there is no Node here, or npm could not bring it.
    """
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Unprovided("AsyncAPI's parser needs Node: no `node` or no `npm` here")
    return built(f"asyncapi-parser-{VERSION}", _install)


def parsed(*documents: str) -> list[dict[str, list[str]]]:
    """What is in each, and under `error`, `warning`, … what the parser finds wrong. Raises Unprovided."""
    done = subprocess.run(
        ["node", "-e", PROGRAM],
        cwd=parser(),
        env={"PATH": os.environ["PATH"], "HOME": "/"},
        input=json.dumps(documents),
        capture_output=True,
        text=True,
        check=True,
        timeout=PARSE_SECONDS,
    )
    return [_sorted(said) for said in json.loads(done.stdout)]


def _sorted(said: dict[str, Any]) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
    for each in said["found"]:
        wrong[SEVERITIES[each["severity"]]].append(f"{each['path']}: {each['message']}")
    return {"operations": said["operations"], "messages": said["messages"], **wrong}


def _install(draft: Path) -> None:
    options = ("--prefix", str(draft), "--ignore-scripts", "--no-audit", "--no-fund", "--no-save")
    try:
        subprocess.run(
            ["npm", "install", *options, f"@asyncapi/parser@{VERSION}"],
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Unprovided(f"npm did not bring AsyncAPI's parser in {INSTALL_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        raise Unprovided(f"npm could not bring AsyncAPI's parser: {error.stderr.strip()[-500:]}") from None
