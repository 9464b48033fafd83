"""What waits is settled by forms: answered, revised, given reasons, accepted, declined."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from msgspec.structs import replace

import preflights_es
from preflights_es.features.clarification.use import file_task
from preflights_es.kernel.errors import Refused, SessionMoved
from preflights_es.kernel.ports import Access
from preflights_es.use import sessions as use
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.inbox import LISTED
from preflights_es.words.decisions import StatedReasons
from tests.cli.program import Project
from tests.each import each
from tests.projections.recording import golden
from tests.surfaces.view.conftest import ADDRESS, KEYS, Open, Pages, words
from tests.surfaces.view.given_sessions import filed, resealed


def begun(shop: Project, *args: str) -> str:
    """The id of a new session."""
    return str(shop.call("start", *args, "--json", "--as", "user:Ada").json["session_id"])


def ready(shop: Project, intention: str = "Use Redis for sessions") -> str:
    """A session whose proposal waits."""
    found = shop.call("start", intention, "--json", "--as", "user:Ada").json
    assert found["status"] == "ready", found
    return str(found["session_id"])


def version(shop: Project, session: str) -> str:
    """At which it stands."""
    return str(shown(shop, session)["version"])


def shown(shop: Project, session: str) -> Any:
    """As a terminal shows it."""
    return shop.call("show", session, "--json").json


def test_a_question_is_answered_and_the_proposal_accepted(shop: Project, pages: Pages) -> None:
    session = begun(shop, "Choose a feature flag service")
    page = pages.text(f"/inbox/{session}")
    assert "In your own words" in page
    assert "Other (specify)" not in page
    at, key = version(shop, session), re.search(r'name="key" value="([^"]*)"', page)
    assert key
    said = pages.fill(f"/inbox/{session}/answer", version=at, key=key[1], choice="A flag service")
    assert f'action="/inbox/{session}/accept"' in said.text
    done = pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    assert (done.status_code, str(done.url)) == (200, f"{ADDRESS}/decisions/{session}")
    assert "accepted" in words(done.text)
    assert shown(shop, session)["status"] == "accepted"


def test_of_more_than_fifty_no_page_says_that_it_lists_all(shop: Project, pages: Pages) -> None:
    with preflights_es.open(shop.folder) as log:
        for number in range(LISTED + 1):
            log.start(f"Choose a feature flag service for {number}")
    assert f"At least {LISTED} sessions wait for a person." in words(pages.text("/inbox"))
    found = words(pages.text("/sessions?with=waits"))
    assert f"{LISTED} sessions , newest first. 1 older session may wait, too." in found


@each("page", ["/inbox", "/sessions"])
def test_a_heading_goes_its_own_way(shop: Project, pages: Pages, page: str) -> None:
    session = begun(shop, "إضافة تسجيل الدخول")
    assert "<h1><bdi>إضافة تسجيل الدخول</bdi></h1>" in pages.text(f"{page}/{session}")


def test_a_word_is_recorded_as_of_a_browser_and_shown(shop: Project, pages: Pages) -> None:
    session = ready(shop)
    done = pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    found = shown(shop, session)
    assert found["evidence"] == {"variables": [], "terminal": False, "client": "", "way": "browser"}
    assert found["acknowledged_by"]["kind"] == "user"
    assert "browser, unsigned" in words(done.text)
    trail = ("audit", "trail", "--session", session)
    told = [shop.call(*words).out for words in (("show", session), ("why", session), trail)]
    assert "(browser, unsigned)" in told[0]
    assert "seen: browser, unsigned" in told[1]
    assert "(browser, unsigned)" in told[2]
    assert shop.call("replay", session).code == 0


def test_what_was_accepted_elsewhere_says_nothing_of_a_browser(shop: Project) -> None:
    session = ready(shop)
    shop.call("accept", session, "--by", "Ada")
    assert "way" not in shown(shop, session)["evidence"]
    assert "browser" not in shop.call("audit", "trail", "--session", session).out


def test_an_answer_needs_a_word_own_words_win_over_a_choice(shop: Project, pages: Pages) -> None:
    session = begun(shop, "Choose a feature flag service")
    asked = shown(shop, session)["questions"][0]["id"]
    found = pages.fill(f"/inbox/{session}/answer", version=version(shop, session), key=asked)
    assert (found.status_code, "Not taken" in words(found.text)) == (409, True)
    assert shown(shop, session)["status"] == "needs_answers"
    asked = shown(shop, session)["questions"][0]
    form = {"version": version(shop, session), "key": asked["id"], "own": "A file in the bucket"}
    pages.fill(f"/inbox/{session}/answer", **form, choice=asked["options"][0])
    assert "A file in the bucket" in str(shown(shop, session)["patch"])


def test_a_form_that_does_not_fit_records_nothing_and_answers_and_reasons_are_edited(
    shop: Project, pages: Pages
) -> None:
    session = ready(shop)
    found = pages.fill(f"/inbox/{session}/reasons", version=version(shop, session), paths="../x")
    assert found.status_code == 409
    assert shown(shop, session)["paths"] == []
    for said in ("", "-1", "1e3", "9" * 40, "\u0665"):
        assert pages.fill(f"/inbox/{session}/accept", version=said).status_code == 409
    assert shown(shop, session)["status"] == "ready"
    shop.call("start", "Use Redis for sessions", "--json")
    assert pages.get("/inbox/nope-nope").status_code == 404
    assert pages.get(f"/inbox/{session}").status_code == 200
    assert KEYS.token not in pages.text(f"/inbox/{session}")
    key = next(p["key"] for p in shown(shop, session)["provenance"] if p["field"] != "Category")
    form = {"version": version(shop, session), "key": key}
    pages.fill(f"/inbox/{session}/revise", **form, own="Memcached")
    assert "Memcached" in str(shown(shop, session)["patch"])
    form = {
        "because": "Logins survive a deploy",
        "consequences": "One more server\nIt needs a backup",
        "alternatives": "Cookies: too large\nFiles",
        "scope": "the shop",
        "paths": "src/sessions/**",
        "hold": "ask",
    }
    pages.fill(f"/inbox/{session}/reasons", version=version(shop, session), **form)
    found = shown(shop, session)
    assert found["because"] == {"text": form["because"], "by": "user"}
    assert [one["text"] for one in found["consequences"]] == [
        "One more server",
        "It needs a backup",
    ]
    others = [(one["name"], one["why_not"]) for one in found["alternatives"]]
    assert others == [("Cookies", "too large"), ("Files", "")]
    assert (found["scope"], found["paths"], found["hold"]) == (
        "the shop",
        ["src/sessions/**"],
        "ask",
    )
    page = pages.text(f"/inbox/{session}")
    again = {**form, "because": "", "consequences": "", "scope": ""}
    assert "It needs a backup" in page
    pages.fill(f"/inbox/{session}/reasons", version=version(shop, session), **again)
    found = shown(shop, session)
    assert (found["because"], found["consequences"], found["scope"]) == (None, [], "")


def test_a_session_is_declined_with_a_reason(shop: Project, pages: Pages) -> None:
    session = ready(shop)
    form = {"version": version(shop, session), "reason": "The vendor is gone"}
    found = pages.fill(f"/inbox/{session}/decline", **form)
    assert (str(found.url), "Nothing waits." in words(found.text)) == (f"{ADDRESS}/inbox", True)
    assert shown(shop, session)["status"] == "abandoned"
    page = pages.text(f"/inbox/{session}")
    assert ("What would have been decided" in page, "What was decided" in page) == (True, False)
    assert "proposed" not in words(page)


def test_a_session_whose_last_input_is_not_decided_says_so(shop: Project, pages: Pages) -> None:
    events = [replace(one, project="shop") for one in golden("two_phases_without_a_keyword")[0]]
    answered = next(one.version for one in events if one.type.endswith("answers_given.v1"))
    file = filed(shop.folder / "session.jsonl", resealed(events[:answered]))
    assert shop.call("admin", "import", str(file)).code == 0
    page = words(pages.text(f"/inbox/{events[0].session_id}"))
    id_ = events[0].session_id[-8:]
    assert f"was not decided. See why with preflights replay {id_}" in page


def test_what_decides_nothing_is_accepted_as_a_task(shop: Project, pages: Pages) -> None:
    session = begun(shop, "Choose a feature flag service")
    program = opened_process(shop.folder, who="user:Ada")
    file_task(program.request(), session)
    program.process.close()
    found = pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    assert (found.status_code, str(found.url)) == (200, f"{ADDRESS}/inbox/{session}")
    assert shown(shop, session)["status"] == "accepted"


@pytest.mark.parametrize(
    ("choice", "status"), [("supersedes", "superseded"), ("keeps", "accepted")]
)
def test_a_decision_that_differs_is_chosen_about(
    shop: Project, pages: Pages, choice: str, status: str
) -> None:
    old = ready(shop, "Use Redis for caching")
    shop.call("accept", old, "--by", "Ada")
    new = ready(shop, "Use Memcached for caching")
    page = pages.fill(f"/inbox/{new}/accept", version=version(shop, new))
    assert "Nothing is accepted yet" in words(page.text)
    assert shown(shop, new)["status"] == "ready"
    uid = shown(shop, old)["uid"]
    assert f'name="about.{uid}"' in page.text
    form = {f"about.{uid}": choice, f"reason.{uid}": "The old app stays on it"}
    pages.fill(f"/inbox/{new}/accept", version=version(shop, new), **form)
    assert (shown(shop, new)["status"], shown(shop, old)["status"]) == ("accepted", status)


def test_an_older_form_records_nothing_and_shows_how_it_stands(shop: Project, pages: Pages) -> None:
    session = ready(shop)
    before = version(shop, session)
    shop.call("answer", session, "--because", "Logins survive", "--as", "user:Ada")
    now = version(shop, session)
    assert now != before
    for what in ("accept", "reasons", "decline"):
        found = pages.fill(f"/inbox/{session}/{what}", version=before)
        assert (found.status_code, "Nothing was recorded." in words(found.text)) == (409, True)
        assert "Logins survive" in found.text
    assert version(shop, session) == now


@pytest.mark.slow("crowds")
def test_of_two_browsers_and_a_terminal_one_accepts(shop: Project, opened: Open) -> None:
    for intention in (
        "Use Redis for caching",
        "Use Stripe for payments",
        "Use SQLite for the orders",
    ):
        session = ready(shop, intention)
        at = version(shop, session)
        first, second = opened(), opened()

        def by_page(pages: Pages, session: str = session, at: str = at) -> Any:
            return pages.fill(f"/inbox/{session}/accept", version=at)

        def by_terminal(session: str = session, at: str = at) -> Any:
            return shop.run("accept", session, "--by", "Grace", "--expect", at)

        with ThreadPoolExecutor(3) as pool:
            pending = [pool.submit(by_page, first), pool.submit(by_page, second)]
            told = pool.submit(by_terminal).result()
            answers = [one.result() for one in pending]
        won = [one for one in answers if "/decisions/" in str(one.url)]
        lost = [one for one in answers if one not in won]
        assert len(won) + (told.code == 0) == 1, (told, [one.text for one in answers])
        assert all(one.status_code == 409 and "was first" in words(one.text) for one in lost)
        assert told.code == 0 or "is at version" in told.err
        stored = shop.call("log", session, "--json").out
        assert stored.count("decision_acknowledged") == 1


def test_of_forms_that_were_shown_the_same_one_is_recorded(shop: Project, opened: Open) -> None:
    browsers = [opened() for _ in range(4)]
    session = begun(shop, "Choose a feature flag service")
    question = shown(shop, session)["questions"][0]["id"]
    for name, field, tag in (
        ("answer", "own", "clarification.answers_given"),
        ("revise", "own", "clarification.answers_revised"),
        ("reasons", "because", "clarification.rationale_given"),
        ("decline", "reason", "session.abandoned"),
    ):
        common = {"version": version(shop, session), "key": question}
        forms = [{**common, field: f"Words {n}"} for n in range(len(browsers))]
        with ThreadPoolExecutor(len(browsers)) as pool:
            paths = [f"/inbox/{session}/{name}"] * len(browsers)
            found = list(
                pool.map(lambda pages, at, form: pages.fill(at, **form), browsers, paths, forms)
            )
        assert sorted(one.status_code for one in found) == [200, 409, 409, 409], name
        assert shop.call("log", session, "--json").out.count(f'"{tag}.v') == 1


def test_nothing_is_recorded_behind_what_was_shown(shop: Project) -> None:
    session = begun(shop, "Choose a feature flag service")
    before, program = shown(shop, session), opened_process(shop.folder, terminal=True)
    given, late = [(before["questions"][0]["id"], ("Flags",))], before["version"] - 1
    with closing(program.process):
        asks = program.request
        forms: list[Callable[[], object]] = [
            lambda: use.answer_session(asks(), session, given, expect=late),
            lambda: use.answer_session(
                asks(), session, [], reasons=StatedReasons("It is so"), expect=late
            ),
            lambda: file_task(asks(), session, expect=late),
            lambda: use.abandon(asks(), session, expect=late),
        ]
        for record in forms:
            with pytest.raises(SessionMoved):
                record()
    assert shown(shop, session) == before


def test_what_was_accepted_while_it_is_declined_stays_accepted(shop: Project) -> None:
    session = ready(shop)
    program = opened_process(shop.folder, terminal=True, access=Access.WRITE)
    with closing(program.process):
        at_work = program.request().sessions
        seen = at_work.load(session)
        assert shop.call("accept", session, "--by", "Grace").code == 0
        with pytest.raises(Refused, match="is accepted"):
            at_work.abandon(seen)
    assert shown(shop, session)["status"] == "accepted"


def test_read_only_pages_have_no_form_and_take_none(shop: Project, opened: Open) -> None:
    session = ready(shop)
    pages = opened(read_only="it was started with --read-only")
    page = pages.text(f"/inbox/{session}")
    assert "<form" not in page
    assert f"preflights accept {session[-8:]}" in page
    found = pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    assert (found.status_code, "read-only" in found.text) == (403, True)
    assert shown(shop, session)["status"] == "ready"


def test_what_waits_elsewhere_or_in_a_file_has_no_dead_link(shop: Project, opened: Open) -> None:
    session = ready(shop)
    other = shop.folder.parent / "bakery"
    other.mkdir()
    page = opened(other, database=f"sqlite:///{shop.log}").text(f"/decisions/{session}")
    assert "It waits for a person in the project shop." in words(page)
    assert f'href="/inbox/{session}' not in page

    folder = shop.folder / "docs" / "decisions" / ".sessions"
    folder.mkdir(parents=True)
    shop.call("admin", "export", session, "-o", str(folder / f"{session[-12:]}.jsonl"))
    shop.log.unlink()
    pages = opened()
    assert f'href="/inbox/{session}' not in pages.text("/inbox") + pages.text(
        f"/decisions/{session}"
    )
    assert f'class="title" href="/sessions/{session}"' in pages.text("/inbox")
    assert "Use Redis for sessions" in pages.text(f"/sessions/{session}")


def test_a_decision_in_force_is_kept_instead(shop: Project, pages: Pages) -> None:
    old = ready(shop, "Use Redis for caching")
    shop.call("accept", old, "--by", "Ada")
    session = begun(shop, "Choose a cache")
    known = shown(shop, session)["known"]
    page = pages.text(f"/inbox/{session}")
    assert f'action="/inbox/{session}/keep"' in page
    assert known[0]["line"] in words(page)
    at = version(shop, session)
    for typed in ("", "2", "x"):
        found = pages.fill(f"/inbox/{session}/keep", version=at, known=typed)
        assert (found.status_code, "Nothing was recorded." in words(found.text)) == (409, True)
    replaced = pages.fill(f"/inbox/{session}/replace", version=at, known="1")
    assert "Replaces ADR-0001" in words(replaced.text)
    assert shown(shop, session)["supersedes"]["uid"] == known[0]["uid"]
    at = version(shop, session)
    done = pages.fill(f"/inbox/{session}/keep", version=at, known="1")
    assert (done.status_code, str(done.url)) == (200, f"{ADDRESS}/inbox/{session}")
    assert ("Kept instead: ADR-0001" in words(done.text), "<button" in done.text) == (True, False)
    assert shown(shop, session)["keeps"]["uid"] == known[0]["uid"]
    assert [one["session_id"] for one in shop.call("decisions", "--json").json["decisions"]] == [
        old
    ]


@each(
    ("form", "button", "status"),
    [("task", "It is a task", "stopped"), ("not-this", "Not about this", "needs_answers")],
)
def test_a_question_is_answered_without_a_value(
    shop: Project, pages: Pages, form: str, button: str, status: str
) -> None:
    session = begun(shop, "Choose a feature flag service")
    assert button in words(pages.text(f"/inbox/{session}"))
    done = pages.fill(f"/inbox/{session}/{form}", version=version(shop, session))
    found = shown(shop, session)
    assert (done.status_code, found["status"], found["patch"]) == (200, status, None)
    assert (f"/inbox/{session}/accept" in done.text) == (form == "task")
    again = pages.fill(f"/inbox/{session}/{form}", version=version(shop, session))
    assert again.status_code == 409


def test_accepting_what_is_in_force_already_keeps_that(shop: Project, pages: Pages) -> None:
    old = ready(shop, "Use Redis for caching")
    shop.call("accept", old, "--by", "Ada")
    session = ready(shop, "Use Redis for caching")
    assert f'action="/inbox/{session}/keep"' in pages.text(f"/inbox/{session}")
    done = pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    assert (done.status_code, str(done.url)) == (200, f"{ADDRESS}/inbox/{session}")
    assert "Kept instead: ADR-0001" in words(done.text)
    assert len(shop.call("decisions", "--json").json["decisions"]) == 1


def test_a_plan_is_read_and_decided(shop: Project, pages: Pages) -> None:
    assert shop.call("init", "--plans").code == 0
    requirements = shop.folder / ".preflights" / "requirements.md"
    requirements.write_text(f"{requirements.read_text()}\nCustomers pay by invoice.\n")
    shop.call("plan", "project")
    plan = shop.newest()
    page = words(pages.text(f"/inbox/{plan}"))
    assert "What would be approved domains name Stub responsibility No model wrote this." in page
    assert "Approve as " in page
    done = pages.fill(f"/inbox/{plan}/accept", version=version(shop, plan))
    assert "accepted" in words(done.text)
    assert shown(shop, plan)["artifact"]["standing"] == "approved"
    assert [*(shop.folder / ".preflights" / "artifacts").glob("ProjectPlan-*.json")]
    shop.call("plan", "project")
    other = shop.newest()
    pages.fill(f"/inbox/{other}/decline", version=version(shop, other), reason="too small")
    assert shown(shop, other)["status"] == "abandoned"
