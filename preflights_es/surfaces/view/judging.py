"""Pairs of answers to calls of other programs, shown blind, and judged by a person."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from preflights_es.kernel.errors import Refused
from preflights_es.runtime.features import FEATURES
from preflights_es.surfaces.view.rendering import (
    DIGITS_MAX,
    Answer,
    Elsewhere,
    Page,
    PageRequest,
    action,
    page,
)

COMMAND: Final = "preflights calls judge"
CHOICES: Final = (
    ("left", "l", "Left is right"),
    ("right", "r", "Right is right"),
    ("both_fine", "f", "Both are fine"),
    ("both_wrong", "w", "Both are wrong"),
)
"""Each choice, its key, and what its button says."""


def judge_page(asked: PageRequest) -> Page:
    """The next pair that nothing decides; or the one that the address names, once more."""
    return _show_pair(asked)


def _show_pair(asked: PageRequest, refused: str = "", status: int = HTTPStatus.OK) -> Page:
    seed = _number(asked.query.get("seed", asked.said("seed")))
    skipped = _number(asked.query.get("skip", asked.said("skip")))
    run = FEATURES.port("blind_run")(asked.request, seed)
    open_pairs = run.undecided()
    shown = None
    last = asked.query.get("last", "")
    if again := asked.query.get("again", ""):
        shown = _find_pair(run, again)
    elif open_pairs:
        shown = open_pairs[skipped % len(open_pairs)]
    values: dict[str, Any] = {
        "title": "Judge",
        "section": "judge",
        "run": run,
        "shown": shown,
        "compared": run.compare_known_value(_find_pair(run, last or again)),
        "texts": run.mark_words(shown) if shown is not None else None,
        "seed": run.seed,
        "skip": skipped,
        "last": last,
        "choices": CHOICES,
        "refused": refused,
    }
    return Page("judge.html", values, COMMAND, status)


def _find_pair(run: Any, named: str) -> Any:
    session_id, _, call = named.partition(".")
    return run.find_pair(session_id, _number(call))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX else 0


def submit_judgement_form(asked: PageRequest) -> Answer:
    """What the person said is recorded, and the next pair is shown."""
    seed, session_id, call = asked.said("seed"), asked.said("session"), _number(asked.said("call"))
    run = FEATURES.port("blind_run")(asked.request, _number(seed))
    shown = run.find_pair(session_id, call)
    if shown is None:
        raise Refused("this pair is not there any more: load the page again", code="no_pair")
    choice = asked.said("choice")
    if choice not in {"value", *(one for one, _, _ in CHOICES)}:
        raise Refused("the form says no choice: load the page again", code="no_choice")
    try:
        if choice == "value":
            run.expect(shown, asked.said("expected"))
        else:
            run.judge(shown, choice)
    except Refused as refused:
        why = asked.worded(str(refused), refused.code, refused.fields)
        return _show_pair(asked, why, HTTPStatus.CONFLICT)
    skip = asked.said("skip")
    last = f"{session_id}.{call}"
    return Elsewhere(f"/judge?seed={_number(seed)}&skip={_number(skip)}&last={last}")


ROUTES: Final = (page("/judge", judge_page), action("/judge", submit_judgement_form))
