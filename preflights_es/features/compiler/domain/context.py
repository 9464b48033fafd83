"""What a model is told of all that was read: one JSON object, cut to what a request may hold."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.prompting import PACKAGE, prompts_of, schema_of
from preflights_es.features.compiler.domain.values import REQUEST_MAX, LeftOut
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import opened, system_message

Cut = Literal["layout", "decisions"]


class TooLarge(msgspec.Struct, frozen=True):
    """What is required does not fit a request."""

    size: int
    """Characters of the request with nothing but what is required."""
    most: int


def said(begun: PassBegun) -> str:
    """The user message.

    Keys: `pass`; `documents` (`name`, `path`, `text`); `artifacts` (`type`, `id`, `standing`,
    `payload`); `decisions` (`uid`, `title`, `fields` of `name`, `value` and `others`, `because`);
    `layout`; `target` and `goal` where the pass has one; `left_out` where something is.
    """
    told: dict[str, Any] = {
        "pass": begun.pass_type,
        "documents": [
            {"name": name, "path": one.path, "text": one.text}
            for name, one in zip(_names(begun), begun.documents, strict=True)
        ],
        "artifacts": [
            {
                "type": one.type,
                "id": one.id,
                "standing": one.standing,
                "payload": msgspec.Raw(one.payload.encode()),
            }
            for one in begun.plans
        ],
        "decisions": [
            {"uid": one.uid, "title": one.title, "fields": one.fields, "because": one.because}
            for one in begun.decisions
        ],
        "layout": begun.layout,
    }
    for name in ("target", "goal", "left_out"):
        if value := getattr(begun, name):
            told[name] = value
    return encoded(told).decode()


def _names(begun: PassBegun) -> list[str]:
    """What each document is: by the table of passes, `target`, or `other`."""
    known = PASSES[begun.pass_type].documents
    names: list[str] = [*known[: len(begun.documents)]]
    rest = begun.documents[len(names) :]
    is_target = [bool(begun.target) and one.path == begun.target for one in rest]
    return [*names, *("target" if found else "other" for found in is_target)]


def size(begun: PassBegun) -> int:
    """Characters of the whole first request."""
    return len(system(begun)) + len(said(begun))


def system(begun: PassBegun) -> str:
    """The system message of the first request."""
    prompts, schema = prompts_of(begun.pass_type), schema_of(begun.pass_type)
    return system_message(opened(begun.setup), PACKAGE, prompts, schema)[1]


_FIRST: Final[dict[bool, tuple[Cut, Cut]]] = {
    True: ("decisions", "layout"),
    False: ("layout", "decisions"),
}
"""What is cut first, by whether the layout is required."""


def fitted(begun: PassBegun) -> PassBegun | TooLarge:
    """Cut to what a request may hold: the layout from its end, then the oldest decisions."""
    fixed = len(system(begun))
    kept: dict[Cut, int] = {"layout": len(begun.layout), "decisions": len(begun.decisions)}
    found = begun
    for what in _FIRST[PASSES[begun.pass_type].layout]:
        while (over := fixed + len(said(found)) - REQUEST_MAX) > 0 and kept[what]:
            kept[what] = _shorter(getattr(begun, what), kept[what], over)
            found = _cut(begun, kept)
    total = fixed + len(said(found))
    return TooLarge(total, REQUEST_MAX) if total > REQUEST_MAX else found


def _shorter(items: tuple[Any, ...], kept: int, over: int) -> int:
    """How many items stay, so that at least so many characters go."""
    gone = 0
    while kept and gone < over:
        kept -= 1
        gone += len(encoded(items[kept]).decode()) + 1
    return kept


def _cut(begun: PassBegun, kept: dict[Cut, int]) -> PassBegun:
    layout, decisions = begun.layout[: kept["layout"]], begun.decisions[: kept["decisions"]]
    gone = {one.what: one.count for one in begun.left_out}  # before there was a request
    gone["layout"] = gone.get("layout", 0) + len(begun.layout) - len(layout)
    gone["decisions"] = gone.get("decisions", 0) + len(begun.decisions) - len(decisions)
    names: tuple[Cut, ...] = ("layout", "decisions")
    left_out = tuple(LeftOut(name, gone[name]) for name in names if gone[name])
    return replace(begun, layout=layout, decisions=decisions, left_out=left_out)
