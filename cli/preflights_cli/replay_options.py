"""What the options of `replay` ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import click


def mode_of(asked: Mapping[str, Any]) -> str:
    """`strict`, `drift`, `simulate` or `whatif`.

    Args:
        asked: the options by the names of their parameters.

    Raises:
        UsageError: the options contradict each other.
    """
    simulators = _given(("--seed", asked["seed_"]), ("--faults", asked["faults_"]))
    others = _given(
        ("--provider", asked["provider_"]),
        ("--model", asked["model_"]),
        ("--prompt", asked["prompts"]),
        ("--answer", asked["answered"]),
        ("--fault", asked["failing"]),
    )
    around = _given(("--from", asked["start"]), ("--live", asked["live"]))
    if asked["drift"] and asked["simulate"]:
        _refuse("--drift runs on with the recorded responses, --simulate with others: give one")
    if asked["drift"] and (found := [*simulators, *others, *around]):
        _refuse(f"--drift changes nothing of a session: leave {found[0]} out")
    if asked["simulate"] and (found := [*others, *around]):
        _refuse(f"--simulate takes --seed and --faults alone: leave {found[0]} out, or it")
    if asked["drift"] or asked["simulate"]:
        return "drift" if asked["drift"] else "simulate"
    if simulators or others:
        return "whatif"
    if around:
        _refuse(f"{around[0]} needs a change to test, for example --model")
    if asked["out"] is not None:
        _refuse("--out keeps what was run again: a strict replay runs nothing")
    return "strict"


def _given(*options: tuple[str, Any]) -> list[str]:
    return [name for name, value in options if value not in (None, (), False)]


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message)
