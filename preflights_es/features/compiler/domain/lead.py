"""What a model is told and asked for, and what becomes of its answers: a draft, or a report."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import (
    PACKAGE,
    PASSES,
    RAW_MAX,
    REQUEST_MAX,
    ROUNDS_MAX,
    FailureReported,
    OmittedFromRequest,
    PassBegun,
    PassQuestionAsked,
    PlanDrafted,
    prompts_of,
    schema_of,
)
from preflights_es.features.compiler.domain.state import CompilerState, made, plan_id
from preflights_es.kernel.completions import (
    MESSAGE_MAX,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Rejected,
)
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.ids import iso
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import (
    ResponseRejected,
    StepFailed,
    StepStalled,
    Usable,
    concluded,
    decode_response_text,
    open_lead_state,
    requested,
    system_message,
)
from preflights_es.kernel.text import shortened, visible
from preflights_es.words.questions import Question


def compose_pass_request(state: CompilerState) -> CompletionRequested:
    """The whole of what is sent, derived from the log: what was read, each reply, each answer."""
    begun = state.begun
    assert begun is not None, "a pass has begun"
    (base, version), own = prompts_of(begun.pass_type)
    return requested(
        state.led,
        "plan",
        schema_of(begun.pass_type),
        (PACKAGE, base, version),
        messages=(Message("user", user_message(begun)), *state.led.said),
        behind=(own,),
        schema_id=schema_of(begun.pass_type),
    )


def conclude_pass_outcome(state: CompilerState, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the draft, a retry, or a report."""
    # Imported where a response is judged: no other command needs a library for it.
    from preflights_es.features.compiler.domain.rules import CONTRACTS, find_pass_violations

    begun = state.begun
    assert begun is not None, "an outcome answers a call of a pass"
    contract = CONTRACTS[schema_of(begun.pass_type)]
    verdict = concluded(state.led, outcome, contract, partial(find_pass_violations, begun))
    if isinstance(verdict, Usable):
        return (verdict.accepted, _drafted(state, begun, outcome, verdict.payload))
    return (*verdict, *reported(state, begun, outcome, verdict))


def _drafted(state: CompilerState, begun: PassBegun, outcome: Outcome, payload: Any) -> PlanDrafted:
    lead = state.led.lead
    return PlanDrafted(
        id=plan_id(begun, made(state) + 1),
        type=PASSES[begun.pass_type].writes,
        payload=canonical_json(payload).decode(),
        created_at=outcome.at,
        created_by="system" if lead is not None and lead.provider == "mock" else "llm",
        depends_on=tuple(one.id for one in begun.plans),
    )


Cut = Literal["layout", "decisions"]


class TooLarge(msgspec.Struct, frozen=True):
    """What is required does not fit a request."""

    size: int
    """Characters of the request with nothing but what is required."""
    most: int


def user_message(begun: PassBegun) -> str:
    """The user message.

    Keys: `pass`; `documents` (`name`, `path`, `text`); `artifacts` (`type`, `id`, `standing`,
    `payload`); `decisions` (`uid`, `title`, `fields` of `name` and `value`, `because`, `scope`);
    `layout`; `target` and `goal` where the pass has one; `left_out` where something is.
    """
    named = zip(_name_pass_documents(begun), begun.documents, strict=True)
    told: dict[str, Any] = {
        "pass": begun.pass_type,
        "documents": [{"name": n, "path": one.path, "text": one.text} for n, one in named],
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
            {name: getattr(one, name) for name in ("uid", "title", "fields", "because", "scope")}
            for one in begun.decisions
        ],
        "layout": begun.layout,
    }
    for name in ("target", "goal", "left_out"):
        if value := getattr(begun, name):
            told[name] = value
    return canonical_json(told).decode()


def _name_pass_documents(begun: PassBegun) -> list[str]:
    """What each document is: by the table of passes, `target`, or `other`."""
    known = PASSES[begun.pass_type].documents
    names: list[str] = [*known[: len(begun.documents)]]
    rest = begun.documents[len(names) :]
    is_target = [bool(begun.target) and one.path == begun.target for one in rest]
    return [*names, *("target" if found else "other" for found in is_target)]


def size(begun: PassBegun) -> int:
    """Characters of the whole first request."""
    return len(system(begun)) + len(user_message(begun))


def system(begun: PassBegun) -> str:
    """The system message of the first request."""
    prompts, schema = prompts_of(begun.pass_type), schema_of(begun.pass_type)
    return system_message(open_lead_state(begun.setup), PACKAGE, prompts, schema)[1]


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
        while (over := fixed + len(user_message(found)) - REQUEST_MAX) > 0 and kept[what]:
            kept[what] = _shorter(getattr(begun, what), kept[what], over)
            found = _cut_pass_inputs(begun, kept)
    total = fixed + len(user_message(found))
    return TooLarge(total, REQUEST_MAX) if total > REQUEST_MAX else found


def _shorter(items: tuple[Any, ...], kept: int, over: int) -> int:
    """How many items stay, so that at least so many characters go."""
    gone = 0
    while kept and gone < over:
        kept -= 1
        gone += len(canonical_json(items[kept]).decode()) + 1
    return kept


def _cut_pass_inputs(begun: PassBegun, kept: dict[Cut, int]) -> PassBegun:
    layout, decisions = begun.layout[: kept["layout"]], begun.decisions[: kept["decisions"]]
    gone = {one.what: one.count for one in begun.left_out}  # before there was a request
    gone["layout"] = gone.get("layout", 0) + len(begun.layout) - len(layout)
    gone["decisions"] = gone.get("decisions", 0) + len(begun.decisions) - len(decisions)
    names: tuple[Cut, ...] = ("layout", "decisions")
    left_out = tuple(OmittedFromRequest(name, gone[name]) for name in names if gone[name])
    return replace(begun, layout=layout, decisions=decisions, left_out=left_out)


MISSING: Final = "missing_information"
QUESTION: Final = "What information is missing? The model does not say which."
"""Where the model gives no details."""

RECOVERY: Final[dict[str, str]] = {
    MISSING: "human_input_required",
    "invalid_request": "fix_and_retry",
    "timeout": "retry",
    "api_error": "retry",
    "rate_limit": "retry_after_delay",
    "validation_error": "abort",
}
"""By category, what a person can do (docs/specs/compiler.md, section 4)."""
CATEGORY: Final[dict[str, str]] = {
    MISSING: MISSING,
    "invalid_request": "invalid_request",
    "timeout": "timeout",
    "lost": "timeout",
    "rate_limit": "rate_limit",
    **dict.fromkeys(
        (
            "invalid_json",
            "schema_violation",
            "code_in_output",
            "multiple_artifacts",
            "explanatory_text",
            "output_error",
            "truncated",
            "refused",
        ),
        "validation_error",
    ),
}
"""By kind of failure; any other is a call that failed, and the provider's."""


def reported(
    state: CompilerState, begun: PassBegun, outcome: Outcome, decisions: Iterable[Decision]
) -> tuple[Decision, ...]:
    """The report of a step that ended without a result; nothing of one that is tried again."""
    ends, rejected = None, None
    for one in decisions:
        if isinstance(one, StepFailed | StepStalled):
            ends = one
        if isinstance(one, ResponseRejected):
            rejected = Rejected(one.kind, one.violations, one.excerpt, one.details)  # type: ignore[arg-type]  # the log keeps kinds as text
    if ends is None:
        return ()
    kind = CATEGORY.get(ends.reason, "api_error")
    payload = {
        "phase": "planning",
        "artifact_id": None,
        "category": kind,
        "summary": _replace_report_surrogates(_summary(outcome, rejected, ends.reason)),
        "details": _details(begun, ends, rejected),
        "blocking": True,
        "recovery_action": RECOVERY[kind],
        "timestamp": iso(outcome.at),
        **_raw(outcome),
    }
    report = FailureReported(
        id=plan_id(begun, made(state) + 1),
        payload=canonical_json(payload).decode(),
        category=kind,
        created_at=outcome.at,
        depends_on=tuple(one.id for one in begun.plans),
    )
    if rejected is None or kind != MISSING or state.rounds >= ROUNDS_MAX:
        return (report,)
    said = rejected.details if visible(rejected.details) else QUESTION
    key = f"missing_{state.rounds + 1}"
    return report, PassQuestionAsked(question=Question(key, "free_text", said))


def _summary(outcome: Outcome, rejected: Rejected | None, reason: str) -> str:
    if rejected is not None:
        return rejected.message
    said = outcome.message if isinstance(outcome, CompletionFailed) else ""
    return shortened(f"{reason}: {said}" if said else reason or "no response", MESSAGE_MAX)


def _details(
    begun: PassBegun, ends: StepFailed | StepStalled, rejected: Rejected | None
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "kind": _replace_report_surrogates(ends.reason),
        "pass": begun.pass_type,
        "artifact_type": PASSES[begun.pass_type].writes,
        "contract": ends.contract,
    }
    if rejected is not None and rejected.violations:
        details["violations"] = rejected.violations
    if rejected is not None and rejected.details:
        details["said"] = rejected.details
    return details


def _raw(outcome: Outcome) -> dict[str, str]:
    """What came, where something did; shortened, since the log has it whole."""
    if isinstance(outcome, CompletionReceived):
        text = shortened(decode_response_text(outcome), RAW_MAX)
        return {"raw_response": _replace_report_surrogates(text)}
    if isinstance(outcome, CompletionFailed) and outcome.received:
        return {"raw_response": _replace_report_surrogates(shortened(outcome.received, RAW_MAX))}
    return {}


def _replace_report_surrogates(text: str) -> str:
    """With a mark in place of each lone surrogate, which no log holds."""
    return text.encode("utf-8", "replace").decode()
