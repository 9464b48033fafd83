"""What the simulator answers in place of a model that leads a clarification.

It varies around the reference by seed: other wordings, other options, now and then a question of
its own or a code fence; always within the contract, so that it finds our bugs and not its own.
"""

from __future__ import annotations

import re

from preflights_es.features.clarification.domain import rules
from preflights_es.features.clarification.domain.values import Field, HeuristicsConfig
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import RETRY
from preflights_es.words.decisions import OTHER
from preflights_es.words.simulation import Bank, Draws, Route, write_json_reply

_WORDINGS = (
    "{}",
    "{} (the one you will live with)",
    "Before anything else: {}",
    "For this change: {}",
)
_MORE = {
    "Authentication": ("Passkeys", "SAML", "API keys", "mTLS"),
    "Database": ("SQLite", "DuckDB", "CockroachDB", "Redis"),
    "Frontend": ("Solid", "htmx", "Qwik", "Lit"),
    "Backend": ("tRPC", "JSON-RPC", "WebSockets", "SOAP"),
    "Infra": ("Kubernetes", "Bare metal", "Edge", "PaaS"),
}
_OWN = (
    ("Migration", "How do existing users get there?"),
    ("Failure", "What happens while it is down?"),
    ("Owner", "Who owns the data?"),
)
_OWN_OPTIONS = ("At once", "Step by step", "Not at all", "By hand")
_REASONS = (
    "The team knows it.",
    "It runs where the rest of the system runs.",
    "It can be replaced later at little cost.",
)
_CONSEQUENCES = (
    "One more service has to be run.",
    "New colleagues find documentation for it.",
    "The tests need a server of their own.",
)
_ALTERNATIVES = ("Build it ourselves", "Do nothing for now", "Buy a service")
_WHY_NOT = ("it costs more than it brings", "the team has no time for it", "it solves half of it")
_WHY = (
    "Everything else is built on it.",
    "A later change costs a migration.",
    "It decides what has to be run.",
)
_AGAINST = ("The team has to learn it.", "One more service to run.", "Few people know it.")
_TOPIC = re.compile(r"^\* (?P<name>[^:\n]+): ", re.MULTILINE)
_FIXED = re.compile(r"^Topic: (?P<name>.+) \((?P<how>named|chosen) by ", re.MULTILINE)
_TASK = re.compile(r"^Category: (?P<category>.+)\nFields: (?P<fields>.*)$")


def clarify(draws: Draws, request: CompletionRequested) -> str:
    """A `clarify.v1` for what the request offers."""
    text = request.messages[1].content if len(request.messages) > 1 else ""
    is_retry = request.messages[-1].content.startswith(RETRY)
    if any(one.role == "assistant" for one in request.messages) and not is_retry:
        return _followed(draws)
    topics = text.partition("Topics and their fields:\n")[2]
    names = _TOPIC.findall(topics.partition("\n\n")[0]) or [OTHER]
    fixed = _FIXED.findall(text.rpartition("Topics and their fields:\n")[2])
    chosen = fixed[-1][0] if fixed and fixed[-1][0] in names else draws.pick(names)
    config = HeuristicsConfig()
    known = config.named(chosen) or config.other()
    field = known.primary or config.description
    topic, question, options = chosen, field.question, _draw_category_options(draws, chosen, field)
    if draws.chance(0.15):
        topic, question = draws.pick(_OWN)
        options = draws.sample(_OWN_OPTIONS, 2 + draws.below(3))
    return _write_question(draws, topic, question, options, more=draws.chance(0.1))


def _followed(draws: Draws) -> str:
    """What is asked behind an answer, or nothing."""
    if draws.chance(0.5):
        return write_json_reply(draws, {"outcome": "nothing", "reason": "The answer settles it."})
    topic, question = draws.pick(_OWN)
    options = draws.sample(_OWN_OPTIONS, 2 + draws.below(3))
    return _write_question(draws, topic, question, options, more=False)


def _write_question(
    draws: Draws, topic: str, question: str, labels: list[str], *, more: bool
) -> str:
    said: dict[str, object] = {
        "outcome": "ask",
        "topic": topic,
        "question": draws.pick(_WORDINGS).format(question),
        "why": draws.pick(_WHY) if draws.chance(0.7) else "",
        "options": [
            {
                "label": label,
                "description": "",
                "against": draws.pick(_AGAINST) if draws.chance(0.4) else "",
            }
            for label in labels
        ],
        "recommended": None,
        "scope": "",
        "more": more,
    }
    if labels and draws.chance(0.4):
        said["recommended"] = {"option": draws.pick(labels), "reason": draws.pick(_REASONS)}
    return write_json_reply(draws, said)


def _draw_category_options(draws: Draws, category: str, field: Field) -> list[str]:
    pool = (*field.options, *_MORE.get(category, ()))
    if len(pool) < 2 or draws.chance(0.1):
        return []
    return draws.sample(pool, 2 + draws.below(min(len(pool), 5) - 1))


def decide(draws: Draws, request: CompletionRequested) -> str:
    """A `decide` that writes down what was answered, and at times a word of the intention."""
    messages = [m.content for m in request.messages if m.role == "user"]
    tasks = [found for m in messages if (found := _TASK.search(m))]
    why = _draw_decision_rationale(draws)
    if not tasks:
        return write_json_reply(draws, {"category": OTHER, "fields": [], **why})
    category, names = tasks[-1]["category"], tasks[-1]["fields"].split(", ")
    values: dict[str, str] = {}
    for message in messages[1:]:
        name, colon, value = message.partition(": ")
        if colon and name in names:
            values[name] = value
    words = rules.keyword_tokens(messages[0].partition("\n\n")[0].partition("\n")[2])
    spare = [name for name in names if name not in values]
    if spare and words and draws.chance(0.2):
        values[draws.pick(spare)] = draws.pick(words)
    fields = [{"name": name, "value": value} for name, value in values.items()]
    where = {"paths": draws.sample(_PATHS, 1 + draws.below(2))} if draws.chance(0.1) else {}
    return write_json_reply(draws, {"category": category, "fields": fields, **why, **where})


_PATHS = ("src/db/**", "*.sql", "infra/", "services/*/api.py")


def _draw_decision_rationale(draws: Draws) -> dict[str, object]:
    """A reason, consequences and alternatives; now and then none."""
    if draws.chance(0.2):
        return {}
    names = draws.sample(_ALTERNATIVES, draws.below(3))
    return {
        "because": draws.pick(_REASONS),
        "consequences": draws.sample(_CONSEQUENCES, draws.below(3)),
        "alternatives": [{"name": name, "why_not": draws.pick(_WHY_NOT)} for name in names],
    }


BANK: Bank = {
    "clarify": Route(clarify, ("clarify an intention",), ("clarify|clarifies", "intention")),
    "decide": Route(decide, ("decide nothing",), ("patch", "decision")),
}
