"""Which files a request of a pass is made of."""

from __future__ import annotations

from typing import Final

from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.values import PassName
from preflights_es.kernel.completions import Policy

PACKAGE: Final = "preflights_es.features.compiler"
BASE: Final = "base"
PROMPTS: Final[dict[str, str]] = {
    name: f"{name}.v1" for name in (BASE, *(one.prompt for one in PASSES.values()))
}
"""By name, the version of a new session."""
POLICY: Final = Policy(bad_output=0, failed_transport=1, then="report")


def prompts_of(name: PassName) -> tuple[tuple[str, str], tuple[str, str]]:
    """Pairs of name and version of today: the rules of every pass, then the pass's own."""
    own = PASSES[name].prompt
    return (BASE, PROMPTS[BASE]), (own, PROMPTS[own])


def schema_of(name: PassName) -> str:
    """The schema file, and the contract, of a pass: `name.vN`."""
    return f"{PASSES[name].schema}.v1"
