"""Between events and bytes, and from the events of the past to those of today.

The letters of this file had three forms: v1 one text, v2 its words, v3 the words and a language.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.history.replayer import Replayer
from preflights_es.history.verification import verify_session_events
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.errors import (
    ErasedSession,
    LogDamaged,
    LogFromFuture,
    UnreadableEvent,
    UnwritableEvent,
)
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    SESSION_EVENTS,
    Actor,
    Decision,
    Event,
    Input,
)
from preflights_es.kernel.ports import Draft
from preflights_es.kernel.session import Decider, Upcaster
from preflights_es.runtime.runner import Runner
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from preflights_es.store.stored_events import Codec, unambiguous, verified
from preflights_es.words.decisions import Record
from preflights_es.words.workflow import FiledPart, ShownPart, View, Workflow
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.store.given import behind, chain_of

ADA = Actor("user", "Ada")


class Letter(Input, frozen=True):
    tag: ClassVar[str] = "post.letter.v1"
    text: str


class LetterV2(Input, frozen=True):
    tag: ClassVar[str] = "post.letter.v2"
    words: tuple[str, ...]


class LetterV3(Input, frozen=True):
    tag: ClassVar[str] = "post.letter.v3"
    words: tuple[str, ...]
    language: str


class Weighed(Decision, frozen=True):
    tag: ClassVar[str] = "post.weighed.v1"
    weight: str


class WeighedV2(Decision, frozen=True):
    tag: ClassVar[str] = "post.weighed.v2"
    words: int
    total: int


class State(msgspec.Struct, frozen=True):
    total: int = 0


def words_of(event: Event) -> tuple[str, ...]:
    match event:
        case Letter(text=text):
            return tuple(text.split())
        case LetterV2(words=words) | LetterV3(words=words):
            return words
        case _:
            return ()


def evolve(state: State, event: Event) -> State:
    return State(state.total + len(words_of(event)))


def decide_then(state: State, new: Input) -> tuple[Decision, ...]:
    return (Weighed(weight=f"{len(words_of(new))} of {evolve(state, new).total}"),)


def decide_now(state: State, new: Input) -> tuple[Decision, ...]:
    return (WeighedV2(words=len(words_of(new)), total=evolve(state, new).total),)


def decide_otherwise(state: State, new: Input) -> tuple[Decision, ...]:
    return (WeighedV2(words=len(words_of(new)), total=99),)


def split(old: dict[str, Any]) -> dict[str, Any]:
    return {"at": old["at"], "actor": old["actor"], "words": old["text"].split()}


def spoken(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "language": "unknown"}


def counted(old: dict[str, Any]) -> dict[str, Any]:
    words, _, total = old["weight"].partition(" of ")
    return {"words": int(words), "total": int(total)}


UPCASTERS: dict[str, Upcaster] = {
    "post.letter.v1": ("post.letter.v2", split),
    "post.letter.v2": ("post.letter.v3", spoken),
    "post.weighed.v1": ("post.weighed.v2", counted),
}


def post(
    decide: Any, *events: type[Event], upcasters: dict[str, Upcaster] | None = None
) -> Workflow[State]:
    return Workflow(
        decider=Decider(
            name="post",
            version="post/1",
            events=events,
            initial=State(),
            decide=decide,
            evolve=evolve,
            is_terminal=lambda state: False,
            upcasters=upcasters or {},
        ),
        shown=ShownPart(view=lambda state: View(status="done", intention="")),
        filed=FiledPart(
            record=lambda state: Record(
                uid="", session_id="", title="", intention="", status="open"
            )
        ),
    )


THEN = post(decide_then, Letter, Weighed)
BETWEEN = post(
    decide_then, LetterV2, Weighed, upcasters={"post.letter.v1": UPCASTERS["post.letter.v1"]}
)
NOW = post(decide_now, LetterV3, WeighedV2, upcasters=UPCASTERS)
OTHERWISE = post(decide_otherwise, LetterV3, WeighedV2, upcasters=UPCASTERS)


def runner(workflow: Workflow[State], store: MemoryStore) -> Runner:
    return Runner(store, {"post": workflow}, Clock(), Ids())


def old_log() -> tuple[MemoryStore, str]:
    """Two letters, as they were recorded in the days of the first version."""
    store, new_id = MemoryStore(Clock(), salt), Ids()
    session_id = new_id()
    then = runner(THEN, store)
    step = then.open(
        THEN, PROJECT, Letter(at=1, actor=ADA, text="dear Bob"), session_id, "letter-1"
    )
    then.submit(step.handle, Letter(at=2, actor=ADA, text="yours ever Ada"), "letter-2")
    return store, session_id


# 1. Of today ---------------------------------------------------------------------------------


def test_an_event_survives_its_bytes() -> None:
    codec = Codec(toy.WORKFLOW.decider)
    for event in (toy.said("é 🛫"), toy.Heard(text="é", count=1), toy.Answered(text=None)):
        draft = codec.draft(event, "a")
        (stored,) = chain_of(draft)
        assert codec.decode(stored) == event


def test_an_input_carries_its_id_and_its_actors_kind_in_the_envelope_and_no_name() -> None:
    codec = Codec(toy.WORKFLOW.decider)
    draft = codec.draft(toy.said("hello"), "a")
    assert (draft.type, draft.input_id, draft.actor_kind) == ("toy.said.v1", "a", "user")
    assert draft.decider == "toy/1"
    assert b"Ada" in draft.data
    draft = codec.draft(toy.Heard(text="hello", count=1))
    assert (draft.type, draft.input_id, draft.actor_kind) == ("toy.heard.v1", None, None)


def test_every_event_of_the_kernel_is_known_to_every_workflow() -> None:
    codec = Codec(THEN.decider)
    for cls in (*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS):
        (stored,) = chain_of(Codec(toy.WORKFLOW.decider).draft(toy.said("x"), "a"))
        with pytest.raises(UnreadableEvent, match=f"{cls.tag}: unknown field `never`"):
            codec.decode(replace(stored, type=cls.tag, data=b'{"never":1}'))


def test_tags_are_named_alike_and_used_once() -> None:
    classes = (*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS)
    tags = [cls.tag for cls in classes]
    assert len(set(tags)) == len(tags)
    assert all(tag.count(".") == 2 and tag.rsplit(".v")[1].isdigit() for tag in tags)


# 2. Of the past ------------------------------------------------------------------------------

TODAY = LetterV3(at=1, actor=ADA, words=("hi",), language="en")


def test_an_event_passes_through_every_upcaster_on_its_way() -> None:
    store, session_id = old_log()
    first = store.read(session_id)[0]
    assert first.type == "post.letter.v1"
    now = Codec(NOW.decider)
    assert now.decode(first) == replace(TODAY, words=("dear", "Bob"), language="unknown")
    assert now.upcast(first)[0] == "post.letter.v3"
    middle = Codec(post(decide_then, LetterV2, Weighed).decider)
    (stored,) = chain_of(middle.draft(LetterV2(at=1, actor=ADA, words=("hi",)), "a"))
    assert now.decode(stored) == replace(TODAY, language="unknown")
    (stored,) = chain_of(now.draft(TODAY, "a"))
    assert now.upcast(stored) == ("post.letter.v3", stored.data)


def test_an_old_log_folds_and_replays_identically_in_every_later_version() -> None:
    store, session_id = old_log()
    totals = [runner(w, store).load(session_id).session.state.total for w in (THEN, BETWEEN, NOW)]
    assert totals == [5, 5, 5]
    stored = store.read(session_id)
    before = jsonl.encode_event_file(stored)
    found = Replayer({"post": NOW}).replay(stored, stored[-1].hash)
    assert (found.status, found.divergences, found.events) == ("identical", (), 4)
    assert jsonl.encode_event_file(stored) == before
    assert b"post.letter.v1" in before
    found = Replayer({"post": OTHERWISE}).replay(store.read(session_id))
    assert [(d.version, d.type, d.pointer, d.recorded, d.computed) for d in found.divergences] == [
        (2, "post.weighed.v2", "/total", 2, 99),
        (4, "post.weighed.v2", "/total", 5, 99),
    ]


def test_a_session_of_the_past_goes_on_in_todays_words() -> None:
    store, session_id = old_log()
    now = runner(NOW, store)
    letter = LetterV3(at=3, actor=ADA, words=("again",), language="en")
    step = now.submit(now.load(session_id), letter, "letter-3")
    assert step.decisions == (WeighedV2(words=1, total=6),)
    stored = store.read(session_id)
    assert [e.type for e in stored[::2]] == ["post.letter.v1", "post.letter.v1", "post.letter.v3"]
    verified(stored)
    assert Replayer({"post": NOW}).replay(stored).status == "identical"


def test_the_trace_of_a_log_is_that_of_its_upcast_events() -> None:
    store, session_id = old_log()
    then = Replayer({"post": THEN}).replay(store.read(session_id)).trace
    now = Replayer({"post": NOW}).replay(store.read(session_id)).trace
    assert then != now
    fresh = MemoryStore(Clock(), salt)
    today = runner(NOW, fresh)
    step = today.open(
        NOW,
        PROJECT,
        LetterV3(at=1, actor=ADA, words=("dear", "Bob"), language="unknown"),
        session_id,
        "letter-1",
    )
    today.submit(
        step.handle,
        LetterV3(at=2, actor=ADA, words=("yours", "ever", "Ada"), language="unknown"),
        "letter-2",
    )
    assert Replayer({"post": NOW}).replay(fresh.read(session_id)).trace == now


# 3. Of the future, and of nothing ------------------------------------------------------------


def test_a_tag_or_rules_that_are_not_known_are_of_the_future() -> None:
    store, session_id = old_log()
    with pytest.raises(LogFromFuture) as caught:
        Codec(post(decide_now, LetterV3, WeighedV2).decider).decode(store.read(session_id)[0])
    message = str(caught.value)
    assert session_id in message
    assert "event 1" in message
    by = "written by another version of the workflow post"
    assert f"{by} (its tag post.letter.v1 is not known here): upgrade preflights, or the" in message
    first = store.read(session_id)[0]
    codec = Codec(THEN.decider)
    name, _, number = THEN.decider.version.rpartition("/")
    codec.decode(replace(first, decider=f"{name}/0"))
    for foreign in ("", "another/9", name, f"{name}/x"):
        codec.decode(replace(first, decider=foreign))
    newer = f"{name}/{int(number) + 1}"
    with pytest.raises(LogFromFuture, match=f"workflow post .decider {newer}, this version"):
        codec.decode(replace(first, decider=newer))


@each(
    "data",
    [
        b"",
        b"{",
        b'{"at":1,"actor":{"kind":"user"},"text":"\xff"}',
        b'{"at":1,"actor":{"kind":"user"},"text":"\\ud800"}',
        b'{"at":1,"actor":{"kind":"user"},"text":' + b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_a_payload_that_is_no_json_is_damage(data: bytes) -> None:
    store, session_id = old_log()
    stored = replace(store.read(session_id)[0], data=data)
    with pytest.raises(LogDamaged, match=r"event 1: not a post\.letter\.v1") as caught:
        Codec(THEN.decider).decode(stored)
    assert caught.value.version == 1


@each(
    ("data", "why"),
    [
        (b"null", "Expected `object`, got `null`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{}", "no field `at`"),
        (b'{"at":1,"actor":{"kind":"user"}}', "no field `text`"),
        (
            b'{"at":1,"actor":{"kind":"king"},"text":"x"}',
            "Invalid enum value 'king' at `actor.kind`",
        ),
        (b'{"at":1,"actor":{"kind":"user"},"text":7}', "Expected `str`, got `int` at `text`"),
        (b'{"at":"1","actor":{"kind":"user"},"text":"x"}', "Expected `int`, got `str` at `at`"),
        (b'{"at":1,"actor":{"kind":"user"},"text":"x","more":1}', "unknown field `more`"),
    ],
)
def test_a_payload_that_its_class_does_not_take_is_named(data: bytes, why: str) -> None:
    store, session_id = old_log()
    stored = replace(store.read(session_id)[0], data=data)
    with pytest.raises(UnreadableEvent) as caught:
        Codec(THEN.decider).decode(stored)
    said = f"this code cannot read event 1 (post.letter.v1: {why}); the chain holds"
    assert (str(caught.value), caught.value.version) == (said, 1)


@each(
    ("event", "why"),
    [
        (toy.Heard(text="x", count="one"), "Expected `int`, got `str` at `count`"),  # type: ignore[arg-type]  # what is to be found
        (toy.Heard(text=None, count=1), "Expected `str`, got `null` at `text`"),  # type: ignore[arg-type]  # likewise
        (toy.Heard(text="x", count=object()), "Encoding objects of type object is unsupported"),  # type: ignore[arg-type]  # likewise
        (Weighed(weight="1"), "the workflow does not list its class among its events"),
    ],
)
def test_an_event_that_cannot_be_read_back_is_not_drafted(event: Event, why: str) -> None:
    with pytest.raises(UnwritableEvent) as caught:
        Codec(toy.WORKFLOW.decider).draft(event)
    assert str(caught.value) == f"{event.tag} cannot be read back: {why}"
    assert caught.value.made_by is toy.WORKFLOW.decider.decide


def test_an_event_is_read_back_as_the_log_will_give_it() -> None:
    made = LetterV2(at=1, actor=ADA, words=["dear", "Bob"])  # type: ignore[arg-type]  # no class checks
    draft, found = Codec(post(decide_then, LetterV2, Weighed).decider).read_back(made, "a")
    assert found == LetterV2(at=1, actor=ADA, words=("dear", "Bob"))
    assert found == Codec(post(decide_then, LetterV2, Weighed).decider).decode(chain_of(draft)[0])


@each(
    "data",
    [
        b'{"at":1,"actor":{"kind":"user"},"text":"x","text":"x"}',
        b'{"at":1,"actor":{"kind":"user","kind":"script"},"text":"x"}',
        b'{"at":1,"actor":{"kind":"user"},"actor":{"kind":"script"},"text":"x"}',
        b'{"at":1,"actor":{"kind":"user"},"text":"x","t\\u0065xt":"y"}',
    ],
)
def test_a_name_that_stands_twice_is_damage(data: bytes) -> None:
    store, session_id = old_log()
    head = store.head(session_id)
    assert head is not None
    wanted = verify_session_events(store, head)
    for event in wanted:
        unambiguous(event)
    draft = Draft("post.letter.v1", data, "post/1", "an id of its own", "user")
    batch = behind(head, draft)
    (after,) = store.append([batch])
    found = rf"event {after.version}: not a post\.letter\.v1: .* twice"
    with pytest.raises(LogDamaged, match=found):
        unambiguous(store.read(session_id)[-1])
    with pytest.raises(LogDamaged, match=found):
        verify_session_events(store, after)


def test_a_payload_is_read_as_it_is_and_judged_and_an_erased_one_is_none() -> None:
    store, session_id = old_log()
    data = b' { "text":"x", "actor":{"name":"","kind":"user"},"at" :1}'
    event = Codec(THEN.decider).decode(replace(store.read(session_id)[0], data=data))
    assert event == Letter(at=1, actor=Actor("user"), text="x")
    stored = replace(
        store.read(session_id)[0], data=b'{"at":"late","actor":{"kind":"user"},"text":"x"}'
    )
    with pytest.raises(UnreadableEvent, match=r"post\.letter\.v3: Expected `int`"):
        Codec(NOW.decider).decode(stored)
    first = store.read(session_id)[0]
    assert first.data is not None
    more = replace(first, data=first.data.replace(b"{", b'{"colour":"red",', 1))
    found = "event 1 (post.letter.v1: unknown field `colour`); the chain holds"
    with pytest.raises(UnreadableEvent, match=re.escape(found)):
        Codec(THEN.decider).decode(more)
    gone = replace(store.read(session_id)[1], data=None, salt=None)
    with pytest.raises(ErasedSession, match="was erased"):
        Codec(THEN.decider).decode(gone)


@each(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'{"at":1}',
        b'{"at":1,"actor":{},"text":7}',
        b'{"at":1,"actor":{"kind":"user"},"text":"\xff"}',
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_an_old_payload_that_its_upcaster_does_not_know_is_damage(data: bytes) -> None:
    store, session_id = old_log()
    stored = replace(store.read(session_id)[0], data=data)
    with pytest.raises(LogDamaged, match=r"event 1: not a post\.letter") as caught:
        Codec(NOW.decider).decode(stored)
    assert caught.value.version == 1
