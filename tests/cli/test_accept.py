"""`accept`, `abandon`, `render`, `--supersedes`: when a proposal is a decision, and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

import preflights_es
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.use.answers import finish_due_documents
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.each import each


def ready(house: Project, intention: str = "Add OAuth login", *args: str) -> str:
    """A session whose patch waits to be accepted."""
    answer = ("--answer", "auth_strategy=OAuth")
    done = house.call("start", intention, *answer, "--json", *args)
    assert done.json["status"] == "ready"
    return str(done.json["session_id"])


def record(house: Project, name: str) -> str:
    return (house.folder / "docs" / "decisions" / name).read_text("utf-8")


def test_a_script_only_proposes_until_a_person_confirms(house: Project) -> None:
    id_ = ready(house)
    done = house.call("accept", "--again", id_, "--json")
    assert (done.code, done.json["status"], done.json["number"]) == (0, "proposed", 1)
    text = record(house, "0001-use-oauth-for-authentication.md")
    assert 'status: "proposed"' in text
    assert "Proposed by a script; no person has confirmed it yet." in text
    assert "decision-makers" not in text
    again = house.call("accept", "--again", id_)
    assert again.code == 1
    assert "it is proposed already: a person has to accept it (--by NAME)" in again.err
    done = house.call("accept", "--again", id_, "--by", "Ada Lovelace", "--json")
    assert (done.code, done.json["status"], done.json["number"]) == (0, "accepted", 1)
    text = record(house, "0001-use-oauth-for-authentication.md")
    assert 'status: "accepted"' in text
    assert 'decision-makers: ["Ada Lovelace"]' in text
    assert "Proposed by" not in text
    once_more = house.call("accept", "--again", id_, "--by", "Eve")
    assert once_more.code == 1
    assert "is accepted and takes no answers any more" in once_more.err
    assert house.call("replay", id_).code == 0


def test_who_passed_a_persons_word_on_is_recorded_and_shown(house: Project) -> None:
    ada = {"kind": "script", "name": "Ada"}
    id_ = ready(house)
    done = house.call("accept", "--again", id_, "--by", "Grace Hopper", "--json")
    assert done.json["acknowledged_by"] == {"kind": "user", "name": "Grace Hopper"}
    assert (done.json["relayed_by"], house.show(id_)["relayed_by"]) == (ada, ada)
    told = house.call("why", id_, "Strategy").out
    assert "accepted   by Grace Hopper, " in told
    assert ", passed on by a script (Ada)\n" in told
    (value,) = house.call("why", id_, "Strategy", "--json").json["values"]
    assert value["acknowledged"]["relayed_by"] == ada
    assert house.call("decisions", "--json").json["decisions"][0]["relayed_by"] == ada
    trail = house.call("audit", "trail", "--session", id_)
    assert "relayed by a script (Ada)" in " ".join(trail.out.split())
    assert house.call("replay", id_).code == 0


def test_a_person_at_a_terminal_speaks_without_a_relayer(house: Project) -> None:
    with terminal(house, "accept", ready(house)) as t:
        assert t.code() == 0
    shown = house.show()
    assert (shown["acknowledged_by"]["kind"], shown["relayed_by"]) == ("user", None)
    with terminal(house, "accept", ready(house, "Add SSO"), "--again", "--by", "Grace") as t:
        assert t.code() == 0
    assert house.show()["relayed_by"] == {"kind": "user", "name": "Ada"}


@each("invisible", ["\u200b", "\u3164", "\u061c\u2800"])
def test_an_invisible_name_cannot_accept(house: Project, invisible: str) -> None:
    done = house.call("accept", "--again", ready(house, "Add SSO"), "--by", invisible)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "nothing of it can be seen: give a name" in done.err
    assert house.call("start", invisible).code == 1


def test_an_agent_passes_no_acceptance_on(house: Project) -> None:
    agent = {"PREFLIGHTS_ACTOR": "agent:claude"}
    start = ("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept", "--again")
    done = house.call(*start, "--by", "Grace", env=agent)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "preflights: an agent (claude) cannot accept for 'Grace': a person accepts, with "
        "`preflights accept SESSION` in a terminal of their own; without --by it is proposed\n"
    )
    assert house.call("sessions", "--all", "--json").json["sessions"] == []
    proposed = house.call(*start, "--json", env=agent).json
    assert (proposed["status"], proposed["relayed_by"]) == ("proposed", None)
    id_ = proposed["session_id"]
    before = house.events(id_)
    done = house.call("accept", "--again", id_, "--by", "Grace", env=agent)
    assert done.code == 1
    assert f"`preflights accept {id_[-8:]}` in a terminal of their own" in done.err
    assert house.events(id_) == before
    assert house.call("accept", "--again", id_, "--by", "Grace").code == 0


def test_one_decision_ends_in_the_moment_in_which_the_next_begins(house: Project) -> None:
    old = house.decided()
    new = house.decided("Use passkeys for the login", "--supersedes", old["uid"])
    ends, begins = (
        [e["data"]["at"] for e in house.events(one["session_id"]) if what in e["type"]]
        for one, what in ((old, "decision_superseded"), (new, "decision_acknowledged"))
    )
    assert len(ends) == 1
    assert ends == begins


def test_what_was_shown_is_what_is_accepted_in_its_own_project(house: Project) -> None:
    id_ = ready(house)
    version = house.show()["version"]
    house.call("revise", id_, "auth_strategy=Magic Link")
    house.call("accept", "--again", id_, "--by", "Ada", "--expect", str(version)).refused(
        1, f"is at version {house.show()['version']}, not {version}"
    )
    moved = str(house.show()["version"])
    assert house.call("accept", "--again", id_, "--by", "Ada", "--expect", moved).code == 0
    settings = "[clarification.categories.Chores]\nkeywords = ['chore']\n"
    (house.folder / "preflights.toml").write_text(settings)
    done = house.call("start", "Do a chore", "--json")
    assert (done.code, done.json["status"], done.json["patch"]) == (0, "stopped", None)
    done = house.call("accept", "--again", "last", "--by", "Ada")
    assert done.code == 0
    assert house.show()["artifacts"] == [f"docs/tasks/{house.show()['uid']}-do-a-chore.md"]


def test_an_open_question_is_no_decision_and_nothing_is_rendered_before_one(house: Project) -> None:
    house.started_session()
    done = house.call("accept", "--again", "last", "--by", "Ada")
    assert done.code == 1
    assert (
        "Not done: nothing is proposed yet: a question, or a call of the model, is open" in done.err
    )
    assert not (house.folder / "docs").exists()
    ready(house)
    done = house.call("admin", "render")
    assert done.code == 1
    assert "has no document: it is written when the session is accepted" in done.err


def test_marks_say_whether_it_becomes_a_record_or_a_task(house: Project) -> None:
    api = ("--answer", "api_style=REST", "--accept", "--again", "--by", "Ada", "--json")
    assert house.call("start", "Add an API", *api).json["kind"] == "adr"
    local = house.call("start", "Add an API", *api, "--as-task").json
    assert (local["kind"], local["number"]) == ("task", None)
    assert local["artifacts"] == [f"docs/tasks/{local['uid']}-use-rest-for-the-api.md"]
    page = ("--answer", "frontend_framework=Vue", "--json")
    house.call("start", "Add a UI", *page)
    done = house.call("accept", "--again", "last", "--adr", "--by", "Ada", "--json").json
    assert (done["kind"], done["number"]) == ("adr", 2)
    assert done["artifacts"] == ["docs/decisions/0002-use-vue-for-the-frontend.md"]


def test_superseding_changes_status_and_links_in_both_records(house: Project) -> None:
    old = house.decided()
    new = house.call(
        *("start", "Use passkeys to log in: login", "--answer", "auth_strategy=Passkeys"),
        *("--accept", "--again", "--json", "--supersedes", old["uid"]),
    ).json
    assert new["status"] == "proposed"
    assert 'status: "accepted"' in record(house, "0001-use-oauth-for-authentication.md"), (
        "a proposal undoes it"
    )
    assert house.call("accept", "--again", "last", "--by", "Ada").code == 0
    name = "0002-use-passkeys-for-authentication.md"
    former, later = record(house, "0001-use-oauth-for-authentication.md"), record(house, name)
    assert 'status: "superseded by ADR-0002"' in former
    assert f"Superseded by [ADR-0002, Use Passkeys for authentication]({name})" in former
    assert (
        "Supersedes [ADR-0001, Use OAuth for authentication](0001-use-oauth-for-authentication.md)"
        in later
    )
    for id_ in (old["session_id"], new["session_id"]):
        assert house.call("replay", id_).code == 0
        assert house.call("admin", "render", id_, "--check").code == 0
    former = house.show(old["uid"])
    assert former["superseded_by"] == {
        "uid": new["uid"],
        "title": new["title"],
        "number": 2,
        "session_id": new["session_id"],
    }
    assert house.show()["supersedes"]["uid"] == old["uid"]
    later_id = new["session_id"][-8:]
    assert f"replaced by {later_id}: Use Passkeys" in house.call("show", old["uid"]).out
    brief = house.call("prompt", old["session_id"]).out
    assert "## Superseded, do not follow" in brief
    assert "superseded by ADR-0002: ask for the newer one" in brief


def test_only_a_decision_of_this_project_can_be_superseded_and_only_once(house: Project) -> None:
    old = house.decided()
    house.decided("Log in by mail: login", "--supersedes", old["uid"])
    waiting = ready(house)
    house.call("accept", waiting)
    for typed, message in (
        (waiting, "is only proposed: accept or abandon it first"),
        (old["uid"], "was replaced by"),
        (ready(house), "is no accepted decision: only those can be replaced"),
        ("nosuch", "no session matches 'nosuch'"),
    ):
        count = len(house.call("sessions", "--json").json["sessions"])
        house.call("start", "Add login", "--supersedes", typed).refused(1, message)
        assert len(house.call("sessions", "--json").json["sessions"]) == count
    done = house.call(
        "start", "Add login", "--supersedes", old["uid"], env={"PREFLIGHTS_PROJECT": "elsewhere"}
    )
    assert done.code == 1
    assert "is a decision of the project 'house', not of this" in done.err


def test_a_document_is_rebuilt_byte_for_byte(house: Project) -> None:
    path = Path(house.decided()["artifacts"][0])
    target = house.folder / path
    written = target.read_bytes()
    assert house.call("admin", "render", "--check").out == f"{path} is as it should be.\n"
    assert house.call("admin", "render", "--stdout").out.encode() == written
    shape = house.call("admin", "render", "--stdout", "--json").json
    assert (shape["outcome"], shape["text"].encode()) == ("printed", written)
    target.unlink()
    missing = house.call("admin", "render", "--check")
    assert (missing.code, missing.out) == (1, f"{path} is missing.\n")
    assert not target.exists()
    assert house.call("admin", "render").out == f"Wrote {path}.\n"
    assert target.read_bytes() == written
    assert house.call("admin", "render", "--check", "--stdout").code == 2


def test_a_file_that_a_person_edited_is_never_overwritten(house: Project) -> None:
    id_ = ready(house)
    house.call("accept", "--again", id_)
    target = house.folder / "docs" / "decisions" / "0001-use-oauth-for-authentication.md"
    edited = target.read_text() + "\nRemember the fallback.\n"
    target.write_text(edited)
    assert house.call("admin", "render", "--check").code == 1
    done = house.call("accept", "--again", id_, "--by", "Ada", "--json")
    assert done.code == 0
    beside = "docs/decisions/0001-use-oauth-for-authentication.md.new"
    warning = f"the document was edited: the new text lies in {beside}"
    assert done.json["warnings"] == [warning]
    assert done.err == f"warning: {warning}\n"
    assert target.read_text() == edited
    assert 'status: "accepted"' in (house.folder / beside).read_text()
    assert house.call("admin", "render", "--json").json["outcome"] == "beside"
    assert target.read_text() == edited


def test_a_document_that_cannot_be_written_is_finished_by_the_next_command(house: Project) -> None:
    (house.folder / "docs").write_text("in the way")
    house.owing()
    assert house.show()["status"] == "accepted"
    assert house.show()["artifacts"] == []
    trouble = house.call("sessions")
    assert trouble.code == 0
    assert "an earlier document is still open" in trouble.err
    (house.folder / "docs").unlink()
    done = house.call("sessions", "-v")
    assert "finished docs/decisions/0001-use-oauth-for-authentication.md" in done.err
    assert house.call("admin", "render", "--check").code == 0


def test_a_folder_that_takes_no_document_is_refused_before_anything_is_recorded(
    house: Project,
) -> None:
    (house.folder / "docs").write_text("in the way")
    id_ = ready(house)
    for words in (("--by", "Ada"), ()):
        done = house.call("accept", "--again", id_, *words)
        assert (done.code, done.out) == (5, "")
        assert "is no folder, so that 'docs/decisions' takes no document" in done.err
    assert house.show()["status"] == "ready"


def test_what_is_recorded_before_the_disk_refuses_is_said(house: Project) -> None:
    id_ = ready(house)
    with preflights_es.open(house.folder) as log:
        request = log.request(actor="Ada", kind="user")
        step = clarifications_of(request).accept(id_)
        (house.folder / "docs").write_text("in the way")
        with pytest.raises(StoreUnavailable, match=r"0001-use-oauth-for-.* cannot be written"):
            finish_due_documents(request, step)
    assert [one.code for one in request.notices] == ["document_later"]


def test_one_document_that_cannot_be_written_holds_up_no_other(house: Project) -> None:
    settings = house.folder / "preflights.toml"
    settings.write_text('decisions = "docs/a"\n')
    (house.folder / "docs").mkdir()
    (house.folder / "docs" / "a").write_text("in the way")
    house.owing()
    settings.write_text('decisions = "docs/b"\n')  # docs/a is not ours to write any more
    (house.folder / "docs" / "b").write_text("in the way")
    house.owing()
    (house.folder / "docs" / "b").unlink()
    assert "does not lie in docs/b" in house.call("show").err
    named = [path.name for path in (house.folder / "docs" / "b").glob("*.md")]
    assert named == ["0001-use-oauth-for-authentication.md"], "a folder has its own numbers"


def test_a_session_is_given_up_with_a_reason(house: Project) -> None:
    id_ = house.started_session()
    done = house.call("abandon", "last", "--reason", "the password is hunter2xyz")
    assert (done.code, done.out) == (0, f"Abandoned {id_[-8:]}.\n")
    assert "warning: the reason is recorded without what looks like a secret" in done.err
    assert b"hunter2xyz" not in house.recorded()
    assert house.show()["status"] == "abandoned"
    house.call("abandon", "last").refused(1, "was abandoned: start a new one")
    house.started_session()
    done = house.call("abandon", "last", "--json", "-q")
    assert (done.code, done.json["status"]) == (0, "abandoned")
    assert house.call("abandon", ready(house)).code == 0
    brief = house.call("prompt", "last").out
    assert "## Rejected, do not follow\n\n* Category: Authentication" in brief
    assert "treat it as a proposal" not in brief
    house.decided()
    ended = house.call("abandon", "last")
    assert ended.code == 1, "what is decided can only be superseded"
    id_ = house.show()["session_id"][-8:]
    assert "any more, also where that was a mistake: replace it with" in ended.err
    assert f"start INTENTION --supersedes {id_}`" in ended.err
    assert f"take out what must not stay with `preflights admin erase {id_}`" in ended.err


def test_another_projects_session_is_accepted_and_filed_there(house: Project) -> None:
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    house.decided()
    id_ = ready(house, "Add SSO")
    for command in (("accept", id_, "--by", "Ada"), ("admin", "render", id_)):
        done = house.call(*command, env=elsewhere)
        assert done.code == 1, done
        assert "belongs to the project 'house': go there, or set PREFLIGHTS_PROJECT" in done.err
    assert house.call("accept", "--again", id_, "--by", "Ada", "--json").json["number"] == 2


def test_a_proposal_from_elsewhere_whose_number_is_taken_here_gets_another(house: Project) -> None:
    here = ("--db", "here.db")
    id_ = ready(house)
    assert house.call("accept", "--again", id_, "--json").json["number"] == 1
    proposal = house.call("admin", "export", id_).out.encode()
    (house.folder / "docs" / "decisions" / "0001-use-oauth-for-authentication.md").unlink()
    house.decided("Add SSO", *here)
    house.call("admin", "import", "-", *here, stdin=proposal)
    done = house.call("accept", "--again", id_, "--by", "Ada", "--json", *here)
    assert (done.code, done.json["number"]) == (0, 2), done
    assert house.call("admin", "renumber", "--check", *here).code == 0
    assert house.call("replay", id_, *here).code == 0
