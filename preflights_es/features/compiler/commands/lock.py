"""`lock`: the test files of a TestPlan stay as they are."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.commands import Lazy
from preflights_cli.common import Voice, by_option, common, key_option, reading
from preflights_cli.progress import counted
from preflights_cli.rendering import said
from preflights_es.features.compiler.use.locking import lock_tests, verify_lock
from preflights_es.kernel.ids import SHORT
from preflights_es.kernel.text import shown
from preflights_es.use.request import Request


@click.command(cls=Lazy, under="lock")
def lock_command() -> None:
    """Lock the tests of a TestPlan, or verify that they are as they were locked.

    \b
    Examples:
      preflights lock tests
      preflights lock verify
    """


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@by_option
@key_option
@common
def tests_command(id_: str | None, by: str | None, app: Request, voice: Voice) -> int:
    """Lock the approved TestPlan: record the SHA-256 of each test file of its ScaffoldPlan.

    If a test file is missing, nothing is locked. The new lock replaces the former one.
    Without ID it locks the one that is approved.

    \b
    Examples:
      preflights lock tests
      preflights lock tests 3f9a12c4 --by "Ada Lovelace"
    """
    return said(voice, lock_tests(app, id_, by=by))


@click.command()
@reading
def verify_command(app: Request, voice: Voice) -> int:
    """Name each locked test file that changed or is gone; exit code 1 if one is.

    \b
    Examples:
      preflights lock verify
      preflights lock verify --json
    """
    app.finish_pending()
    found = verify_lock(app)
    voice.json(found)
    for one in found.files:
        if one.state != "same":
            voice.say(f"{one.state:<7}  {shown(one.path)}")
    if found.holds:
        files = counted(len(found.files), "test file")
        voice.say(f"{files} as locked with the TestPlan {found.id[:SHORT]}.")
    return 0 if found.holds else EXIT_REFUSED
