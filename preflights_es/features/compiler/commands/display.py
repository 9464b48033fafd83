"""How a pass and its artifact are shown in words."""

from __future__ import annotations

from shlex import quote
from typing import Any, Final

import msgspec

from preflights_cli.common import Voice
from preflights_cli.progress import count_in_words
from preflights_cli.rendering import Shown
from preflights_es.features.compiler.domain.values import PASSES
from preflights_es.features.compiler.domain.views import PlanView, ShownPlan
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.words.workflow import View

LINES_MAX: Final = 60  # of a payload; the rest with `artifacts show`
WIDTH_MAX: Final = 2_000  # characters of a line of it; a model may write megabytes into one
VIOLATIONS_MAX: Final = 10
TO_DO: Final = {
    "human_input_required": "Say in the documents what is missing, then: {plan}",
    "fix_and_retry": "Change what the pass reads, then: {plan}",
    "retry": "Ask the model again: {plan}",
    "retry_after_delay": "Wait a little, then: {plan}",
    "abort": "The response is not used. Run the pass again: {plan} --model ANOTHER",
    "truncated": "The response was cut off at `max_tokens`: raise it in the settings, then: {plan}",
}
"""What to do after a failure, by `recovery_action`, or by the kind of one."""
NEXT: Final = {
    "ProjectPlan": "preflights plan architecture",
    "ArchitecturePlan": "preflights plan scaffold",
    "ScaffoldPlan": "preflights plan tests",
    "TestPlan": "preflights lock tests, and preflights plan impl FILE",
}
"""What comes after the approval of an artifact of a type."""
_NO_MODEL: Final = "no model wrote it: the smallest artifact that meets its schema"


def as_plan_view(session: View) -> PlanView:
    """A session as a pass."""
    assert isinstance(session, PlanView), "the caller checked the workflow"
    return session


def describe_pass(voice: Voice, session: View) -> None:
    """A pass in a few lines, and its artifact."""
    found = as_plan_view(session)
    stands = session.status.replace("_", " ")
    voice.say(voice.bold(escaped_text(one_line(found.intention))))
    voice.say(f"  session {short_session(found.session_id)}, {stands}")
    one = found.artifact
    if one is None:
        return
    if session.status == "needs_answers":
        voice.say(f"  no artifact yet: the model needs to know more (report {one.id})")
        return
    if one.type == "FailureReport":
        _say_report(voice, one, "" if session.status == "waiting" else _again(found))
        return
    author = f", {_NO_MODEL}" if one.created_by == "system" else ""
    voice.say(f"  artifact {one.id}, {one.standing}{author}")
    if found.signature:
        voice.say(f"  {escaped_text(str(found.signature))}")
    if found.document:
        voice.say(f"  written to {escaped_text(found.document)}")
    if found.superseded_by:
        voice.say(f"  superseded by {found.superseded_by}")
    if found.reason:
        voice.say(f"  because: {escaped_text(one_line(found.reason))}")
    if session.to_do:  # what a person is about to approve
        _say_payload(voice, one)


def _say_payload(voice: Voice, one: ShownPlan) -> None:
    """The payload as JSON of many lines."""
    most = LINES_MAX
    lines = msgspec.json.format(canonical_json(one.payload), indent=2).decode().splitlines()
    for line in lines[:most]:
        voice.say(f"  {escaped_text(shortened(line, WIDTH_MAX))}")
    more, cut = len(lines) - most, sum(len(line) > WIDTH_MAX for line in lines[:most])
    rest = [f"{count_in_words(cut, 'line')} cut"] if cut else []
    rest += [f"{more:,} more lines"] if more > 0 else []
    if rest:
        voice.say(f"  ... {' and '.join(rest)}: preflights artifacts show {one.id}")


def _again(found: PlanView) -> str:
    """The command that runs a pass once more."""
    subject = found.target or found.goal
    command = PASSES[found.pass_type].command  # type: ignore[index]  # one of them
    return f"preflights plan {command}{f' {quote(subject)}' if subject else ''}"


def _say_report(voice: Voice, report: ShownPlan, again: str) -> None:
    """Why there is no artifact, and what a person can do.

    Args:
        again: the command that runs the pass once more; empty where it only waits.
    """
    said = _object(report.payload)  # a forged log may hold anything
    category = str(said.get("category", "")).replace("_", " ")
    voice.say(f"  no artifact: {escaped_text(category)} (report {report.id})")
    voice.say(f"  {escaped_text(one_line(str(said.get('summary', ''))))}")
    details = _object(said.get("details"))
    found = details.get("violations")
    found = found if isinstance(found, list) and len(found) > 1 else []  # the summary has one
    for one in found[:VIOLATIONS_MAX]:
        voice.say(f"    {escaped_text(one_line(' '.join(map(str, _object(one).values()))))}")
    if (more := len(found) - VIOLATIONS_MAX) > 0:
        voice.say(f"    and {more:,} more")
    advice = TO_DO.get(str(details.get("kind")), TO_DO.get(str(said.get("recovery_action"))))
    if again and advice:
        voice.say(f"  {escaped_text(advice.format(plan=again))}")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def pass_hint(session: View) -> str:
    """What may come next."""
    found, id_ = as_plan_view(session), short_session(session.session_id)
    one = found.artifact
    if one is None:
        return ""
    return {
        "ready": f"Approve it with: preflights approve {one.id[:8]}",
        "proposed": f"A person approves it with: preflights approve {one.id[:8]}",
        "accepted": f"Show it with: preflights artifacts show {one.id[:8]}"
        + (f". Next: {NEXT[one.type]}" if one.type in NEXT else ""),
        "stopped": f"See the response with: preflights log {id_}",
    }.get(session.status, "")


SHOWN: Final = Shown(describe=describe_pass, hint=pass_hint, accept="preflights approve {id}")
