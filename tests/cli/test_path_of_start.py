"""How much of the program one accepted decision runs through: a reader has to follow it."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Final

from preflights_es.runtime.features import FOLDER
from tests.cli.program import Project
from tests.markdown import ROOT

FUNCTIONS_MAX: Final = 850
FILES_MAX: Final = 91
"""Of ours. They may rise in a commit that says what a reader gets for it."""


WORDS: Final = ("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept")


def test_one_accepted_decision_runs_through_few_files(house: Project, colleague: Project) -> None:
    assert colleague.call(*WORDS).code == 0, (
        "what is imported and kept by the first one does not count"
    )
    ran = set[CodeType]()
    ours = (FOLDER.removesuffix("features"), str(ROOT / "cli" / "preflights_cli"))

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ours):
            ran.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        done = house.call(*WORDS)
    finally:
        sys.setprofile(before)
    assert done.code == 0, done.err
    functions = {code for code in ran if not code.co_name.startswith("<")}
    files = {code.co_filename for code in functions}
    assert 300 < len(functions) <= FUNCTIONS_MAX, len(functions)
    assert 30 < len(files) <= FILES_MAX, len(files)
