"""`plan`: a command for each pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from preflights_cli import dialogue
from preflights_cli.commands import Lazy
from preflights_cli.common import (
    Voice,
    creating_command,
    current_folder,
    is_terminal,
    key_option,
    require_quoted_text,
    with_lead_options,
)
from preflights_cli.rendering import say_session_result
from preflights_es.features.compiler.domain.values import PassName
from preflights_es.features.compiler.use import sessions
from preflights_es.use.request import Request


@click.command(cls=Lazy, under="plan")
def plan_command() -> None:
    """Make structured plans from documents, pass by pass.

    A model answers one artifact. You approve it; the next pass reads only what is approved. Without
    a model (--provider mock, the default) a pass gives the smallest artifact that meets its schema.

    \b
    Examples:
      preflights init --plans
      preflights plan project
      preflights plan architecture --use docs/adr/0001-log.md
      preflights plan impl src/billing.py --provider anthropic
    """


Command = Callable[..., int]

_OPTIONS: Final[tuple[Callable[[Command], Command], ...]] = (
    click.option(
        "--use", multiple=True, metavar="ID|FILE", help="Also read an artifact or a document."
    ),
    click.option("--no-input", is_flag=True, help="Stop at a question with exit code 3."),
    key_option,
    with_lead_options,
    creating_command,
)


def _passing(command: Command) -> Command:
    """The options of every pass."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_passing
def project_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan domains and modules from the requirements, the constraints and the glossary.

    `preflights init --plans` writes starters of these documents.

    \b
    Examples:
      preflights plan project --provider anthropic
      preflights plan project --use docs/interviews.md
    """
    return _run_pass_command(app, voice, "project", **options)


@click.command()
@_passing
def architecture_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan layers and rules from the constraints and the approved ProjectPlan.

    \b
    Examples:
      preflights plan architecture
      preflights plan architecture --provider openai --json
    """
    return _run_pass_command(app, voice, "architecture", **options)


@click.command()
@_passing
def scaffold_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan the files from the approved ProjectPlan and ArchitecturePlan.

    \b
    Examples:
      preflights plan scaffold
      preflights plan scaffold --json
    """
    return _run_pass_command(app, voice, "scaffold", **options)


@click.command()
@_passing
def tests_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan the tests from the requirements and the approved plans so far.

    \b
    Examples:
      preflights plan tests
      preflights plan tests --provider anthropic
    """
    return _run_pass_command(app, voice, "test", **options)


@click.command()
@click.argument("file")
@_passing
def impl_command(app: Request, voice: Voice, file: str, **options: Any) -> int:
    """Plan the implementation of one file, from the approved TestPlan and ScaffoldPlan.

    FILE is the only source file that is read. It may be missing where the ScaffoldPlan names it.

    \b
    Examples:
      preflights plan impl src/billing.py
      preflights plan impl src/billing.py --json
    """
    root = app.process.settings.root
    return _run_pass_command(app, voice, "implementation", target=_from_root(root, file), **options)


@click.command()
@click.argument("goal", nargs=-1, required=True, callback=require_quoted_text)
@_passing
def refactor_command(app: Request, voice: Voice, goal: str, **options: Any) -> int:
    """Plan a refactoring, from the approved ArchitecturePlan and the locked TestPlan.

    \b
    Examples:
      preflights plan refactor "Move src/billing.py to src/domain/billing.py"
    """
    return _run_pass_command(app, voice, "refactor", goal=goal, **options)


def _run_pass_command(
    app: Request,
    voice: Voice,
    name: PassName,
    *,
    use: Sequence[str],
    no_input: bool,
    target: str = "",
    goal: str = "",
) -> int:
    """Run a pass."""
    root = app.process.settings.root
    use = [_from_root(root, one) if os.path.lexists(one) else one for one in use]
    wanted = sessions.WantedPass(name, target, goal, use)
    found = sessions.run_pass(app, wanted)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run_dialogue(app, voice, found)
    return say_session_result(voice, found)


def _from_root(root: os.PathLike[str], typed: str) -> str:
    """A path that was typed in the current folder, as the project's root has it."""
    if not typed.strip() or "\0" in typed:
        return typed
    return os.path.relpath(os.path.join(current_folder(), typed), root)
