"""The picture of the front page is what the demo prints today."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.markdown import ROOT


@pytest.mark.slow("whole runs")
def test_the_picture_is_what_its_script_draws() -> None:
    code = "import picture; print(picture.drawn(picture.printed()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True
    )
    assert done.stdout == (ROOT / "docs" / "demo.svg").read_text("utf-8"), (
        "draw it anew: python docs/picture.py"
    )
    assert "url(http" not in done.stdout  # no font of another server
