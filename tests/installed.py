"""Packages as an installer leaves them in a folder, and how a program finds them there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TOY: Final = (
    "from preflights_es.kernel.feature import Feature\n"
    "from tests.toy import WORKFLOW\n"
    "FEATURE = Feature('toy', __name__, workflow=':WORKFLOW')\n"
)
"""A module that brings the toy."""


def installed(
    folder: Path, package: str, points: dict[str, str], modules: dict[str, str] | None = None
) -> Path:
    """A package with its metadata.

    Args:
        points: entry points of the group of features, by name.
        modules: files of the package, by path.
    """
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    said = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[preflights.features]\n{said}")
    for path, text in (modules or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
