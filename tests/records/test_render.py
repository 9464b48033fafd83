"""Documents from records: frozen templates, and what a document says."""

from __future__ import annotations

import inspect
import re
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from preflights_es.kernel.errors import LogFromFuture
from preflights_es.records import render
from preflights_es.records.record_brief import render_record_brief
from preflights_es.records.render import render_document
from preflights_es.words.decisions import (
    AttributedReason,
    KeptDecision,
    NotChosen,
    Rationale,
    Record,
    Related,
    ShownQuestion,
)
from preflights_es.words.questions import Option, Recommended
from tests.each import each
from tests.records.reading import RECORD, body, every, front_matter, headings, section

# 1. Templates --------------------------------------------------------------------------------


@each("name", ["adr.v99", "adr", "", "../templates/adr.v1", "/etc/passwd", "adr.v1\0", "ADR.v1"])
def test_a_template_that_this_version_does_not_have_is_of_the_future(name: str) -> None:
    with pytest.raises(LogFromFuture, match="upgrade preflights"):
        render_document(name, RECORD)


# 2. What a document says ---------------------------------------------------------------------


def test_a_record_says_why() -> None:
    why = Rationale(
        AttributedReason("Because we know it", "user"),
        (AttributedReason("One login for all", "model"),),
        (NotChosen("SAML", "it is slow", "user"), NotChosen("LDAP", "", "agent")),
    )
    found = replace(RECORD, rationale=why, considered=("OAuth", "SAML", "LDAP"))
    text = render_document("adr.v1", found)
    assert text.split("> Add login\n\n")[1] == (
        "## Considered Options\n"
        "\n"
        "* OAuth\n"
        "* SAML\n"
        "* LDAP\n"
        "\n"
        "## Decision Outcome\n"
        "\n"
        'Chosen option: "OAuth", because we know it.\n'
        "\n"
        "* Category: Authentication\n"
        "* Strategy: **OAuth** (answered by a person)\n"
        "\n"
        "### Consequences\n"
        "\n"
        "Offered by a model, accepted by Ada Lovelace:\n"
        "\n"
        "* One login for all\n"
        "\n"
        "## Pros and Cons of the Options\n"
        "\n"
        "* Against SAML: it is slow\n"
    )
    assert (
        "* Because: Because we know it\n* Not: SAML: it is slow\n* Not: LDAP\n"
        in render_record_brief(found)
    )


def test_what_a_model_offered_is_marked_with_who_accepted_it() -> None:
    offered = AttributedReason("it is quick", "model")
    why = Rationale(offered, (offered,), (NotChosen("SAML", "it is slow", "model"),))
    found = replace(RECORD, rationale=why, considered=("OAuth", "SAML"))
    proposal = render_document("adr.v1", replace(found, status="proposed", proposed_by="script"))
    assert "because it is quick (offered by a model).\n" in proposal
    assert "\n\nOffered by a model:\n\n* it is quick\n" in proposal
    assert "\n\nOffered by a model:\n\n* Against SAML: it is slow\n" in proposal
    named = replace(found, offered_by=(("agent", "claude-code"), ("model", "claude-opus-5")))
    for status in ("accepted", "superseded"):
        text = render_document("adr.v1", replace(named, status=status))
        assert text.count("ffered by claude-opus-5, accepted by Ada Lovelace") == 3


@each(
    ("said", "text"),
    [
        ("Because we know it.", "because we know it."),
        ("It's one binary", "because it's one binary."),
        ("Redis is there", "because: Redis is there."),
        ("SQLite is enough", "because SQLite is enough."),
        ("I run it", "because I run it."),
        ("IT wants it!", "because IT wants it!"),
        ("Go is known...", "because: Go is known..."),
        ("42 teams do", "because 42 teams do."),
    ],
)
def test_a_reason_goes_on_with_the_sentence(said: str, text: str) -> None:
    why = Rationale(AttributedReason(said, "user"))
    found = render_document("adr.v1", replace(RECORD, rationale=why, considered=("OAuth",)))
    assert f'Chosen option: "OAuth", {text}\n' in found


def test_options_of_every_question_stand_in_the_record() -> None:
    shown = tuple(
        ShownQuestion(
            question=f"Which {one}?",
            by="opus",
            options=(Option(one, "fine", "slow"), Option(f"no {one}", "", "loud")),
            recommended=Recommended(one, reason),
        )
        for one, reason in (("OAuth", "We know it."), ("cache", "the disk is slow"))
    )
    why = Rationale(AttributedReason("We know it.", "model"))
    record = replace(RECORD, shown=shown, considered=("OAuth", "no OAuth", "SAML"), rationale=why)
    text = render_document("adr.v1", record)
    assert section(text, "Considered Options") == [
        "OAuth: fine",
        "no OAuth",
        "SAML",
        "Offered by opus: OAuth, no OAuth. Recommended: OAuth.",
        "Which cache?",
        "cache: fine",
        "no cache",
        "Offered by opus. Recommended: cache, because the disk is slow.",
    ]
    assert section(text, "Pros and Cons of the Options")[1:] == [
        "Against OAuth, which was chosen: slow",
        "Against no OAuth: loud",
        "Against cache: slow",
        "Against no cache: loud",
    ]


def test_an_exception_and_its_rule_name_each_other() -> None:
    kept = (KeptDecision(Related("b2", "Use SQLite", 2), "exception"),)
    for scope, text in (("tills", "Exception to ADR-0002"), ("", "Exception: ADR-0002")):
        found = render_document("adr.v1", replace(RECORD, kept=kept, scope=scope))
        assert section(found, "More Information") == [f"{text}, Use SQLite"]


def test_every_sentence_of_a_record_has_german_words() -> None:
    named = set(
        re.findall(r'_phrase_in_language\(\s*record,\s*(".*?"|\'.*?\')', inspect.getsource(render))
    )
    assert named
    assert {one[1:-1] for one in named} <= {*render._GERMAN}


def test_a_record_is_written_as_people_know_it() -> None:
    record = replace(RECORD, considered=("OAuth", "Magic Link"))
    assert render_document("adr.v1", record) == (
        "---\n"
        'status: "accepted"\n'
        "date: 2026-11-21\n"
        'decision-makers: ["Ada Lovelace"]\n'
        'uid: "3f9a12c4d5e6"\n'
        'session: "01a20012-3456-7abc-8def-3f9a12c4d5e6"\n'
        "---\n"
        "\n"
        "# Add login\n"
        "\n"
        "## Context and Problem Statement\n"
        "\n"
        "> Add login\n"
        "\n"
        "## Considered Options\n"
        "\n"
        "* OAuth\n"
        "* Magic Link\n"
        "\n"
        "## Decision Outcome\n"
        "\n"
        'Chosen option: "OAuth".\n'
        "\n"
        "* Category: Authentication\n"
        "* Strategy: **OAuth** (answered by a person)\n"
    )
    assert "\r" not in render_document("adr.v1", replace(RECORD, intention="a\r\nb\rc"))


def test_a_task_is_written_with_what_is_open() -> None:
    said = {"considered": ("OAuth",), "missing": ("Which library?",)}
    task = replace(RECORD, **said, status="proposed", proposed_by="agent")
    text = render_document("task.v1", replace(task, decided_by="", date=""))
    assert front_matter(text) == {
        "status": "proposed",
        "uid": RECORD.uid,
        "session": RECORD.session_id,
    }
    assert section(text, "Still Open") == ["Which library?"]
    assert section(text, "Decided")[0] == ("Proposed by an agent; no person has confirmed it yet.")


@each("template", ["adr.v1", "task.v1"])
def test_a_section_without_content_is_left_out(template: str) -> None:
    bare = Record(uid="u", session_id="s", title="Think", intention="Think", status="open")
    text = render_document(template, bare)
    intention = "Context and Problem Statement" if template == "adr.v1" else "Intention"
    assert headings(body(text)) == [("h1", "Think"), ("h2", intention)]
    assert front_matter(text) == {"status": "open", "uid": "u", "session": "s"}
    assert "$" not in text


def test_a_brief_says_what_is_decided_and_what_is_not() -> None:
    text = render_record_brief(replace(RECORD, missing=("Which library?",)))
    assert section(text, "Task") == ["Add login"]
    decided = ["Category: Authentication", "Strategy: OAuth"]
    assert section(text, "Decided, do not reconsider") == decided
    assert section(text, "Not decided") == ["Which library?"]
    (before,) = section(text, "Before you code")
    ask, source = before.split("\n")
    assert ask == "Ask the person before you decide anything that is not decided above."
    assert source == f"Source: Preflights session {RECORD.session_id[-8:]}."
    bare = Record(uid="u", session_id="s" * 8, title="Think", intention="Think", status="open")
    text = render_record_brief(bare)
    found = [title for _, title in headings(body(text))]
    assert found == ["Task", "Not decided", "Before you code"]
    nothing = ["Nothing was decided: ask before you choose a technology."]
    assert section(text, "Not decided") == nothing


@each(
    ("status", "warning"),
    [
        ("open", "No person has accepted this yet"),
        ("proposed", "No person has accepted this yet"),
        ("superseded", "This decision was superseded"),
    ],
)
def test_a_brief_warns_of_what_no_person_stands_for(status: str, warning: str) -> None:
    (text,) = section(render_record_brief(replace(RECORD, status=status)), "Before you code")
    assert text.startswith(warning)


def test_related_records_are_linked_and_tasks_are_named() -> None:
    record = replace(
        RECORD,
        status="superseded",
        supersedes=Related("a1", "Use cookies", 3),
        superseded_by=Related("b2", "Use passkeys [now]"),
    )
    text = render_document("adr.v1", record)
    assert front_matter(text)["status"] == "superseded by task b2"
    assert section(text, "More Information") == [
        "Supersedes ADR-0003, Use cookies",
        "Superseded by task b2, Use passkeys [now]",
    ]
    links = [token for token in every(body(text)) if token.type == "link_open"]
    assert [link.attrGet("href") for link in links] == ["0003-use-cookies.md"]


@each(("title", "file"), [("漢字", "0012-漢字.md"), ("...", "0012.md")])
def test_a_related_record_is_linked_by_its_file(title: str, file: str) -> None:
    text = render_document("adr.v1", replace(RECORD, supersedes=Related("a1", title, 12)))
    (link,) = [token for token in every(body(text)) if token.type == "link_open"]
    assert unquote(str(link.attrGet("href"))) == file
