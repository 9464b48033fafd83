"""`prompts`: what is listed is what is sent, and what `--prompt NAME=FILE` begins with."""

from __future__ import annotations

from hashlib import sha256

from tests.cli.program import Project


def test_each_prompt_is_listed_and_printed_byte_by_byte(house: Project) -> None:
    listed = house.call("prompts", "--json").json["prompts"]
    assert {"clarify", "decide", "ask", "plan", "project_planner"} <= {
        one["name"] for one in listed
    }
    for one in listed:
        printed = house.call("prompts", one["version"]).out.encode()
        assert sha256(printed).hexdigest() == one["sha256"]
        (whole,) = house.call("prompts", one["version"], "--json").json["prompts"]
        assert whole["text"].encode() == printed


def test_a_printed_prompt_is_tried_in_its_own_place(house: Project) -> None:
    house.call("start", "Add login", "--provider", "sim", "--no-input")
    (house.folder / "new.md").write_text(house.call("prompts", "clarify").out)
    done = house.call("regress", "--prompt", "clarify=new.md", "--json")
    assert "no prompt" not in done.err
    assert done.code in (0, 6), done.err
