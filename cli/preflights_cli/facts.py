"""`facts`: what the repository says of itself."""

from __future__ import annotations

from typing import Final

import click

from preflights_cli.common import Voice, reading_command
from preflights_es.kernel.text import escaped_text
from preflights_es.use.facts.facts import Facts, read_known_facts
from preflights_es.use.request import Request

SHOWN_MAX: Final = 30  # packages that stand for no known product


@click.command()
@reading_command
def facts_command(app: Request, voice: Voice) -> int:
    """Show what the repository says of itself: packages, images, languages, CI, README.

    A session begins with these facts: a question offers first what is here already, and a model
    that leads sees them. Files are read within limits; links are not followed; of a URL nothing is
    kept but the package's name.

    \b
    Examples:
      preflights facts
      preflights facts --json
    """
    found = read_known_facts(app)
    voice.json(found)
    if not voice.as_json:
        _say_facts(voice, found)
    return 0


def _say_facts(voice: Voice, found: Facts) -> None:
    known = [one for one in found.technologies if one.product]
    others = [one for one in found.technologies if not one.product]
    lines = [("README", found.readme)]
    lines += [("Languages", ", ".join(f"{one.name} {one.files}" for one in found.languages))]
    lines += [("CI", ", ".join(found.ci))]
    lines += [("Products", ", ".join(f"{one.product} ({one.name}, {one.path})" for one in known))]
    more = f", and {len(others) - SHOWN_MAX} more" if len(others) > SHOWN_MAX else ""
    lines += [("Packages", ", ".join(one.name for one in others[:SHOWN_MAX]) + more)]
    lines += [("Records", "; ".join(found.records))]
    lines += [("Not read", f"{one.path}: {one.why}") for one in found.not_read]
    said = [(name, text) for name, text in lines if text]
    if not said:
        voice.say("This folder says nothing of itself: no list of packages, no README, no code.")
    for name, text in said:
        voice.say(f"{name + ':':<11} {escaped_text(text)}")
