"""The project stays below its ceiling."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.house.ceiling import FILE, SLACK, code_line_count, found


def test_the_project_stays_below_its_ceiling() -> None:
    ceiling = tomllib.loads(FILE.read_text())
    stands = found()
    assert ceiling.keys() == stands.keys()
    above = {name: number for name, number in stands.items() if number > SLACK * ceiling[name]}
    assert not above, f"{above}, and the ceiling is {ceiling}"


def test_a_line_of_code_is_neither_blank_nor_said(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Two lines\nof a docstring."""\n\nimport a\nfrom b import (\n    c,\n)\n\n'
        '# why\nx = """\ny\n"""\n'
        'def f():\n    """Says it."""\n    return x  # x\n'
    )
    assert code_line_count(module) == 5
