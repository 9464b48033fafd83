"""What was published when it was recorded, and how what stands in the tree differs from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from preflights_es.store.jsonl import HASH_LETTERS
from tests.frozen.published import FOLDER, KINDS, ON_PAGE, Published
from tests.frozen.shapes import LEFT_OUT

RECORD: Final = "record it with `python -m tests.frozen`"
SHOWN: Final = 90  # characters of a text in a message
_CHOICE: Final = re.compile(r"\(([^()]*)\)")


class Difference(NamedTuple):
    """One sentence on what differs."""

    text: str
    is_added: bool
    """Whether nothing that was published before is touched."""


def record(kind: str, published: Published) -> None:
    """Write the file anew: a line for each part."""
    ordered = {thing: dict(sorted(published[thing].items())) for thing in sorted(published)}
    text = json.dumps(ordered, indent=1, ensure_ascii=False)
    (FOLDER / f"{kind}.json").write_text(f"{text}\n", "utf-8")


def differences(kind: str, before: Published, now: Published) -> Iterator[Difference]:
    """All of them, each with what to do."""
    for thing in sorted(before.keys() | now.keys()):
        if thing not in now:
            newer = _next_number(thing)
            if newer in now:
                yield _added(kind, f"{thing} gives way to {newer}")
            else:
                yield _touched(kind, f"{thing} is gone")
        elif thing not in before and KINDS[kind].grows:
            yield _added(kind, f"{thing} is new")
        else:
            was, is_ = before.get(thing, {}), now[thing]
            for part in sorted(was.keys() | is_.keys()):
                if was.get(part) != is_.get(part):
                    yield _differs(kind, thing, part, was.get(part), is_.get(part), was)


def _differs(
    kind: str, thing: str, part: str, was: str | None, is_: str | None, others: dict[str, str]
) -> Difference:
    named = f"{thing}, {part}"
    if is_ is None:
        return _touched(kind, f"{named} is gone")
    if was is None:
        whole = part.rpartition(".")[0].rstrip("[]{}")
        may_lack = not KINDS[kind].is_read or LEFT_OUT in is_ or bool(whole and whole not in others)
        if may_lack and KINDS[kind].grows:
            return _added(kind, f"{named} is new")
        return _touched(kind, f"{named} is new, and what was written before lacks it")
    if KINDS[kind].grows and _has_grown(was, is_):
        return _added(kind, f"{named} takes {is_[:SHOWN]}, more than before")
    if is_.endswith(ON_PAGE) and not was.endswith(ON_PAGE):
        return _touched(kind, f"{named} is gone, but stands {ON_PAGE}")
    if len(was) == HASH_LETTERS and was.isalnum():
        return _touched(kind, f"{named} was changed")
    return _touched(kind, f"{named} was {was[:SHOWN]} and is {is_[:SHOWN]}")


def _next_number(thing: str) -> str:
    """`session/2` for the shape `session/1`; nothing for what has no number."""
    name, _, number = thing.rpartition("/")
    return f"{name}/{int(number) + 1}" if number.isdigit() else ""


def _has_grown(was: str, is_: str) -> bool:
    """Whether only choices were added."""
    before, now = ([*map(_words, _CHOICE.findall(text))] for text in (was, is_))
    alike = _CHOICE.sub("()", was) == _CHOICE.sub("()", is_)
    return alike and all(one <= other for one, other in zip(before, now, strict=True))


def _words(choice: str) -> set[str]:
    return set(choice.split(" | "))


def _added(kind: str, what: str) -> Difference:
    return Difference(f"{kind}: {what}: {RECORD}", is_added=True)


def _touched(kind: str, what: str) -> Difference:
    return Difference(f"{kind}: {what}: {KINDS[kind].instead}", is_added=False)
