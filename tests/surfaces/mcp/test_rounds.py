"""Asking the person through the client: accepted, declined, cancelled, forgotten, killed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from preflights_es.surfaces.mcp_server import server, threads
from tests.cli.program import Project
from tests.each import each
from tests.surfaces.mcp.clients import ERAS, NAME, Form, opened, person, talk, talked, told

START = {"intention": "Add login"}
FORM = f"{NAME} (form)"


def inputs(shop: Project) -> list[Any]:
    """The Inputs of the last session but the document's."""
    events = [one for one in shop.events() if one["input_id"]]
    return [one for one in events if "artifact" not in one["type"]]


@pytest.mark.parametrize("era", ERAS)
def test_a_form_brings_the_persons_answer_relayed_by_the_client(shop: Project, era: str) -> None:
    forms: list[Form] = []

    async def flow(client: Client) -> None:
        ready = await told(client, "start_decision", **START)
        assert (ready["status"], ready["decided"]) == ("ready", {"Strategy": "OAuth"})
        assert (await told(client, "accept", session=ready["session"]))["status"] == "proposed"

    talk(shop.folder, flow, era, person("OAuth", seen=forms))
    (form,) = forms
    assert form["message"].startswith("Which authentication approach? (Preflights, for: Add login")
    assert form["properties"]["choice"]["enum"][0] == "OAuth"
    assert form["properties"]["choice"]["enum"][-2:] == ["Other (specify)", "Not about this"]
    begun, answered, accepted = inputs(shop)
    assert begun["data"]["actor"] == {"kind": "agent", "name": NAME}
    assert answered["data"]["actor"] == {"kind": "user", "name": ""}
    assert answered["data"]["relayed_by"] == {"kind": "agent", "name": FORM}
    assert accepted["data"]["actor"] == {"kind": "agent", "name": NAME}
    assert shop.show()["status"] == "proposed"
    assert [one["kind"] for one in shop.call("inbox", "--json").json["waiting"]] == ["proposal"]
    assert shop.call("replay", "last").code == 0


@pytest.mark.parametrize("era", ERAS)
def test_other_words_count_and_two_rounds_are_two_inputs(shop: Project, era: str) -> None:
    async def flow(client: Client) -> None:
        ready = await told(client, "start_decision", intention="Improve things")
        assert ready["decided"] == {"Strategy": "Passkeys"}

    forms = person("Authentication", {"choice": "Other (specify)", "other": "Passkeys"})
    talk(shop.folder, flow, era, forms)
    assert len(inputs(shop)) == 3


@pytest.mark.parametrize("era", ERAS)
def test_a_person_leaves_a_menu_that_is_about_something_else(shop: Project, era: str) -> None:
    forms: list[Form] = []

    async def flow(client: Client) -> None:
        ready = await told(client, "start_decision", **START)
        assert ready["decided"] == {"Description": "Ask the reception"}
        open_ = await told(client, "start_decision", intention="Add login for guests")
        assert open_["options"][-1] == "Not about this"
        assert f"{len(open_['options'])}. Not about this" in open_["next"]
        number = str(len(open_["options"]))
        for words in (number, "not about this"):  # the second answers the open question
            came = await told(client, "answer", session=open_["session"], answer=words)
            if words == number:
                assert (came["status"], came.get("options", [])) == ("needs_answers", [])
        assert came["decided"] == {"Description": "not about this"}

    replies = ("Not about this", "Ask the reception", "decline")
    talk(shop.folder, flow, era, person(*replies, seen=forms))
    assert "choice" in forms[1]["properties"]
    assert "enum" not in forms[1]["properties"]["choice"]
    assert shop.call("replay", "last").code == 0


def test_a_form_shows_the_beginning_of_a_long_intention(shop: Project) -> None:
    forms: list[Form] = []

    async def flow(client: Client) -> None:
        await told(client, "start_decision", intention=f"Add login {'x' * 3_000}")

    talk(shop.folder, flow, "auto", person("decline", seen=forms))
    assert len(forms[0]["message"]) < 200


def test_a_number_in_own_words_is_no_option(shop: Project) -> None:
    async def flow(client: Client) -> None:
        asked = {"question": "How many replicas?", "options": ["one", "three"]}
        ready = await told(client, "start_decision", intention="Scale the database", **asked)
        assert ready["decided"] == {"Decision": "2"}

    talk(shop.folder, flow, "auto", person({"choice": "Other (specify)", "other": "2"}))


@pytest.mark.parametrize("era", ERAS)
def test_the_person_sees_what_the_agent_recommends_and_why(shop: Project, era: str) -> None:
    forms: list[Form] = []
    options = ["Redis", "Memcached"]
    asked = {"question": "Which cache?", "options": options, "topic": "Cache"}
    advice = f"({NAME} recommends Redis: sessions use it)"

    async def flow(client: Client) -> None:
        advised = {"recommendation": "Redis", "reason": "sessions use it"}
        open_ = await told(client, "start_decision", intention="Cache", **asked, **advised)
        assert advice in open_["next"]
        assert open_["options"][:2] == options, "what can be chosen stays as it was given"

    talk(shop.folder, flow, era, person("decline", seen=forms))
    assert forms[0]["message"].startswith(f"Which cache? {advice} (Preflights")


def test_words_beside_a_choice_do_not_push_it_out(shop: Project) -> None:
    async def flow(client: Client) -> None:
        ready = await told(client, "start_decision", **START)
        assert ready["decided"] == {"Strategy": "OAuth (Google only)"}

    talk(shop.folder, flow, "auto", person({"choice": "OAuth", "other": "Google only "}))


@pytest.mark.parametrize("era", ERAS)
@each(
    "reply",
    [
        "decline",
        "cancel",
        {},
        {"choice": "Other (specify)"},
        "2",
        "Kerberos",
        ["OAuth", "Kerberos"],
        {"choice": "Other (specify)", "other": "\u200b"},
    ],
)
def test_no_answer_leaves_the_question_open(shop: Project, era: str, reply: object) -> None:
    async def flow(client: Client) -> None:
        asked = await told(client, "start_decision", **START)
        assert asked["status"] == "needs_answers"
        assert "silence is no answer" in asked["next"]

    talk(shop.folder, flow, era, person(reply))
    assert len(inputs(shop)) == 1, "nothing but the intention"


def test_a_form_that_is_forgotten_leaves_the_question_open(shop: Project) -> None:
    async def waiting(_: Form) -> types.ElicitResult:
        await asyncio.Event().wait()
        raise AssertionError("it is cancelled")

    async def flow(client: Client) -> None:
        asked = await told(client, "start_decision", **START)
        assert asked["status"] == "needs_answers"

    talk(shop.folder, flow, "legacy", waiting, patience_s=0.05)
    assert len(inputs(shop)) == 1


def test_a_client_that_stops_waiting_leaves_the_question_open(shop: Project) -> None:
    shown = asyncio.Event()

    async def waiting(_: Form) -> types.ElicitResult:
        shown.set()
        await asyncio.Event().wait()
        raise AssertionError("it is cancelled")

    async def flow(client: Client) -> None:
        task = asyncio.create_task(client.call_tool("start_decision", START))
        await shown.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        session = shop.show()["session_id"]
        assert (await told(client, "show", session=session))["status"] == "needs_answers"

    talk(shop.folder, flow, "legacy", waiting)
    assert len(inputs(shop)) == 1


def test_the_same_call_after_a_restart_goes_on_and_records_once(shop: Project) -> None:
    """Before 2026-07-28 the server waits: killed there, the client can only call again."""

    async def dies(_: Form) -> types.ElicitResult:
        raise ConnectionError

    async def flow(client: Client) -> Any:
        return await told(client, "start_decision", **START)

    assert talk(shop.folder, flow, "legacy", dies)["status"] == "needs_answers"
    first = shop.show()["session_id"]
    assert talk(shop.folder, flow, "legacy", person("OAuth"))["status"] == "ready"
    assert talk(shop.folder, flow, "legacy")["status"] == "ready", "no question is left"
    assert shop.show()["session_id"] == first
    assert len(inputs(shop)) == 2
    assert len(shop.call("sessions", "--json").json["sessions"]) == 1


def test_no_client_names_itself_as_a_form(shop: Project) -> None:
    """What an agent passes on is told from what its person filled in."""
    forger = types.Implementation(name="claude-code", version="2.1.300 (form)")

    async def flow(made: Any) -> None:
        async with Client(made, client_info=forger) as client:
            session = (await told(client, "start_decision", **START))["session"]
            await told(client, "answer", session=session, answer="OAuth", relayed=True)

    with closing(opened(shop.folder)) as request, threads() as pool:
        asyncio.run(flow(server(request, pool)))
    assert inputs(shop)[1]["data"]["relayed_by"]["name"] == "claude-code 2.1.300 [form]"


def test_a_client_that_was_updated_goes_on_with_its_session(shop: Project) -> None:
    async def begun(made: Any, version: str) -> str:
        info = types.Implementation(name="claude-code", version=version)
        async with Client(made, client_info=info) as client:
            session: str = (await told(client, "start_decision", **START))["session"]
            return session

    with closing(opened(shop.folder)) as request, threads() as pool:
        made = server(request, pool)
        first, second = [asyncio.run(begun(made, version)) for version in ("2.1.300", "2.1.301")]
        assert first == second
        assert shop.call("abandon", first).code == 0
        assert asyncio.run(begun(made, "2.1.302")) not in (first, second)


def test_an_answer_after_a_restart_is_recorded_once(shop: Project) -> None:
    """From 2026-07-28 on the client carries the sealed round to the next server."""

    async def asked(client: Client) -> Any:
        return await call(client, input_responses=None, request_state=None)

    first = talk(shop.folder, asked, "auto", person())
    assert isinstance(first, types.InputRequiredResult)
    assert "Add login" not in (first.request_state or "")

    async def answered(client: Client) -> Any:
        filled = types.ElicitResult(action="accept", content={"choice": "OAuth"})
        again = {"input_responses": {"question": filled}, "request_state": first.request_state}
        return [await call(client, **again) for _ in range(2)]

    one, two = talk(shop.folder, answered, "auto", person())
    assert one.structured_content == two.structured_content
    assert one.structured_content["decided"] == {"Strategy": "OAuth"}
    assert len(inputs(shop)) == 2

    async def otherwise(client: Client) -> Any:
        filled = types.ElicitResult(action="accept", content={"choice": "Magic Link"})
        again = {"input_responses": {"question": filled}, "request_state": first.request_state}
        return await call(client, **again)

    refusal = talk(shop.folder, otherwise, "auto", person())
    assert refusal.is_error
    assert "has another answer to this form: call show" in refusal.content[0].text
    assert len(inputs(shop)) == 2

    async def forged(client: Client) -> None:
        state = (first.request_state or "")[:-4] + "AAAA"
        with pytest.raises(MCPError, match="requestState"):
            await call(client, input_responses=None, request_state=state)

    talk(shop.folder, forged, "auto", person())
    key = shop.log.parent / "mcp.key"
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)


async def call(client: Client, **more: Any) -> Any:
    """One round, without the client's own loop."""
    return await client.session.call_tool(
        "start_decision", START, allow_input_required=True, **more
    )


# Accepting -----------------------------------------------------------------------------------

OWN = "[agents]\nelicited_acceptance = true\n"


@pytest.fixture
def trusting(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who lets forms accept."""
    folder = shop.folder.parent / "config" / "preflights"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(OWN)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("era", ERAS)
def test_a_form_accepts_where_the_users_own_settings_say_so(shop: Project, era: str) -> None:
    forms: list[Form] = []

    async def flow(client: Client) -> None:
        session = (await told(client, "start_decision", **START))["session"]
        assert (await told(client, "accept", session=session))["status"] == "ready", "declined"
        assert (await told(client, "accept", session=session))["status"] == "ready", "not agreed"
        done = await told(client, "accept", session=session)
        assert (done["status"], done["record"][:15]) == ("accepted", "docs/decisions/")

    replies = ("OAuth", "decline", {"accept": False}, {"accept": True})
    talk(shop.folder, flow, era, person(*replies, seen=forms))
    assert forms[1]["message"].startswith("Strategy: OAuth")
    accepted = inputs(shop)[-1]["data"]
    assert accepted["actor"] == {"kind": "user", "name": ""}
    assert accepted["relayed_by"] == {"kind": "agent", "name": FORM}
    assert accepted["evidence"] == {"variables": [], "terminal": False, "client": NAME}


@pytest.mark.usefixtures("trusting")
def test_a_form_only_proposes_what_differs_from_a_decision_in_force(shop: Project) -> None:
    shop.decided()

    async def flow(client: Client) -> None:
        session = (await told(client, "start_decision", intention="Add login"))["session"]
        done = await told(client, "accept", session=session)
        assert done["status"] == "proposed"
        assert "differs from a decision in force: Use OAuth" in done["refused"][0]

    talk(shop.folder, flow, "auto", person("Magic Link", {"accept": True}))


def test_a_question_whose_answer_is_not_relayed_is_answered_at_a_terminal(shop: Project) -> None:
    async def flow(client: Client) -> None:
        session = (await told(client, "ask", question="how warm is it?"))["session"]
        asked = await told(client, "answer", session=session)
        assert asked["status"] == "needs_answers"
        assert f"`preflights answer {session} ANSWER`" in asked["next"]

    talk(shop.folder, flow, "auto", person())


@pytest.mark.usefixtures("trusting")
def test_a_plan_that_no_form_shows_is_only_proposed(shop: Project) -> None:
    documents = shop.folder / ".preflights"
    documents.mkdir(exist_ok=True)
    (documents / "requirements.md").write_text("# Requirements\n\n## Orders\n\nOrders are kept.\n")
    (documents / "constraints.md").write_text("# Constraints\n\nPython. Clean architecture.\n")
    (documents / "glossary.md").write_text("# Glossary\n\nOrder: a purchase.\n")
    assert shop.call("plan", "project").code == 3
    session_id = shop.newest()

    async def flow(client: Client) -> None:
        done = await told(client, "accept", session=session_id)
        assert done["status"] == "proposed"

    talk(shop.folder, flow, "auto", person())


@pytest.mark.usefixtures("trusting")
def test_without_forms_an_agent_proposes_all_the_same(shop: Project) -> None:
    async def flow(client: Client) -> None:
        session = (await told(client, "start_decision", **START))["session"]
        await told(client, "answer", session=session, answer="OAuth")
        assert (await told(client, "accept", session=session))["status"] == "proposed"

    talk(shop.folder, flow)
    assert inputs(shop)[1]["data"]["actor"]["kind"] == "agent", "its own word"


def test_no_repository_lets_a_form_accept(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shop.folder / "preflights.toml"
    file.write_text(OWN)
    shop.call("sessions").refused(2, "agents: no repository says this")
    file.unlink()
    (shop.folder / "preflights").mkdir()
    (shop.folder / "preflights" / "settings.toml").write_text(OWN)
    led = shop.call("sessions", env={"XDG_CONFIG_HOME": str(shop.folder)})
    assert (led.code, "no repository says this" in led.err) == (2, True)
    elsewhere = shop.folder.parent / "elsewhere"
    (shop.folder / "preflights").rename(elsewhere)
    (shop.folder / "preflights").symlink_to(elsewhere)
    led = shop.call("sessions", env={"XDG_CONFIG_HOME": str(shop.folder)})
    assert (led.code, "no repository says this" in led.err) == (2, True), "a link out of it"


# Many clients --------------------------------------------------------------------------------

CLIENTS, CALLS = 5, 10


@pytest.mark.slow("crowds")
def test_fifty_calls_of_five_clients_are_recorded_each_once(shop: Project, database: str) -> None:
    (shop.folder / "preflights.toml").write_text('project = "shop"\n')

    async def one(number: int) -> list[str]:
        async def flow(client: Client) -> list[str]:
            begun = (
                told(client, "start_decision", intention=f"Add login {number} {n}")
                for n in range(CALLS)
            )
            return [one["session"] for one in await asyncio.gather(*begun)]

        with closing(opened(shop.folder, database=database)) as request, threads() as pool:
            found: list[str] = await talked(server(request, pool), flow, ERAS[number % 2])
            return found

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*map(one, range(CLIENTS)))

    found = {session for sessions in asyncio.run(all_of_them()) for session in sessions}
    assert len(found) == CLIENTS * CALLS
    with closing(opened(shop.folder, database=database)) as request:
        heads = request.process.store.heads(request.process.project)
        assert len(heads) == CLIENTS * CALLS


def test_the_same_call_at_once_is_one_session(shop: Project) -> None:
    async def flow(client: Client) -> set[str]:
        begun = (told(client, "start_decision", **START) for _ in range(8))
        return {one["session"] for one in await asyncio.gather(*begun)}

    assert len(talk(shop.folder, flow)) == 1


def test_what_was_abandoned_or_erased_begins_anew(shop: Project) -> None:
    async def flow(client: Client) -> str:
        session: str = (await told(client, "start_decision", **START))["session"]
        return session

    first = talk(shop.folder, flow)
    assert shop.call("abandon", first).code == 0
    second = talk(shop.folder, flow)
    assert shop.call("admin", "erase", second, "--yes").code == 0
    third = talk(shop.folder, flow)
    assert len({first, second, third}) == 3
    assert talk(shop.folder, flow) == third
