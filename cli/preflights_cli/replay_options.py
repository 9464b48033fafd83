"""What the options of `replay` ask for."""

from __future__ import annotations

from typing import Any, NoReturn

import click
import msgspec


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the options say, as it was typed."""

    drift: bool
    simulate: bool
    provider_: str | None
    model_: str | None
    prompts: tuple[str, ...]
    seed_: int | None
    faults_: str | None
    answered: tuple[str, ...]
    failing: tuple[str, ...]
    start: str | None
    live: bool
    out: str | None

    def mode(self) -> str:
        """`strict`, `drift`, `simulate` or `whatif`.

        Raises:
            UsageError: the options contradict each other.
        """
        simulators = _given(("--seed", self.seed_), ("--faults", self.faults_))
        others = _given(
            ("--provider", self.provider_),
            ("--model", self.model_),
            ("--prompt", self.prompts),
            ("--answer", self.answered),
            ("--fault", self.failing),
        )
        around = _given(("--from", self.start), ("--live", self.live))
        if self.drift and self.simulate:
            _refuse("--drift runs on with the recorded responses, --simulate with others: give one")
        if self.drift and (found := [*simulators, *others, *around]):
            _refuse(f"--drift changes nothing of a session: leave {found[0]} out")
        if self.simulate and (found := [*others, *around]):
            _refuse(f"--simulate takes --seed and --faults alone: leave {found[0]} out, or it")
        if self.drift or self.simulate:
            return "drift" if self.drift else "simulate"
        if simulators or others:
            return "whatif"
        if around:
            _refuse(f"{around[0]} needs a change to test, for example --model")
        if self.out is not None:
            _refuse("--out keeps what was run again: a strict replay runs nothing")
        return "strict"


def _given(*options: tuple[str, Any]) -> list[str]:
    return [name for name, value in options if value not in (None, (), False)]


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message)
