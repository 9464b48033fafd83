"""`prompts`: what is listed is what is sent, and what `--prompt NAME=FILE` begins with."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.program import Project
from tests.house.test_smallest_workflow import BLOCKS
from tests.installed import installed
from tests.markdown import ROOT


def test_each_prompt_is_listed_printed_and_tried_in_its_own_place(house: Project) -> None:
    listed = house.call("prompts", "--json").json["prompts"]
    assert {"clarify", "decide", "ask", "plan", "project_planner"} <= {
        one["name"] for one in listed
    }
    for one in listed:
        printed = house.call("prompts", one["version"]).out.encode()
        assert sha256(printed).hexdigest() == one["sha256"]
        (whole,) = house.call("prompts", one["version"], "--json").json["prompts"]
        assert whole["text"].encode() == printed
    env = {"OPENAI_BASE_URL": "https://gateway.example.org/v1", "OPENAI_API_KEY": "k"}
    options = {**env, "PREFLIGHTS_PROVIDER": "openai", "PREFLIGHTS_MODEL": "m"}
    asks = house.run("prompts", "--json", env=options).json["asks"]
    assert asks == {"provider": "openai", "model": "m", "host": "gateway.example.org"}
    house.call("start", "Add login", "--provider", "sim", "--no-input")
    (house.folder / "new.md").write_text(house.call("prompts", "clarify").out)
    done = house.call("regress", "--prompt", "clarify=new.md", "--json")
    assert "no prompt" not in done.err
    assert done.code in (0, 6), done.err


@pytest.mark.slow("whole runs")
def test_prompts_of_another_package_are_listed_and_tried(house: Project, tmp_path: Path) -> None:
    asked = "asked=workflow.AskedPart(opens=Met)"
    led = 'led=workflow.LedPart(package=__name__, prompts=(("triage", "triage.v1"),))'
    code = BLOCKS["preflights_blocker.py"].replace(asked, f"{asked}, {led}")
    assert led in code
    files = {f"preflights_blocker/data/prompts/triage.v{n}.md": f"Triage {n}." for n in (1, 2)}
    points = {"blocker": "preflights_blocker:FEATURE"}
    site = installed(tmp_path / "site", "preflights-blocker", points, files)
    (site / "preflights_blocker" / "__init__.py").write_text(code)
    env = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    assert house.run("prompts", "triage", env=env).out == "Triage 1."
    house.decided()
    (house.folder / "new.md").write_text("Triage otherwise.")
    for value, code_, said in (("v2", 6, ""), ("new.md", 6, ""), ("v3", 2, "triage.v1, triage.v2")):
        done = house.run("regress", "--prompt", f"triage={value}", env=env)
        assert (done.code, said in done.err) == (code_, True), done
