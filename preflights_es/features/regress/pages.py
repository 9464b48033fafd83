"""Reports as pages: what may run in one, and which of them lie in a project."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from preflights_es.system.files import Unreadable, open_folder_below

FOLDERS: Final = ("", "replays")
"""Where reports are looked for, below the project's root."""
FOUND_MAX: Final = 50  # reports of a folder
HEAD: Final = 2_000  # bytes in which a page says its policy
SIZE_MAX: Final = 64 * 1024 * 1024  # bytes of a page


@cache
def policy() -> str:
    """What a page of this version allows: its own script and style, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash_for_policy(read_page_source('page.js'))}'; "
        f"style-src '{_hash_for_policy(read_page_source('page.css'))}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types"
    )


def read_page_source(name: str) -> str:
    """A file that pages are made of."""
    return (Path(__file__).parent / "data" / name).read_text("utf-8")


def _hash_for_policy(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def reports(root: Path) -> tuple[str, ...]:
    """Paths of the pages that this version wrote in a project, in order; links are no pages."""
    return tuple(path for folder in FOLDERS for path in sorted(_in(root, folder)))


def read_report_page(root: Path, path: str) -> bytes | None:
    """One of them; None where the path is of no such page."""
    if path not in reports(root):
        return None
    folder, _, name = path.rpartition("/")
    with (
        suppress(OSError, Unreadable),
        open_folder_below(root, [folder] if folder else []) as place,
    ):
        return place.content(name, SIZE_MAX)
    return None


def _in(root: Path, folder: str) -> Iterator[str]:
    said = f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'.encode()
    with suppress(OSError), open_folder_below(root, [folder] if folder else []) as place:
        names = sorted(name for name in place.names() if name.endswith(".html"))
        for name in names[:FOUND_MAX]:
            with suppress(OSError, Unreadable):
                if said in place.beginning(name, HEAD):
                    yield f"{folder}/{name}" if folder else name
