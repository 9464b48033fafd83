"""One HTML file: filters, both sides of each difference, nothing loaded from anywhere."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Final

from msgspec.structs import replace

from preflights_es.features.regress.commands.reports.wording import by_gravity
from preflights_es.features.regress.engine.results import Report
from preflights_es.kernel.json import encoded

DATA_MAX: Final = 20_000_000  # bytes of sessions: a browser opens this in a second or two

_INERT: Final = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"})
"""Within JSON these stand in texts alone: so none ends the element that holds it."""


def render(report: Report) -> str:
    """The page; its policy allows its own script and style, and nothing else."""
    style, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types"
    )
    return Template(_file("page.html")).substitute(
        policy=policy, style=style, script=script, data=_data(report)
    )


def _data(report: Report) -> str:
    """The report, and as many of its sessions as fit: the gravest first."""
    ordered = by_gravity(report) + [case for case in report.cases if case.outcome == "same"]
    cases: list[bytes] = []
    room = DATA_MAX
    for case in ordered:
        line = encoded(case)
        room -= len(line)
        if room < 0:
            break
        cases.append(line)
    head = encoded(replace(report, cases=()))
    data = b'{"report":%b,"cases":[%b],"left_out":%d}' % (
        *(head, b",".join(cases), len(ordered) - len(cases)),
    )
    return data.decode().translate(_INERT)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")
