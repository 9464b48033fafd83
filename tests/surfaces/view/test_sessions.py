"""The pages of sessions: a list, a timeline, payloads, replays."""

from __future__ import annotations

import html
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_cli.advice import advised
from preflights_es.kernel.ports import Access, Stored
from preflights_es.surfaces.view import responses, session_list, sessions
from preflights_es.surfaces.view.pictures import PART
from preflights_es.surfaces.view.recorded_session import CARDS, sides
from preflights_es.surfaces.view.rendering import Site
from preflights_es.surfaces.view.server import application
from preflights_es.use.archives import SessionFile, opened_file
from preflights_es.use.bootstrap import opened_process
from tests.benchmarks.growing import recorded
from tests.cli.program import RAW, Project
from tests.each import each
from tests.projections.recording import golden
from tests.records.test_render_hostile import HOSTILE
from tests.surfaces.view.conftest import ADDRESS, KEYS, PORT, Open, Pages, words
from tests.surfaces.view.given_sessions import filed, resealed, told

PAGE_MAX: Final = 2_000_000  # bytes
OpenFile = Callable[[Sequence[Stored]], Pages]


@pytest.fixture
def of_file(shop: Project, tmp_path: Path) -> Iterator[OpenFile]:
    """The pages of sessions that only a file has."""
    with ExitStack() as given_back:
        program = opened_process(shop.folder, terminal=True, access=Access.WRITE)
        given_back.callback(program.process.close)

        def opened(events: Sequence[Stored]) -> Pages:
            file = SessionFile(str(filed(tmp_path / "session.jsonl", events)))
            request, _ = given_back.enter_context(opened_file(program.request(), file))
            site = Site(request, KEYS, PORT, "it shows a file alone", advised)
            client = Pages(application(site), base_url=ADDRESS)
            client.cookies.set(f"preflights_{PORT}", KEYS.cookie)
            return given_back.enter_context(client)

        yield opened


def path(events: Sequence[Stored], more: str = "") -> str:
    return f"/sessions/{events[0].session_id}{more}"


# 1. The list ---------------------------------------------------------------------------------


def test_a_project_without_sessions_says_so_and_no_other_is_found(pages: Pages) -> None:
    assert "No session here yet." in words(pages.text("/sessions"))
    for more in ("", "/event/1", "/event/1/bytes", "/replay", "/live"):
        assert pages.get(f"/sessions/00000000{more}").status_code == 404


def test_sessions_are_listed_newest_first_by_workflow_status(shop: Project, pages: Pages) -> None:
    shop.call("start", "Add login", "--json")
    shop.call("note", "call Bob tomorrow at 9", "--json")
    page = words(pages.text("/sessions"))
    assert 0 < page.index("call Bob tomorrow at 9") < page.index("Add login")
    assert "needs answers" in page
    assert "preflights sessions --all --all-workflows" in page
    assert "Add login" not in pages.text("/sessions?workflow=extraction")
    assert "call Bob" not in pages.text("/sessions?status=needs_answers")
    assert pages.get("/sessions?workflow=none").status_code == 409
    page = pages.text("/sessions?page=99&workflow=extraction")
    assert "No session is that old: the newest." in words(page).replace(" .", ".")
    assert 'href="/sessions?workflow=extraction"' in page


def test_sessions_are_found_and_summed_as_the_command_does(shop: Project, pages: Pages) -> None:
    shop.call("start", "Add login", "--json")
    shop.call("start", "Store the orders", "--provider", "sim", "--seed", "3", "--json")
    id_ = shop.newest()
    today = shop.call("sessions", "--json").json["sessions"][0]["began_at"][:10]
    for query in (
        *("q=ORDERS", f"q={id_[-8:]}", "with=calls", "model=simllm/1", f"with=calls&since={today}"),
        f"prompt=clarify.v1&until={today}",
    ):
        page = pages.text(f"/sessions?{query}")
        assert re.findall("Store the orders|Add login", page) == ["Store the orders"], query
        assert re.search("1 session , newest first: [0-9]+ calls? of models", words(page)), query
        command = re.search("The same in a terminal: <code>preflights ([^<]*)<", page)
        assert command
        found = shop.call(*shlex.split(html.unescape(command[1])), "--json").json["sessions"]
        assert ("prompt" in query) or [one["session_id"] for one in found] == [id_]
    both = pages.text("/sessions?with=waits")
    assert len(re.findall("Store the orders|Add login", both)) == 2
    assert "preflights inbox" in both
    for query in ("with=fallbacks", "cost=0", "until=2001-01-01", "q=%3Cscript%3E"):
        page = pages.text(f"/sessions?{query}")
        assert "No session here fits." in words(page), query
        assert "<script>" not in page
    for query in ("cost=x", "since=x", "with=x", "cost=nan"):
        assert "2 sessions" in words(pages.text(f"/sessions?{query}")), query


def test_a_persons_refused_answer_is_found_as_a_models_is(shop: Project, pages: Pages) -> None:
    shop.call("start", "Add login", "--json")
    shop.call("answer", "last", "auth_strategy=TBD")
    page = pages.text("/sessions?with=refused")
    assert "Add login" in page
    command = re.search("The same in a terminal: <code>preflights ([^<]*)<", page)
    assert command
    assert len(shop.call(*shlex.split(command[1]), "--json").json["sessions"]) == 1
    assert "Add login" not in pages.text("/sessions?with=rejected")
    assert "Add login" not in pages.text("/sessions?with=refused&until=2001-01-01")


def test_sums_are_of_the_newest_sessions_where_there_are_many(
    shop: Project, pages: Pages, monkeypatch: Any
) -> None:
    for number in range(4):
        shop.call("start", f"Add login {number}", "--json")
    monkeypatch.setattr(session_list, "ROWS", 2)
    monkeypatch.setattr(session_list, "SUMMED", 3)
    assert "More than 3 sessions" in words(pages.text("/sessions"))
    assert "4 sessions" in words(pages.text("/sessions?page=2"))


def test_a_first_look_at_a_large_log_says_that_tables_are_made(
    shop: Project, opened: Open, monkeypatch: Any
) -> None:
    monkeypatch.setattr(responses, "LARGE", 1)
    for number in range(2):
        shop.call("start", f"Add login {number}", "--json")
    with closing(sqlite3.connect(shop.log, isolation_level=None)) as log:
        log.execute("DELETE FROM projections")
    pages = opened()
    page = pages.get("/sessions")
    assert page.headers["refresh"]
    while "refresh" in page.headers:
        assert "The tables of 2 sessions are made once." in words(page.text)
        page = pages.get("/sessions")
    assert "2 sessions" in words(page.text)
    assert "refresh" not in pages.get("/").headers


def test_a_long_list_comes_in_pages(shop: Project, pages: Pages, monkeypatch: Any) -> None:
    for number in range(5):
        shop.call("start", f"Add login {number}", "--json")
    monkeypatch.setattr(session_list, "ROWS", 2)
    shown = [re.findall("Add login ([0-9])", pages.text(f"/sessions?page={n}")) for n in (1, 2, 3)]
    assert shown == [["4", "3"], ["2", "1"], ["0"]]
    assert 'rel="next"' not in pages.text("/sessions?page=3")


# 2. The timeline -----------------------------------------------------------------------------


def test_every_event_is_a_mark_a_row_a_change_and_a_payload_to_the_byte(of_file: OpenFile) -> None:
    events = golden("a_model_leads")[0]
    page = of_file(events).text(path(events))
    for one in events:
        links = re.findall(rf'<a href="\?at={one.version}"', page)
        assert len(links) >= 2, one.type
    assert page.count('class="mark ') == len(events)
    proposed = next(one.version for one in events if one.type.endswith("patch_proposed.v1"))
    page = of_file(events).text(path(events, f"?at={proposed}"))
    assert "patch " in words(page[page.index("What this event changed") :])
    pages = of_file(events)
    for one in events:
        raw = pages.text(path(events, f"/event/{one.version}?raw=1"))
        assert shown_payload(raw).encode() == one.data
        found = pages.get(path(events, f"/event/{one.version}/bytes"))
        assert found.content == one.data
        assert found.headers["content-disposition"].startswith("attachment")
    found = of_file(events).fill(path(events, "/replay"), mode="strict")
    assert "identical" in words(found.text)


def test_at_every_event_the_session_stands_as_then_and_only_it_is_marked(of_file: OpenFile) -> None:
    events = golden("a_model_leads")[0]
    pages = of_file(events)
    standing = []
    for one in events:
        page = pages.text(path(events, f"?at={one.version}"))
        assert f"<b>{one.version}</b> of {len(events)}" in page
        assert one.hash.hex() in page
        assert "holds from event 1 to here" in page
        stood = page[page.index('id="stood"') :]
        standing.append(words(stood[stood.index('<span class="badge') :])[:14])
    assert standing[1].startswith("waiting")
    assert standing[-1].startswith("accepted")
    first, last = (pages.text(path(events, f"?at={n}")) for n in (1, len(events)))
    assert "Redis" not in words(first[first.index('id="stood"') :])
    assert "Type: Redis" in words(last[last.index('id="stood"') :])
    pages = of_file(events)
    for n in (*range(1, len(events) + 1), *range(len(events), 0, -1)):
        page = pages.text(path(events, f"?at={n}"))
        (row,) = re.findall(r'<tr class="here"><td class="num">(\d+)<', page)
        (mark,) = re.findall(r'<a href="\?at=(\d+)" tabindex="-1" [^>]* here">', page)
        assert int(row) == int(mark) == n
        assert page.count("<tr><td") == len(events) - 1
        assert page.count('class="cursor"') == page.count('aria-current="step"') == 1
        rest = re.sub(r'<line class="cursor"[^>]*>\n?| class="here"| here(?=")', "", page)
        rest = rest.replace(' aria-current="step"', "")
        marks = rest[rest.index('<svg width="') : rest.index("</figure>")]
        rows = rest[rest.index("<tbody>\n<tr><td") : rest.index("</tbody>")]
        if n == 1:
            unmarked = marks, rows
        assert (marks, rows) == unmarked


def test_each_step_says_that_only_a_file_has_the_session(shop: Project, opened: Open) -> None:
    id_ = shop.decided("Keep orders safe")["session_id"]
    shop.log.unlink()
    pages = opened()
    for _ in range(2):
        assert "has this session" in pages.text(f"/sessions/{id_}?at=1")


def test_a_question_stands_where_it_was_open_an_undecided_input_too(of_file: OpenFile) -> None:
    events = golden("two_phases_without_a_keyword")[0]
    pages = of_file(events)
    asked = [one.version for one in events if one.type.endswith("question_asked.v1")]
    assert "Open question" in pages.text(path(events, f"?at={asked[0]}"))
    assert "Open question" not in pages.text(path(events, "?at=1"))
    assert "Open question" not in pages.text(path(events))
    pages = of_file(events)
    for more in ("/event/0", "/event/99", "/event/99/bytes", "/event/x", f"/event/{'9' * 5_000}"):
        assert pages.get(path(events, more)).status_code == 404
    answered = next(one.version for one in events if one.type.endswith("answers_given.v1"))
    page = words(of_file(events).text(path(events, f"?at={answered}")))
    assert "Recorded, and not decided yet" in page
    assert "faulted" not in page
    answered = next(one.version for one in events if one.type.endswith("answers_given.v1"))
    page = words(of_file(events[:answered]).text(path(events)))
    assert "faulted" in page
    assert "Recorded, and not decided yet" not in page


@each("at", ["0", "-1", "x", "99999", "1e3", "\u0663", ""])
def test_an_address_of_no_event_shows_the_nearest_or_last(of_file: OpenFile, at: str) -> None:
    events = golden("two_phases_without_a_keyword")[0]
    version = 1 if at == "0" else len(events)
    page = of_file(events).text(path(events, f"?at={at}"))
    assert f"<b>{version}</b> of {len(events)}" in page


def test_what_a_session_cost_is_said_where_a_price_is_known(shop: Project, opened: Any) -> None:
    shop.call("start", "Keep orders safe", "--provider", "sim", "--seed", "7", "--json")
    assert " USD" not in words(opened().text("/sessions/last"))
    assert '<td class="num">?</td>' in opened().text("/sessions")
    prices = '[[prices]]\nprovider = "sim"\nmodel = "simllm/1"\nfrom = 2020-01-01\n'
    prices += 'input_per_million = 3.0\noutput_per_million = 15.0\ncurrency = "USD"\n'
    (shop.folder / "preflights.toml").write_text(prices)
    head, _, cards = words(opened().text("/sessions/last")).partition("What happened")
    assert " USD" in head
    assert " USD" in cards
    page = opened().text("/sessions")
    assert (" USD" in page, "?</td>" in page, "+ ?" in page) == (True, False, False)
    (shop.folder / "preflights.toml").write_text(prices.replace("simllm/1", "other"))
    assert "+ ?" not in opened().text("/sessions"), "of no cost at all"


def test_the_head_says_what_happened_and_why_a_session_is_faulted(of_file: OpenFile) -> None:
    events = golden("a_model_fails_and_the_rules_go_on")[0]
    page = words(of_file(events).text(path(events)))
    assert "The model was asked twice; both calls failed; the rules asked instead; " in page
    assert "2 calls, 2 s." in page
    cut = golden("two_phases_without_a_keyword")[0][:1]
    page = words(of_file(cut).text(path(cut)))
    page = html.unescape(page)
    assert "Event 1, intention declared by Ada Lovelace on 20" in page
    assert (
        ", has no Decision: clarification/1 failed at it, and the log keeps no error. Today's"
        in page
    )


def test_a_step_of_a_model_is_one_card_with_its_retries(of_file: OpenFile) -> None:
    events = golden("a_model_is_asked_once_more")[2]
    page = cards_of(of_file(events).text(path(events)))
    assert page.count("<article") == 2  # and the question that waits
    told = words(page)
    assert "simllm/1 was asked twice clarify.v1 Sent: 2 messages" in told
    assert told.count("Not used: the response is not valid JSON: it ends before") == 2
    assert page.count("characters, no JSON object</summary>") == 2, "folded, and named"
    assert "Asked again Sent: 2 new messages, behind 2 of the call before assistant new " in told
    assert "Your previous response was invalid JSON." in told
    assert "fell back" in told or "rules took over" in told
    events = golden("a_model_leads")[0]
    answered = cards_of(of_file(events).text(path(events)))
    assert "changed" in words(answered)
    assert "<ins>" in answered
    assert "{" not in words(answered[answered.index('class="answer"') :]).partition("Sent")[0]


def test_what_a_person_saw_is_shown_with_what_they_chose_and_accepted(of_file: OpenFile) -> None:
    events = golden("an_agent_writes_the_question")[0]
    written, question, *_, accepted = cards_of(of_file(events).text(path(events))).split(
        "<article"
    )[1:]
    assert "claude-code 2.1 wrote this" in words(written)
    assert "Sent" not in words(written)
    asked = words(question)
    assert "recommended by" in asked
    assert "against: " in asked
    assert len(re.findall(" checked>", question)) == 1
    (chosen,) = re.findall(r" checked>\n<span><b>([^<]*)</b>", question)
    assert chosen in asked.partition(" chosen")[0]
    assert re.search("Accepted .*chosen by a person", words(accepted))
    events = golden("missing_information_is_asked_and_answered", "compiler")[0]
    page = words(cards_of(of_file(events).text(path(events))))
    assert "Who may cancel an order? In own words: tbd Not taken: " in page
    assert "In own words: A clerk 14 " in page
    events = golden("a_person_rejects_a_plan", "compiler")[0]
    cards = cards_of(of_file(events).text(path(events)))
    assert "Rejected" in cards
    assert "sha256" not in cards
    assert cards.count("No model wrote this.") == 2, "as it was written, and as it was seen"
    events = golden("a_proposal_is_revised_before_a_person_accepts")[0]
    page = words(cards_of(of_file(events).text(path(events))))
    assert re.search("agent Proposed .* by an agent .coder.* person Accepted", page)


def test_a_session_of_rules_alone_shows_what_came_of_it_and_a_faulted_one_asks_nothing(
    of_file: OpenFile,
) -> None:
    events = golden("the_rules_rewrite_a_question", "recall")[0]
    page = words(cards_of(of_file(events).text(path(events))))
    assert "What came of it question what do we use for login? queries" in page
    events = golden("two_phases_without_a_keyword")[0]
    answered = next(one.version for one in events if one.type.endswith("answers_given.v1"))
    assert "Waits for an answer" not in of_file(events[:answered]).text(path(events))


def test_a_conversation_of_another_program_is_read_without_its_json(of_file: OpenFile) -> None:
    events = golden("a_conversation_of_each_dialect", "calls")[0]
    page = words(cards_of(of_file(events).text(path(events))))
    assert (
        "gpt-4o call 1, openai, 2026-09-21 14:13 UTC Sent: 1 message user Where is my parcel?"
        in page
    )
    assert "Sent: 2 new messages, behind 1 of the call before assistant new Tomorrow." in page
    assert "Not used: status 529; no answer; overloaded" in page
    assert "Not whole: cut off" in page


def cards_of(page: str) -> str:
    return page[page.index('<section class="cards"') : page.index('<div class="inspector">')]


# 3. The chain --------------------------------------------------------------------------------


def test_a_chain_holds_up_to_the_event_that_was_changed(of_file: OpenFile) -> None:
    events = list(golden("a_model_leads")[0])
    events[4] = replace(events[4], data=(events[4].data or b"").replace(b":", b": ", 1))
    pages = of_file(events)
    before = words(pages.text(path(events, "?at=4")))
    assert "holds from event 1 to here" in before
    assert "damaged at event 5" in before
    assert "waiting" in before or "needs answers" in before
    behind = pages.text(path(events, "?at=9"))
    assert "does not hold to here" in behind
    assert "its payload was changed" in words(behind[behind.index('id="stood"') :])
    assert "does not hold to here" in pages.text(path(events, "/event/5"))


def test_an_erased_session_says_who_did_what_without_texts(shop: Project, pages: Pages) -> None:
    id_ = shop.decided("Keep orders safe for Zanzibar")["session_id"]
    whole = pages.text(f"/sessions/{id_}")
    assert "Zanzibar" in whole
    done = shop.call("admin", "erase", id_, "--yes", "--as", "user:Ada")
    assert done.code == 0, done.err
    page = pages.text(f"/sessions/{id_}?at=1")
    assert "Zanzibar" not in page
    assert "It was erased." in page
    assert re.search(r"A script \(Ada\) erased it on \d{4}-\d\d-\d\d\.", words(page))
    assert "Its texts were erased." in page
    assert "its payloads were erased" in page
    assert "holds from event 1 to here" in page
    assert "Zanzibar" not in pages.text(f"/sessions/{id_}")
    last = shop.show(id_)["version"]
    for at in (last - 1, last):
        page = words(pages.text(f"/sessions/{id_}?at={at}"))
        assert not {one for one in ("needs_answers", "needs answers", "missing") if one in page}


def test_what_a_damaged_database_holds_for_bytes_is_shown(shop: Project, pages: Pages) -> None:
    id_ = shop.decided("Keep orders safe")["session_id"]
    with closing(sqlite3.connect(shop.log)) as log, log:
        log.execute("DROP TRIGGER events_are_immutable")
        log.execute("UPDATE events SET hash = 'text', salt = 5, digest = 7 WHERE version = 3")
    for path_ in ("?at=3", "?at=4", "/event/3"):
        page = words(pages.text(f"/sessions/{id_}{path_}"))
        assert "does not hold to here" in page
        assert "&#x27;text&#x27;: no bytes" in page


def test_a_session_leads_to_its_decision_once_it_has_one(shop: Project, pages: Pages) -> None:
    decided = shop.decided("Keep orders safe")["session_id"]
    assert f'href="/decisions/{decided}"' in pages.text(f"/sessions/{decided}")
    asked = shop.started_session("Choose a feature flag service")
    assert 'href="/decisions/' not in pages.text(f"/sessions/{asked}")


# 4. Payloads ---------------------------------------------------------------------------------


def shown_payload(page: str) -> str:
    found = re.search(r'class="whole"[^>]*><code>(.*?)</code></pre>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.slow("sizes")
def test_a_large_payload_comes_in_parts(of_file: OpenFile) -> None:
    events = list(golden("a_model_leads")[0])
    text = '\\"<&\u202e' * 300_000
    events[0] = replace(events[0], data=f'{{"at":1,"text":"{text}"}}'.encode())
    events = list(resealed(events))
    pages = of_file(events)
    said, number = "", 1
    while True:
        page = pages.text(path(events, f"/event/1?raw=1&page={number}"))
        assert len(page.encode()) < PAGE_MAX
        said += shown_payload(page)
        if 'rel="next"' not in page:
            break
        number += 1
    assert number > 5
    assert said.replace("\\u202e", "\u202e").encode() == events[0].data
    assert pages.get(path(events, "/event/1/bytes")).content == events[0].data
    timeline = pages.text(path(events, "?at=1"))
    assert len(timeline.encode()) < 100_000


def test_a_payload_that_is_no_json_is_shown_all_the_same(of_file: OpenFile) -> None:
    events = golden("a_model_leads")[0]
    content = b'"\\u0000' + b"[" * 300 + b"]" * 300
    odd = resealed([replace(events[0], data=b'"a"'), *events[1:]])
    changed = [replace(odd[0], data=content[:7]), *odd[1:]]
    assert sessions._pretty(changed[0], sessions._stored_payload_text(changed[0])) == '"\\u0000'


# 5. Hostile words ----------------------------------------------------------------------------


class Marks(HTMLParser):
    """What a browser makes of a page: its elements, and addresses that they name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src", "action"):
                self.addresses.add(value or "")


EVIL: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='x",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x07",
    "\u202eltr\u2066",
    "javascript:alert(1)",
    *HOSTILE,
)


@pytest.mark.slow("whole runs")
@each("word", EVIL)
def test_hostile_words_stand_as_text_in_pages_of_a_session(of_file: OpenFile, word: str) -> None:
    events = golden("a_model_leads")[0]
    kept = {"user", "script", "agent", "system", "assistant", "adr", "task"}
    evil = resealed(told(events, lambda text: text if text in kept else f"{text}{word}"))
    evil = tuple(replace(one, decider=f"{one.decider}{word}"[:200]) for one in evil)
    evil = resealed(replace(one, project=word.replace("\0", "")[:100] or "x") for one in evil)
    pages = of_file(evil)
    plain = Marks(of_file(events).text(path(events)))
    for more in ("", "?at=1", "?at=3", "/event/1", "/event/3?raw=1", "/replay"):
        page = pages.text(path(evil, more))
        assert not RAW & set(page) - {"\n"}
        marks = Marks(page)
        assert marks.names <= plain.names | {"form", "button", "input", "h4", "label", "li", "ul"}
        assert not {name for name in marks.attributes if name.startswith("on")}
        assert "style" not in marks.attributes
        assert all(one.startswith(("/", "?", "#")) for one in marks.addresses), marks.addresses
    listed = pages.text("/sessions")
    assert not RAW & set(listed)
    assert "49" not in words(listed) or "7 * 7" not in word


# 6. Replay -----------------------------------------------------------------------------------


def test_two_sessions_stand_side_by_side_as_they_differ(shop: Project, pages: Pages) -> None:
    first = shop.call("start", "Add login <b>", "--json").json["session_id"]
    second = shop.call("start", "Add login <i>", "--json").json["session_id"]
    note = shop.call("note", "milk", "--json").json["session_id"]
    assert f'href="/diff/{first}"' in pages.text(f"/sessions/{first}")
    choice = pages.text(f"/diff/{first}")
    assert (f"/diff/{first}/{second}" in choice, note in choice) == (True, False)
    third = shop.call("start", "Add login", "--json").json["session_id"]
    assert shop.call("admin", "erase", third, "--yes", "--as", "user:Ada").code == 0
    choice = pages.text(f"/diff/{first}")
    assert 0 < choice.index(f"/diff/{first}/{second}") < choice.index(f"/diff/{first}/{third}")
    page = pages.text(f"/diff/{first}?with={second[-8:]}")
    assert page.count("first difference") == 1
    assert "<title>Add login &lt;b&gt; and Add login &lt;i&gt;" in page
    assert "Add login &lt;<del>b</del>&gt;" in page
    assert "Add login &lt;<ins>i</ins>&gt;" in page
    assert f"preflights diff {first[-8:]} {second[-8:]}" in page
    found = pages.get(f"/diff/{first}/{note}")
    assert (found.status_code, "two workflows" in found.text) == (409, True)
    assert pages.get(f"/diff/{first}/00000000").status_code == 404


def test_the_first_difference_is_marked_and_its_cause_named(of_file: OpenFile) -> None:
    events = list(golden("a_model_leads")[0])
    asked = next(n for n, one in enumerate(events) if one.type == "completion.requested.v1")
    data = (events[asked].data or b"").replace(b'"content":"', b'"content":"Be brief. ', 1)
    events[asked] = replace(events[asked], data=data)
    changed = resealed(events)
    for mode in ("strict", "drift"):
        page = of_file(changed).fill(path(changed, "/replay"), mode=mode).text
        assert page.count("first difference") == 1
        if mode == "strict":
            assert "<del>Be brief. </del>" in page
            assert "messages changed" in page or "Cause:" in page
            assert "diverged" in words(page)


def test_a_replay_needs_a_token_and_says_what_is_the_same(shop: Project, pages: Pages) -> None:
    id_ = shop.decided()["session_id"]
    post = f"/sessions/{id_}/replay"
    without = pages.post(post, data={"mode": "strict"}, headers={"origin": ADDRESS})
    assert without.status_code == 403
    elsewhere = {"mode": "strict", "form_token": KEYS.form}
    assert pages.post(post, data=elsewhere, headers={"origin": "http://x"}).status_code == 403
    before = shop.events(id_)
    assert "nothing is recorded" in words(pages.text(f"/sessions/{id_}/replay"))
    for mode in ("strict", "drift"):
        page = pages.fill(f"/sessions/{id_}/replay", mode=mode)
        assert page.status_code == 200
        assert "identical" in words(page.text)
        assert "Every decision is the same." in page.text
    assert shop.events(id_) == before
    assert len(shop.call("sessions", "--json").json["sessions"]) == 1


@each(
    ("recorded", "computed", "expected"),
    [
        ("abc", "abd", (("ab", "c", ""), ("ab", "d", ""))),
        ("abc", "abbc", (("ab", "", "c"), ("ab", "b", "c"))),
        ("aa", "a", (("a", "a", ""), ("a", "", ""))),
        ("", "a", (("", "", ""), ("", "a", ""))),
        ([1], [1, 2], (("- 1", "", ""), ("- 1", "\n- 2", ""))),
    ],
)
def test_sides_differ_in_their_middle_alone(recorded: Any, computed: Any, expected: Any) -> None:
    found = sides(recorded, computed)
    assert tuple((one.same, one.differs, one.behind) for one in found) == expected


def test_answers_in_json_are_compared_as_they_are_read() -> None:
    one, other = sides('{"kind":"ask","why":"","to":1}', '{"kind": "ask", "to": 2}')
    assert (one.same, one.differs, other.differs) == ("kind: ask\nto: ", "1", "2")
    one, other = sides('{"to":1}', '{"to": 1}')
    assert (one.differs, other.differs) == ("", " ")


def test_lines_that_both_sides_have_between_differences_are_not_marked() -> None:
    found = sides("for 4\nsame\nsame\nend 4.", "for 3\nsame\nsame\nend 3.")
    assert [one.parts for one in found] == [
        (("4\n", True), ("same\nsame\n", False), ("end 4", True)),
        (("3\n", True), ("same\nsame\n", False), ("end 3", True)),
    ]
    lines = "".join(f"{n}\n" for n in range(90))
    found = sides(f"a\n{lines}b", f"c\n{lines}d")
    folded = "0\n1\n2\n… 84 lines are the same …\n87\n88\n89\n"
    assert [one.parts[1] for one in found] == [(folded, False), (folded, False)]


# 7. Sizes ------------------------------------------------------------------------------------


def test_parts_of_a_long_session_lead_to_each_other(of_file: OpenFile) -> None:
    events = recorded(2 * PART + 10)
    events = resealed(replace(one, session_id=SESSION) for one in events)
    pages = of_file(events)
    page = pages.text(path(events, f"?at={PART + 1}"))
    assert page.count('class="mark ') == PART
    assert f'href="?at={PART}">Earlier part' in page
    assert f'href="?at={2 * PART + 1}">Later part' in page
    assert 'type="range" name="at" min="1" max="410" value="201"' in page
    assert page.count("<article") == CARDS
    assert "more cards before and after" in page


def test_events_of_a_kind_alone_are_shown_of_a_long_session(of_file: OpenFile) -> None:
    events = recorded(PART + 10)
    events = resealed(replace(one, session_id=SESSION) for one in events)
    pages = of_file(events)
    page = pages.text(path(events, "?only=person&at=100"))
    assert {*re.findall(r'<td><span class="lane c-(\w+)">', page)} == {"person"}
    shown = [int(one) for one in re.findall(r'<td class="num">(\d+)</td>', page)]
    at = next(one for one in shown if one >= 100)
    assert f"<b>{at}</b> of {len(events)}" in page
    later = shown[shown.index(at) + 1]
    assert f'rel="next" href="?only=person&amp;at={later}"' in page
    assert "No event is of this kind." in pages.text(path(events, "?only=model"))
    assert pages.text(path(events, "?only=x")).count('class="mark ') == len(events) - PART


SESSION: Final = "01900000-0000-7000-8000-00000000abcd"


@pytest.mark.slow("sizes")
def test_a_page_that_no_browser_likes_names_the_command_instead(of_file: OpenFile) -> None:
    (events, *_) = [one for one in golden("a_model_leads") if one]
    large = told(events, lambda text: f"{text}{'&' * 200_000}" if " " in text else text)
    pages = of_file(resealed(large))
    found = pages.get(path(events).replace("sessions", "decisions"))
    assert (found.status_code, len(found.content) < PAGE_MAX) == (500, True)
    assert "this page would have" in words(found.text)
    assert "`preflights why " in words(found.text)
    for more in ("", "?at=1", "/event/1"):
        assert len(pages.text(path(events, more)).encode()) < PAGE_MAX, more


# 8. Reports ----------------------------------------------------------------------------------


def test_a_regression_report_is_shown_under_its_own_policy(shop: Project, pages: Pages) -> None:
    shop.decided()
    done = shop.call("regress", "--report", "html=report.html")
    assert done.code == 0, done.err
    (shop.folder / "other.html").write_text("<script>alert(1)</script>")
    page = pages.text("/sessions")
    assert 'href="/reports/report.html"' in page
    assert "other.html" not in page
    found = pages.get("/reports/report.html")
    assert found.content == (shop.folder / "report.html").read_bytes()
    (policy,) = found.headers.get_list("content-security-policy")
    assert "'unsafe-inline'" not in policy
    assert "default-src 'none'" in policy
    for other in ("other.html", "../report.html", "%2e%2e/report.html", "/etc/passwd", "x"):
        assert pages.get(f"/reports/{other}").status_code == 404


def test_a_link_is_no_report(shop: Project, pages: Pages, tmp_path: Path) -> None:
    shop.decided()
    shop.call("regress", "--report", f"html={tmp_path / 'report.html'}")
    (shop.folder / "report.html").symlink_to(tmp_path / "report.html")
    assert "Regression reports" not in pages.text("/sessions")
    assert pages.get("/reports/report.html").status_code == 404


def test_an_answer_that_an_agent_wrote_is_of_no_unknown_model(shop: Project, pages: Pages) -> None:
    own = ("--question", "Which queue?", "--option", "Kafka", "--option", "NATS", "--json")
    for who, name in (("agent:Claude", "Claude"), ("script:ci", "")):
        found = shop.call("start", "Choose a queue", *own, "--as", who).json
        page = words(pages.text(f"/sessions/{found['session_id']}"))
        assert f"agent answered agent {name}".rstrip() in page
        assert "model unknown" not in page
