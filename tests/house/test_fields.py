"""Each field of each event, and each value of a closed list, stands in a golden session.

A golden holds a name as it was written. So a test fails where a field is renamed, or a value of a
list spelt otherwise, and every log that exists could not be read any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec

from preflights_es.kernel.events import SESSION_EVENTS, Event
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.words.imports import WORKFLOW as IMPORTS

GOLDENS: Final = Path(__file__).parents[2] / "replays"

NEVER: Final = "no Decision says so: the type has the value for what is derived"
LEFT_OUT: Final = "never written: the class leaves out its defaults"

WITHOUT: Final = {
    **{f"OlderDecision.evolution={kind}": NEVER for kind in ("derive", "extend", "none", "same")},
    **{
        f"clarification.answer_accepted.v1.source={one}": NEVER for one in ("detected", "suggested")
    },
    "led.lead_changed.v1.candidates": "a what-if's child alone, in tests/history/test_whatif.py",
    "NoteItem.status=open": LEFT_OUT,
    "PlannedDay.source=rules": LEFT_OUT,
    "PlanTask.importance=normal": LEFT_OUT,
    "calls.not_taken.v1.reason=full": "a thousand calls, in tests/features/calls/test_domain.py",
}
"""What stands in no golden session, with the reason."""

Part = tuple[object, str]
"""A class and a field that it brings, or a closed list and one of its values."""
Line = tuple[str, Any]
"""The tag of an event, and what is written of it."""


ERASURE: Final[tuple[Line, ...]] = (
    ("session.erased.v1", {"at": 1, "actor": {"kind": "user", "name": "Ada"}, "reason": "asked"}),
    ("session.closed.v1", {"status": "erased"}),
)
"""As it is written: no golden holds it, since what was erased cannot be replayed."""


@cache
def events() -> dict[str, type[Event]]:
    """Our event classes by their tags; other tests register workflows of other packages."""
    ours = [
        name for name, one in FEATURES.items() if one.workflow and not FEATURES.is_foreign(name)
    ]
    workflows = (IMPORTS, *(WORKFLOWS[name] for name in ours))
    kinds = [*SESSION_EVENTS, *(kind for one in workflows for kind in one.decider.events)]
    return {kind.tag: kind for kind in kinds}


@cache
def lines() -> tuple[Line, ...]:
    """Every event of every golden session."""
    files = sorted(GOLDENS.rglob("*.jsonl"))
    read = (json.loads(line) for file in files for line in file.read_bytes().splitlines()[1:])
    return (*((one["type"], one["data"]) for one in read), *ERASURE)


def missing(written: Iterable[Line]) -> set[str]:
    """The names of all that could stand there, and does not."""
    found = {part for tag, data in written for part in standing((events()[tag],), data)}
    names = {part: name for kind in events().values() for part, name in declared(kind)}
    return {name for part, name in names.items() if part not in found}


def declared(owner: type[msgspec.Struct]) -> Iterator[tuple[Part, str]]:
    """All that an event or a value may hold, with what to call it."""
    for name, (root, type_) in fields_of(owner).items():
        place = f"{owner.tag if issubclass(owner, Event) else owner.__name__}.{name}"
        yield (root, name), place
        for kind in parts(type_):
            if get_origin(kind) is Literal:
                yield from (((kind, value), f"{place}={value}") for value in get_args(kind))
            elif is_value(kind):
                yield from declared(kind)


def standing(kinds: Iterable[Any], written: object) -> Iterator[Part]:
    """What of it stands in something that is written, by the types that its place may have."""
    kinds = tuple(kinds)
    match written:
        case list():
            for one in written:
                yield from standing(kinds, one)
        case dict():
            known = [fields_of(kind) for kind in kinds if is_value(kind)]
            # Where a field has another name in the class, the others are found all the same.
            most = max((len(written.keys() & fields.keys()) for fields in known), default=0)
            fitting = [one for one in known if most and len(written.keys() & one.keys()) == most]
            for name, one in written.items():
                for root, type_ in (fields[name] for fields in fitting if name in fields):
                    yield root, name
                    yield from standing(parts(type_), one)
                if not fitting:  # a mapping
                    yield from standing(kinds, one)
        case _:
            lists = [kind for kind in kinds if get_origin(kind) is Literal]
            yield from ((kind, str(written)) for kind in lists if written in get_args(kind))


@cache
def fields_of(owner: type[msgspec.Struct]) -> dict[str, tuple[type, Any]]:
    """By the names that are written: the class that brings the field, and its type."""
    fields = msgspec.structs.fields(owner)
    return {one.encode_name: (bringing(owner, one.name), one.type) for one in fields}


def bringing(owner: type, name: str) -> type:
    """The class that brings a field: several may have it of one root."""
    roots = reversed(owner.__mro__)
    return next(one for one in roots if name in vars(one).get("__annotations__", {}))


def parts(type_: Any) -> Iterator[Any]:
    """The classes and closed lists that a type is made of."""
    inner = () if get_origin(type_) is Literal else get_args(type_)
    if not inner:
        yield type_
    for one in inner[:1] if get_origin(type_) is Annotated else inner:
        yield from parts(one)


def is_value(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def test_each_field_and_each_value_stands_in_a_golden_session() -> None:
    found = sorted(missing(lines()) - WITHOUT.keys())
    assert not found, f"renamed, or in no golden: {', '.join(found)} (tests.record_goldens)"


def test_what_stands_in_a_golden_session_is_no_exception() -> None:
    assert sorted(WITHOUT.keys() - missing(lines())) == []


def test_a_field_with_another_name_is_named() -> None:
    met = {tag for tag, _ in lines()}
    owned = {
        tag: name
        for tag, kind in events().items()
        for name, (root, _) in fields_of(kind).items()
        # A question has a field of that name, too.
        if root is kind and tag in met and name != "question"
    }
    assert len(owned) >= 10
    for tag, name in [*owned.items()][::5]:
        own = [data for of, data in lines() if of == tag]
        before = missing((tag, data) for data in own)
        assert missing((tag, renamed(data, name)) for data in own) >= {*before, f"{tag}.{name}"}


def renamed(data: dict[str, Any], name: str) -> dict[str, Any]:
    return {("another" if key == name else key): one for key, one in data.items()}


if __name__ == "__main__":
    print(*sorted(missing(lines())), sep="\n")
