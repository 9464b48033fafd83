"""What answers a question: given pairs, the reasons, and the documents that follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.events import ArtifactDue, Input
from preflights_es.kernel.lead import WRITERS
from preflights_es.kernel.text import caseless
from preflights_es.records.files import repository_within
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.runner import AskedElsewhere, Handle, RecalledStep, Step
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import refusals, session_of
from preflights_es.words.decisions import StatedReasons
from preflights_es.words.path_patterns import PATTERN_MAX, PATTERNS_MAX, pattern_problem
from preflights_es.words.questions import AnswerRefusal, Opening, Question, Refusal
from preflights_es.words.workflow import View, Workflow

if TYPE_CHECKING:
    from preflights_es.runtime.sessions import Sessions

Pairs = Sequence[tuple[str, Sequence[str]]]
Given = Mapping[str, str | Sequence[str]] | Pairs
"""Values by the key or the label of their question; the key "" is that of the open one. A number
stands for its option, unless an option is called so."""
Asked = Sequence[tuple[str, Question]]
"""Pairs of a field's label and its question."""


def normalize_answer_pairs(given: Given) -> Pairs:
    """Pairs of key and values."""
    if not isinstance(given, Mapping):
        return given
    return [(key, (v,) if isinstance(v, str) else tuple(v)) for key, v in given.items()]


def addressed(given: Pairs, asked: Asked, question: Question | None = None) -> Pairs:
    """The same with keys in place of labels, and options in place of their numbers.

    Args:
        asked: all that can be answered.
        question: the open one, which an answer without a key is for.

    Raises:
        Refused: no question is open, or it has no such option.
    """
    labels = _keys_by_unique_label(asked)
    questions = {one.id: one for _, one in asked}
    found: dict[str, list[str]] = {}
    for name, values in given:
        for value in values or [""]:
            key, text = (name, value) if name else _split_labelled_value(value, labels)
            if key:
                label, *own = key.partition("__")  # in own words, behind the key or the label
                key = (
                    key
                    if key in questions
                    else labels.get(_fold_label(label), label) + "".join(own)
                )
                text = _numbered(questions.get(key), text)
            elif question is None:
                message = f"no question is open that {text!r} could answer: give KEY=VALUE"
                raise Refused(message, code="nothing_asked")
            else:
                key, text = question.id, resolve_option_number(question, text)
            found.setdefault(key, []).extend([text] if values else [])
    return [(key, tuple(texts)) for key, texts in found.items()]


def _keys_by_unique_label(asked: Asked) -> dict[str, str]:
    """Keys by their label, of those labels that one key has."""
    keys: dict[str, set[str]] = {}
    for label, question in asked:
        keys.setdefault(_fold_label(label), set()).add(question.id)
    return {label: min(ids) for label, ids in keys.items() if label and len(ids) == 1}


def _fold_label(label: str) -> str:
    return caseless(label.strip())


def _split_labelled_value(text: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """`LABEL=VALUE`, where a field has this label; any other text is a value as it is."""
    label, equals, value = text.partition("=")
    return (label, value) if equals and _fold_label(label) in labels else ("", text)


def _numbered(question: Question | None, text: str) -> str:
    """The option that a number stands for; any other text itself."""
    try:
        return text if question is None else resolve_option_number(question, text)
    except Refused:
        return text


def resolve_option_number(question: Question, text: str) -> str:
    """The option that a number stands for; any other text itself.

    Raises:
        Refused: the number stands for no option.
    """
    number = text.strip().rstrip(".)")
    if not question.options or not (number.isascii() and number.isdigit()):
        return text
    if number in question.options:
        return number
    if len(number) > 3 or not 1 <= int(number) <= len(question.options):
        raise Refused(
            f"there is no option {number}: give 1 to {len(question.options)}, or "
            f"{question.id}={number} if that is the answer itself",
            code="no_such_option",
            key=question.id,
        )
    return question.options[int(number) - 1]


def asked_in(handle: Handle) -> Asked:
    """All that can be answered in a session: the open questions first."""
    workflow, open_ones = handle.workflow, handle.view.questions
    labelled = workflow.asked.answerable(handle.session.state)
    known = {question.id for _, question in labelled}
    return [*(("", one) for one in open_ones if one.id not in known), *labelled]


def with_taken(
    workflow: Workflow[Any],
    given: Pairs,
    first: Input,
    sanitizer: Sanitizer,
    *,
    refuses: bool = True,
) -> Input:
    """The Input that begins a session, once it is seen that the session would take the answers.

    Where a model leads, its questions are not known yet: then only a key that is no question's at
    all is refused. The answers that count at once stand in the Input, so that it is told of them.

    Args:
        refuses: whether nothing begins with an answer that is not taken. A person at a terminal is
            told, and asked.

    Raises:
        Refused: one would not be taken.
    """
    if not given or workflow.asked.answers is None:
        return first
    begun = kernel.begin(workflow.decider)
    events = (first, *kernel.decide(workflow.decider, begun, first))
    begun = reduce(partial(kernel.evolve, workflow.decider), events, begun)
    asked = workflow.asked.answerable(begun.state)
    pairs_told = addressed(given, asked)
    told, _ = sanitizer.cleaned_answers(pairs_told)
    new = workflow.asked.answers(at=first.at, actor=first.actor, answers=told)
    refused = [
        one for one in kernel.decide(workflow.decider, begun, new) if isinstance(one, Refusal)
    ]
    lead = workflow.led.lead(begun.state)
    if lead is not None and lead.provider not in WRITERS and isinstance(first, Opening):
        first = _with_counting(first, pairs_told, refused, sanitizer)
    if lead is not None:
        keys = {question.id for _, question in asked}
        refused = [one for one in refused if _is_unknown(one, keys)]
    for one in refusals(workflow.name, refused if refuses else (), lambda: asked)[:1]:
        message = f"{one.message}; no session was begun"
        raise Refused(message, code=one.code, key=one.key, expected=one.expected)
    return first


def _with_counting(
    first: Opening, given: Pairs, refused: Sequence[Refusal], sanitizer: Sanitizer
) -> Opening:
    """The Input with those answers of which none is refused before the model is asked."""
    left = {one.key.partition("__")[0] for one in refused if isinstance(one, AnswerRefusal)}
    counting = [(key, texts) for key, texts in given if key.partition("__")[0] not in left]
    if not counting:
        return first
    told, kinds = sanitizer.cleaned_answers(counting)
    redacted = (*getattr(first, "redacted", ()), *kinds)
    return replace(first, answers=told, **({"redacted": redacted} if redacted else {}))


def _is_unknown(one: Refusal, keys: Collection[str]) -> bool:
    """Whether no question has the key; one with a dot may be of the model's own."""
    if not isinstance(one, AnswerRefusal) or one.reason != "unknown_question":
        return False
    key = one.key.partition("__")[0]
    return bool(keys) and key not in keys and "." not in key


def taking(workflow: Workflow[Any], reasons: StatedReasons, sanitizer: Sanitizer) -> type[Input]:
    """The Input that takes these reasons.

    Raises:
        Refused: a session of the workflow takes none, or a text cannot be recorded.
    """
    if workflow.asked.reasons is None:
        message = f"a session of the workflow {workflow.name} takes no reasons"
        raise Refused(message, code="no_reasons", workflow=workflow.name)
    _check_reach(workflow, reasons)
    fields = sanitizer.cleaned_fields(workflow.asked.reasons, stated_reason_fields(reasons))
    if reasons.paths and fields["paths"] != reasons.paths:  # what is left would match other files
        message = "a path holds what looks like a secret: name a pattern without it"
        raise Refused(message, code="unfit_pattern")
    return workflow.asked.reasons


def stated_reason_fields(reasons: StatedReasons) -> dict[str, Any]:
    """The fields of an Input that takes reasons, without those that are not said."""
    said = msgspec.structs.asdict(reasons)
    return {name: value for name, value in said.items() if value is not UNSET}


def _check_reach(workflow: Workflow[Any], reasons: StatedReasons) -> None:
    """Refuse what says nowhere where a decision holds.

    Raises:
        Refused: a pattern is invalid, there are too many, or such a session holds for no files.
    """
    if reasons.paths is UNSET and reasons.hold is UNSET:
        return
    if workflow.asked.reasons and "paths" not in workflow.asked.reasons.__struct_fields__:
        message = f"a session of the workflow {workflow.name} holds for no files"
        raise Refused(message, code="no_reach", workflow=workflow.name)
    paths = reasons.paths or ()
    if len(paths) > PATTERNS_MAX:
        message = f"found {len(paths)} patterns of paths, expected at most {PATTERNS_MAX}"
        raise Refused(message, code="too_many_patterns")
    for pattern in paths:
        if why := pattern_problem(pattern):
            raise Refused(f"the path {pattern[:PATTERN_MAX]!r} {why}", code="unfit_pattern")


def submit_reasons(
    sessions: Sessions,
    handle: Handle,
    reasons: StatedReasons,
    expect: int | None = None,
    by: str | None = None,
) -> Step:
    """Record reasons in a session.

    Args:
        by: the person who accepts, where the caller passes their word on.
        expect: the version at which the session was shown.

    Raises:
        SessionMoved: it is at another version.
        Refused: it takes no reasons any more, or a text cannot be recorded.
    """
    cls = taking(handle.workflow, reasons, sessions.sanitizer)
    said = stated_reason_fields(reasons)
    return sessions.submitted(handle, cls, said, expect=expect, by=by)


def with_reasons(
    sessions: Sessions, step: Step, reasons: StatedReasons | None, by: str | None = None
) -> Step:
    """The step, and behind it what the reasons came to, whatever became of the answers."""
    if reasons is None:
        return step
    after = submit_reasons(sessions, step.handle, reasons, by=by)
    return replace(step, handle=after.handle, decisions=(*step.decisions, *after.decisions))


def finish_due_documents(request: Request, step: Step) -> View:
    """The session after its documents were written, and those that its step left to others.

    Raises:
        PreflightsError: the document cannot be written; the decision stands all the same.
    """
    handle = step.handle
    is_due = any(isinstance(call, ArtifactDue) for call in handle.session.calls)
    is_due = is_due or bool(handle.view.hashes)  # the session's file goes on with it
    is_ours = handle.project == request.process.project  # else that project writes them
    if is_due and is_ours and not isinstance(step, RecalledStep | AskedElsewhere):
        _notice_repository(request, handle)
        try:
            step = Step(request.process.documents.finish(handle), step.decisions)
        except PreflightsError:
            text = "it is recorded; the next command writes its document"
            request.notice("document_later", text)
            raise
        request.finish_pending()
        if not handle.view.hashes:  # its first document
            _notice_folder(request, step)
    return with_signature(request.process, session_of(step, request.notices))


def with_signature(process: Process, view: View) -> View:
    """A session of a log, with what accepting it will stop, or what its signature proves."""
    if getattr(view, "patch", None) is not None and view.can_accept:
        view = FEATURES.port("with_gate")(process, view)
    bears = getattr(view, "acknowledged_by", None) or getattr(view, "changed_at", None)
    return replace(view, signature=process.acceptance(view.session_id)) if bears else view


def _notice_repository(request: Request, handle: Handle) -> None:
    """Say before a document is written that it will lie in a submodule."""
    root = request.process.settings.root
    dues = [call for call in handle.session.calls if isinstance(call, ArtifactDue)]
    for due in dues[:1]:
        if within := repository_within(root, due.path.rpartition("/")[0]):
            text = f"{due.path} lies in {within}, a repository of its own: commit it there"
            request.notice("in_submodule", text, path=due.path, repository=within)


def _notice_folder(request: Request, step: Step) -> None:
    """Say with the first record where records were found, where no file says it."""
    process = request.process
    places = process.record_places
    if places.new_by == "settings":
        return
    if list(process.store.numbers(process.project).values()) == [step.handle.session_id]:
        said = {".adr-dir": ", as .adr-dir says", "default": ""}
        why = said.get(places.new_by, ", where this project has records")
        text = f"Records go to {places.new}{why}; `decisions` in preflights.toml changes that"
        request.notice("folder_found", text, folder=places.new)
