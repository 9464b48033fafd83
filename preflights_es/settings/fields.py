"""The table of settings: what each is, its limits, and which places may say it.

The reader of files, the variables, the keys that need trust and the options of commands follow from
it; tests hold the pages to it. A workflow's own table is its own to describe.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.providers.capabilities import (
    MAX_TOKENS,
    MAX_TOKENS_MAX,
    TIMEOUT_MAX_S,
    TIMEOUT_S,
)
from preflights_es.settings.prices import PriceTable

SEED_MAX: Final = 2**63 - 1  # what fits a column, in both directions
TEMPERATURE_MAX: Final = 2.0  # where a provider takes one (OpenAI's reference)


class RecordsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `records`."""

    sessions: bool = True
    """Whether sessions are kept as files beside their records."""


class PlansTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `plans`: where the documents lie that plans are made from."""

    requirements: str = ".preflights/requirements.md"
    constraints: str = ".preflights/constraints.md"
    glossary: str = ".preflights/glossary.md"


class AgentsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `agents`: what agents may do in the user's name."""

    elicited_acceptance: bool = False
    """Whether an acceptance in a form of an agent's client is the person's; else it proposes."""


class MetricsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `metrics`: how questions about data reach a database."""

    reader_url: str = ""
    """A login of PostgreSQL that can only read what is asked about; empty without one."""


class Setting(msgspec.Struct, frozen=True):
    """One setting."""

    name: str
    """Its key in a file, and its option with hyphens."""
    kind: Any = str
    also: str = ""
    """Its key and variable in seed 2."""
    variable: str | None = ""
    """None where no variable says it; empty for `PREFLIGHTS_` and its name."""
    needs_trust: bool = False
    """Whether a repository's file says it only when a person trusts the file."""
    is_own: bool = False
    """Whether the user's own file alone says it, and no repository's, trusted or not."""
    default: Any = None
    limits: tuple[float, float] | None = None
    metavar: str = ""
    help: str = ""
    """Of its option, where the commands that ask a model have one."""

    @property
    def read_from(self) -> str | None:
        """The variable that says it."""
        return f"PREFLIGHTS_{self.name.upper()}" if self.variable == "" else self.variable


FIELDS: Final = (
    Setting("project", needs_trust=True),
    Setting("database", variable="PREFLIGHTS_DATABASE_URL", needs_trust=True),
    Setting("decisions", variable=None),
    Setting("tasks", variable=None, default="docs/tasks"),
    Setting(
        *("language", str),
        metavar="LANGUAGE",
        help="Language of the sentences that the program writes: de or en; default: the locale.",
    ),
    Setting("actor", needs_trust=True),
    Setting(
        *("provider", str, "LLM_PROVIDER"),
        needs_trust=True,
        metavar="NAME",
        help="mock (rules, the default), sim, anthropic (or claude), openai or openrouter.",
    ),
    Setting(
        *("model", str, "LLM_MODEL"),
        metavar="MODEL",
        help="Model; default: the provider's own.",
    ),
    Setting(
        "base_url",
        needs_trust=True,
        metavar="URL",
        help="Address of a server with OpenAI's API.",
    ),
    Setting("api"),
    Setting("timeout_s", float, "LLM_TIMEOUT", default=TIMEOUT_S, limits=(0.001, TIMEOUT_MAX_S)),
    Setting("max_tokens", int, default=MAX_TOKENS, limits=(1, MAX_TOKENS_MAX)),
    Setting("temperature", float, "LLM_TEMPERATURE", limits=(0.0, TEMPERATURE_MAX)),
    Setting("top_p", float, "LLM_TOP_P", limits=(0.0, 1.0)),
    Setting(
        *("seed", int),
        default=0,
        limits=(-SEED_MAX, SEED_MAX),
        metavar="N",
        help="Seed of the simulator.",
    ),
    Setting("faults", metavar="FAULTS", help="Faults of the simulator: timeout=0.2,error=0.1"),
    Setting("prices", tuple[PriceTable, ...], variable=None),
    Setting("records", RecordsTable, variable=None),
    Setting("plans", PlansTable, variable=None),
    Setting("agents", AgentsTable, variable=None, is_own=True),
    Setting("metrics", MetricsTable, variable=None, is_own=True),
)

KEYS: Final = {key: one for one in FIELDS for key in (one.name, one.also) if key}
"""By each key of a file."""
HELD_BACK: Final = tuple(key for key, one in KEYS.items() if one.needs_trust)
"""Where a log lies, who acts, and where a key is used."""
OPTIONS: Final = {one.name: one for one in FIELDS if one.help}
"""Those that commands have an option for."""
