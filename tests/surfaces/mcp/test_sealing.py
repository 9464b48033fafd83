"""The key that seals questions: ours alone, and the same after a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from preflights_es.settings.load import load_settings
from preflights_es.surfaces.mcp.server import key
from tests.cli.program import Project

KNOWN = b"k" * 32


def linked(at: Path) -> None:
    at.with_name("known").write_bytes(KNOWN)
    at.with_name("known").chmod(0o600)
    at.symlink_to("known")


def readable(at: Path) -> None:
    at.write_bytes(KNOWN)
    at.chmod(0o644)


def cut(at: Path) -> None:
    at.write_bytes(KNOWN[:-1])
    at.chmod(0o600)


@pytest.mark.parametrize("spoil", [linked, readable, cut])
def test_a_key_that_others_know_or_that_is_cut_gives_way(
    shop: Project, spoil: Callable[[Path], None]
) -> None:
    settings = load_settings(shop.folder)
    first = key(settings)
    assert key(settings) == first
    at = shop.log.parent / "mcp.key"
    at.unlink()
    spoil(at)
    second = key(settings)
    assert second not in (first, KNOWN)
    assert key(settings) == second, "a restart goes on with it"
    assert (at.is_symlink(), at.stat().st_mode & 0o777) == (False, 0o600)


def test_where_no_key_can_be_kept_the_process_has_its_own(shop: Project) -> None:
    settings = load_settings(shop.folder)
    (shop.log.parent / "mcp.key").mkdir(parents=True)
    assert key(settings) != key(settings)
