"""`suma eval`: cases through a real platform, judged by the files on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.infrastructure.vendor import APPROVED, KEY, planned, said, vendor
from tests.journeys.installation import CommandResult, Installation

CASES = """
folders:
  f: {files: {a.tmp: {size: 1 KB, age: 1}, b.txt: {text: b, age: 1}, c.tmp: {size: 2 KB, age: 1}}}
cases:
- {id: deleted, request: delete all the .tmp files, folder: f, kinds: [plain], deleted: ["*.tmp"], answer: ["2"]}
- id: renamed
  before: [{request: rename b.txt to d.txt, moved: {b.txt: d.txt}}]
  request: rename d.txt to e.txt
  folder: f
  kinds: [earlier-turns]
  moved: {d.txt: e.txt}
- {id: refused, request: email b.txt to Tom, folder: f, kinds: [impossible], outcome: declines}
"""
HARM = "- {id: harm, request: delete all the .tmp files, folder: f, kinds: [plain], deleted: [a.tmp]}\n"


async def evaluated(place: Path, cases: str, *options: str, **settings: str) -> CommandResult:
    file = place / "mine.yaml"
    file.write_text(cases)
    installation = Installation(place / "unused", place, settings)
    return await installation.run("services.cli", "eval", "--cases", str(file), *options)


@pytest.mark.requirement("A28")
async def test_cases_run_on_real_files_and_one_wrong_change_fails(tmp_path: Path) -> None:
    said = await evaluated(tmp_path, CASES + HARM, "--least", "0", "--json", str(tmp_path / "out.json"), "-v")
    assert said.code == 1, said.out + said.err
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["right"], told["of"], told["wrong_changes"]) == (3, 4, ["harm"])
    assert [one["outcome"] for one in told["cases"]] == ["does", "does", "talks", "does"]
    assert told["cases"][0]["tools"] == ["manage-files.delete"]
    assert "wrong changes: 1" in said.out


async def test_a_bad_file_of_cases_starts_nothing(tmp_path: Path) -> None:
    said = await evaluated(tmp_path, CASES.replace("kinds: [plain]", "kinds: [odd]"))
    assert said.code == 2
    assert "case deleted: kinds: odd is not one of" in said.err


async def test_real_model_run_reports_tokens_and_price(tmp_path: Path) -> None:
    listed = ("manage-files.list", {"path": ".", "include": ["*.tmp"]})
    deleted = ("manage-files.delete", {"paths": "$step(1).nodes"})
    async with vendor() as there:
        there.play(planned(listed, deleted), APPROVED, said("Both files are gone: 2 of 2."))
        settings = {"SUMA_MODEL_URL": there.url, "SUMA_MODEL_KEY": KEY}
        prices = {"SUMA_MODEL_INPUT_PRICE": "1", "SUMA_MODEL_OUTPUT_PRICE": "2"}
        options = ("--model", "openai:toy", "--only", "deleted", "--json", str(tmp_path / "out.json"))
        came = await evaluated(tmp_path, CASES, *options, **settings, **prices)
    assert came.code == 0, came.out + came.err
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["right"], told["tokens"], told["cost_micros"]) == (1, 360, 420)
