"""The places that say settings, in order, and what the first of them says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import shortened
from preflights_es.settings.fields import FIELDS
from preflights_es.settings.file import FileSettings, Source


class Layer(msgspec.Struct, frozen=True):
    """One of the places."""

    values: Mapping[str, Any]
    """By the setting's name; only what is said."""
    called: Callable[[str], str]
    """What the place calls a setting."""
    file: Source | None = None

    def wrong(self, name: str, found: str) -> SettingsError:
        """What is wrong with a setting of this place."""
        if self.file is not None:
            return self.file.wrong((self.called(name),), found)
        return SettingsError(f"{self.called(name)}: {found}")


class FoundSetting(msgspec.Struct, frozen=True):
    """What a place says."""

    value: Any
    layer: Layer
    name: str

    def wrong(self, expected: str) -> SettingsError:
        """What is said and what should be."""
        value = shortened(safe(self.value), 60) if isinstance(self.value, str) else self.value
        return self.refused(f"found {value!r}, expected {expected}")

    def refused(self, found: str) -> SettingsError:
        """What is wrong with it."""
        return self.layer.wrong(self.name, found)


class Layers(tuple[Layer, ...]):
    """All places, the first to be heard first."""

    __slots__ = ()

    def first(self, name: str) -> FoundSetting | None:
        """What the first place that says a setting says."""
        return next(
            (FoundSetting(one.values[name], one, name) for one in self if name in one.values), None
        )


def outside(options: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[Layer]:
    """Options and variables: what needs no trust."""
    called = {"actor": "--as"}
    yield Layer(_said(options), lambda name: called.get(name, f"--{name.replace('_', '-')}"))
    for names in _OURS, _SEEDS:
        values = {name: env.get(variable) or None for name, variable in names.items()}
        yield Layer(_said(values), names.__getitem__)


def within(files: Sequence[FileSettings]) -> Iterator[Layer]:
    """What files say, each by our names first."""
    for told in files:
        seeds = {name: told.values.get(also) for name, also in _SEEDS.items()}
        yield Layer(told.values, str, told.source)
        yield Layer(_said(seeds), _SEEDS.__getitem__, told.source)


def safe(text: str) -> str:
    """A text without a key, which people put into the wrong variable, too."""
    from preflights_es.redaction.masking import redact

    return redact(text).text


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


_OURS = {one.name: one.read_from for one in FIELDS if one.read_from}
_SEEDS = {one.name: one.also for one in FIELDS if one.also}
