"""Beginning a session of any workflow to which a text is enough."""

from __future__ import annotations

from preflights_cli import answer_options, dialogue
from preflights_cli.common import Voice, finish_pending, is_terminal, tell_name
from preflights_cli.filing import filed
from preflights_cli.rendering import step_said
from preflights_es.runtime.runner import Step
from preflights_es.runtime.sessions import AskedElsewhere, recalled
from preflights_es.services.request import Request


def begin(
    app: Request,
    voice: Voice,
    name: str,
    text: str,
    answers: answer_options.Answers,
    *,
    strict: bool,
    asks: bool,
) -> int:
    """A session of the workflow of that name, and the conversation about it.

    Args:
        answers: in advance.
        asks: whether open questions are asked at a terminal.

    Raises:
        WorkflowMissing: no package has it.
        Refused: it takes more than a text.
    """
    workflow = app.process.runner.workflow(name)
    app.sessions.check(answers)
    if workflow.record is not None:
        app.process.documents.check_folders()
    finish_pending(app, voice)
    tell_name(app, voice)
    step = app.sessions.begin(workflow, text, app.setup(workflow, strict=strict))
    if answers:
        step = app.sessions.answer(step.handle, answers)
    if asks and is_terminal() and not voice.as_json:
        return dialogue.run(app, voice, app.sessions.converse(step))
    if not (recalled(step) or isinstance(step, AskedElsewhere)):
        step = Step(filed(app, voice, step.handle), step.decisions)
    return step_said(voice, step)
