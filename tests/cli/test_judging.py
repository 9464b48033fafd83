"""`calls judge`: pairs of answers that differ, shown blind at a terminal and on a page."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from preflights_es.features.calls.blind_pairs import first_number, mark_differing_words
from preflights_es.features.calls.judge_terminal import draw_side_by_side
from preflights_es.features.regress.verdict import judge_counts
from preflights_es.surfaces.view.rendering import Keys, Site
from preflights_es.surfaces.view.server import application
from preflights_es.use.bootstrap import opened_process
from preflights_es.words.pairs import PairCounts
from tests.cli.program import Project
from tests.cli.terminal import STYLES, Terminal, terminal
from tests.providers import server
from tests.providers.server import FakeAPI

LIVE = (
    *("regress", "--workflow", "calls", "--model", "new", "--live"),
    *("--margin", "0.7", "--since", "2020-01-01"),
)
KEY = r"\[q\]uit > "
SECRET = "kim@example.com"


def reply(request: server.Request) -> server.Sent:
    """The old model says where a parcel is, the new one does not know; of the third both do."""
    mail = request.body["messages"][0]["content"]
    knows = request.body["model"] == "old" or "3" in mail
    said = f"At the shop, ask {SECRET}" if knows else "I do not know"
    return server.text(said)(request)


@pytest.fixture
def compared(empty: Project, api: FakeAPI) -> Project:
    """Three calls of which a run asked both sides: two pairs differ."""
    lines = []
    for number in (1, 2, 3):
        messages = [{"role": "user", "content": f"Where is parcel {number}?"}]
        choice = {"message": {"role": "assistant", "content": "?"}, "finish_reason": "stop"}
        request = {"model": "old", "messages": messages}
        one = {"request": request, "response": {"choices": [choice]}, "session": f"mail-{number}"}
        lines.append(f"{json.dumps(one)}\n")
    (empty.folder / "calls.jsonl").write_text("".join(lines))
    assert empty.call("calls", "import", "calls.jsonl").code == 0
    api.script(reply)
    env = {
        "PREFLIGHTS_PROVIDER": "openai",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_OPENAI_API_KEY": "sk-test-0123456789",
    }
    assert empty.call(*LIVE, "--db", str(empty.log), env=env).code == 6
    return empty


def judged(project: Project) -> int:
    return sum(one["judged"] for one in project.call("calls", "--json").json["sessions"])


def side_that_knows(seen: str) -> str:
    """The key of the side on which the right answer stands."""
    line = next(line for line in seen.split("\n") if "At the" in line and "|" in line)
    return "l" if "At the" in line.partition("|")[0] else "r"


def judge_next(t: Terminal, key: str = "") -> str:
    seen = t.expect(KEY)
    t.press(key or side_that_knows(seen))
    return seen


def test_pairs_are_judged_by_keys_and_the_last_one_can_be_taken_back(compared: Project) -> None:
    with terminal(compared, "calls", "judge") as t:
        first = judge_next(t)
        assert "pair 1 of 2" in first
        assert "user: Where is parcel" in first
        assert not {"old", "new"} & set(re.findall(r"\w+", first))
        second = judge_next(t, "u")
        again = judge_next(t, "?")
        assert "pair 2 of 2" in second
        assert "pair 1 of 2" in again
        assert "take back the last key" in judge_next(t, "f")
        judge_next(t, "q")
        assert t.code() == 0
    assert judged(compared) == 1
    with terminal(compared, "calls", "judge") as t:
        judge_next(t, "v")
        t.expect("text\\): ")
        t.say(" ")
        t.expect("is empty(.|\n)*text\\): ")
        t.say("At the shop")
        assert t.code() == 0
    assert judged(compared) == 2
    with terminal(compared, "calls", "judge") as t:
        said = t.rest()
    assert "Nothing is undecided." in said
    resuming = "twice: preflights regress --workflow calls --model new --live --since 2020-01-01"
    options = f"T00:00:00.000000Z --margin 0.7 --db {compared.log} --resume"
    assert f"{resuming}{options}" in " ".join(said.split())
    log = b"".join(
        file.read_bytes() for file in compared.log.parent.glob("log.db*") if file.is_file()
    )
    assert SECRET.encode() not in log


def test_each_judgement_is_followed_by_what_the_verdict_says_now(compared: Project) -> None:
    with terminal(compared, "calls", "judge") as t:
        assert "undecided" not in judge_next(t, "v")
        t.expect("text\\): ")
        t.say("typed by mistake")
        assert "the left answer differs and the right one differs" in t.expect("one differs")
        judge_next(t, "u")
        assert judged(compared) == 0
        judge_next(t, "f")
        judge_next(t, "v")
        told = t.expect("text\\): ")
        assert "INCONCLUSIVE now, 1 pair is undecided; with 1 more that are equally" in told
        t.interrupt()
        assert t.code() == 130
    assert judged(compared) == 1


def test_the_outlook_names_the_first_numbers_that_change_the_verdict() -> None:
    counts = PairCounts(0, 0, 123, 103, right=123, waiting=103)

    def says(more: int, worse: int, word: str) -> bool:
        return judge_counts(counts.with_more(more, worse=worse), 0.05) == word

    passes = first_number(103, lambda k: says(k, 0, "PASS"))
    blocks = first_number(103, lambda k: says(k, k, "BLOCK"))
    each_by_each = [
        next(k for k in range(1, 104) if says(k, worse * k, word))
        for worse, word in ((0, "PASS"), (1, "BLOCK"))
    ]
    assert [passes, blocks] == each_by_each
    assert first_number(103, lambda _: False) is None


def test_pairs_need_a_terminal_and_a_run(empty: Project) -> None:
    empty.call("calls", "judge").refused(1, "say right values without one")
    with terminal(empty, "calls", "judge") as t:
        assert "no run left answers to judge" in t.rest()
    empty.call("calls", "judge", "x").refused(1, "say right values without one")
    empty.call("calls", "judge", "x", "1").refused(2, "--expect")
    empty.call("calls", "judge", "--expect", "1").refused(2, "give SESSION and CALL")


class Pages:
    """The pages of a project, by a person at a terminal."""

    def __init__(self, project: Project) -> None:
        from starlette.testclient import TestClient

        self._opened = opened_process(project.folder, terminal=True)
        keys = Keys("t", "c", "f")
        client = TestClient(
            application(Site(self._opened.request(), keys, 8718, "", lambda text, *_: text, str)),
            base_url="http://127.0.0.1:8718",
        )
        client.cookies.set("preflights_8718", keys.cookie)
        self.client = client

    def get(self, path: str) -> str:
        found = self.client.get(path)
        assert found.status_code == 200, found.text
        return found.text

    def judge(self, page: str, **said: str) -> Any:
        """Send the form of a page."""
        form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        return self.client.post(
            "/judge", data={**form, **said}, headers={"origin": "http://127.0.0.1:8718"}
        )


def test_pages_lead_to_the_pairs_of_a_run(
    compared: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.surfaces.view.conftest import at_home

    at_home(monkeypatch, compared.home)
    link = '<a href="/judge">judge</a>'
    assert link in Pages(compared).get("/sessions")
    for one in compared.call("calls", "--json").json["sessions"]:
        compared.call("calls", "erase", one["session_id"], "--yes")
    assert link not in Pages(compared).get("/sessions")


def test_a_page_shows_the_same_pairs_and_records_what_its_buttons_say(
    compared: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.surfaces.view.conftest import at_home

    at_home(monkeypatch, compared.home)
    pages = Pages(compared)
    page = pages.get("/judge?seed=5")
    assert "2 pairs are undecided" in page
    assert "<mark>" in page
    assert "old" not in re.findall(r"\w+", page.partition("<main")[2])
    empty_value = pages.judge(page, choice="value", expected=" ")
    assert empty_value.status_code == 409
    assert "the right value is empty" in empty_value.text
    assert pages.judge(page, choice="nonsense").status_code == 409
    after = pages.judge(page, choice="both_fine")
    assert after.status_code == 200
    assert "1 pair is undecided" in after.text
    undo = re.search(r'data-key="u" href="([^"]*)"', after.text)
    assert undo
    again = pages.get(undo[1].replace("&amp;", "&"))
    assert re.search(r'name="session" value="([^"]*)"', again)
    pages.judge(again, choice="left")
    pages.judge(pages.get("/judge?seed=5"), choice="value", expected="At the shop")
    done = pages.get("/judge?seed=5")
    assert "Nothing is undecided." in done
    assert "<code>preflights regress --workflow calls --model new --live --since 20" in done
    assert judged(compared) == 2


def test_a_page_draws_its_order_and_shows_a_value_that_was_said(
    compared: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.surfaces.view.conftest import at_home

    at_home(monkeypatch, compared.home)
    pages = Pages(compared)
    page = pages.get("/judge")
    linked = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert any("judge.js" in address for address in linked)
    assert all(pages.get(address) for address in linked), "the keys are a script"
    seeds = {
        re.findall(r'name="seed" value="(\d+)"', one)[0] for one in (page, pages.get("/judge"))
    }
    assert len(seeds) == 2, "each sitting has an order of its own"
    forms = re.findall(r"<form.*?</form>", page.partition("<main")[2], re.DOTALL)
    (typed,) = [form for form in forms if 'id="expected"' in form]
    assert re.findall(r'<button name="choice" value="(\w+)"', typed) == ["value"], (
        "Enter in the field presses the first button of its form"
    )
    after = pages.judge(page, choice="value", expected='"At the"').text
    assert "the left answer differs and the right one differs." in after
    undo = re.search(r'data-key="u" href="([^"]*)"', after)
    assert undo
    again = pages.get(undo[1].replace("&amp;", "&"))
    assert 'value="At the"' in again
    assert 'value="left"' not in again, "a right value comes before a judgement of an answer"


def test_what_differs_is_marked_and_columns_fit() -> None:
    left, right = mark_differing_words("the parcel is here", "the parcel was here\nnow")
    assert [word for word, differs in left if differs] == ["is"]
    assert [word for word, differs in right if differs] == ["was", "now"]
    lines = [STYLES.sub("", line) for line in draw_side_by_side("a " * 60, "x" * 90, 41)]
    assert all(len(line) <= 41 for line in lines)
    assert "\x1b[31m" not in "".join(draw_side_by_side("\x1b[31mred", "\u202e", 80))
