"""`recall`: what was decided about something."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, key_option, language_option, led, recording, whole
from preflights_cli.rendering import said
from preflights_es.features.recall.use.sessions import learn, recall
from preflights_es.use.request import Request


@click.command()
@click.argument("question", nargs=-1, metavar="QUESTION", callback=whole)
@click.option("--all", "everything", is_flag=True, help="Also decisions that match weakly.")
@click.option(
    "--learn",
    "decision",
    metavar="UID",
    help="Ask the model for more words by which this decision is found.",
)
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not go on with the rules."
)
@language_option
@key_option
@led
@recording
def recall_command(
    question: str | None,
    everything: bool,
    decision: str | None,
    strict: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Ask what was decided; the decisions that match are shown, the best first.

    Decisions are found by their words: values, title, intention, reasons, and options that were
    turned down, in English and German. Superseded ones are marked. What nothing fits gets nothing.
    With --provider, a model rewrites the question into at most three queries.

    With --learn, a model names other words of one decision. They are marked, and weigh less.

    \b
    Examples:
      preflights recall "what do we use for login?"
      preflights recall "welche Datenbank?" --all
      preflights recall "caching" --json
      preflights recall --learn ADR-0003 --provider anthropic
    """
    if decision is not None:
        if question or everything:
            raise click.UsageError("--learn takes a decision alone, without a question or --all")
        return said(voice, learn(app, decision, strict=strict))
    if question is None:
        raise click.UsageError("Missing argument 'QUESTION'.")
    return said(voice, recall(app, question, everything=everything, strict=strict))
