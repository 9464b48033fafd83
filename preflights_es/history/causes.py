"""Why two requests to a provider differ, in the words of those who can change it."""

from __future__ import annotations

from preflights_es.kernel.completions import CompletionRequested


def causes(recorded: CompletionRequested, computed: CompletionRequested) -> tuple[str, ...]:
    """Every part that differs: prompts, provider, model, parameters, contract, messages.

    A prompt's own words are a message too: what the prompt explains is not said twice.
    """
    prompts = _prompts(recorded, computed)
    return (
        *prompts,
        *(f"{name} changed" for name in ("provider", "model") if _differ(name, recorded, computed)),
        *_parameters(recorded, computed),
        *(("contract changed",) if recorded.contract != computed.contract else ()),
        *_messages(recorded, computed, explained=bool(prompts)),
        *(
            f"{name} changed"
            for name in ("attempt", "wait_ms")
            if _differ(name, recorded, computed)
        ),
    )


def _differ(name: str, recorded: CompletionRequested, computed: CompletionRequested) -> bool:
    return bool(getattr(recorded, name) != getattr(computed, name))


def _prompts(recorded: CompletionRequested, computed: CompletionRequested) -> list[str]:
    before, now = dict(recorded.prompts), dict(computed.prompts)
    changed = [
        f"prompt {id_} changed" for id_ in before if now.get(id_, before[id_]) != before[id_]
    ]
    gone = [id_ for id_ in before if id_ not in now]
    new = [id_ for id_ in now if id_ not in before]
    if gone and new:
        return [*changed, f"prompt {', '.join(gone)} became {', '.join(new)}"]
    return [
        *changed,
        *(f"prompt {id_} is gone" for id_ in gone),
        *(f"prompt {id_} is new" for id_ in new),
    ]


def _parameters(recorded: CompletionRequested, computed: CompletionRequested) -> list[str]:
    before, now = dict(recorded.parameters), dict(computed.parameters)
    names = [*before, *(name for name in now if name not in before)]
    return [f"parameter {name} changed" for name in names if before.get(name) != now.get(name)]


def _messages(
    recorded: CompletionRequested, computed: CompletionRequested, *, explained: bool
) -> list[str]:
    """Counted from 1, as people count."""
    before, now = recorded.messages, computed.messages
    found: list[str] = []
    for i in range(max(len(before), len(now))):
        if i >= len(before):
            found.append(f"message {i + 1} is new")
        elif i >= len(now):
            found.append(f"message {i + 1} is gone")
        elif before[i] != now[i] and not (explained and before[i].role == now[i].role == "system"):
            found.append(f"message {i + 1} changed")
    return found
