"""Which settings files of a repository a person trusts: remembered by path and digest, elsewhere.

A repository's file may come from a stranger. `settings.fields` marks the keys that it may
set only when a person trusts exactly this file, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import SettingsError, StoreUnavailable
from preflights_es.kernel.text import shortened
from preflights_es.settings.file import (
    FILE_MAX,
    HELD_BACK,
    PROVIDERS,
    FileSettings,
    Source,
    held_back,
)
from preflights_es.settings.places import OWN, beside, config_folder
from preflights_es.system.files import Unreadable, regular, replace_private

LIST: Final = "trusted.json"
FORMAT: Final = "trusted/1"

State = Literal["trusted", "changed", "missing", "unknown"]


def believed(told: FileSettings, said: Collection[str], env: Mapping[str, str]) -> FileSettings:
    """What holds of a repository's file.

    Args:
        said: keys for which an option or a variable says another value; these need no trust.

    Raises:
        SettingsError: it sets another key that needs trust, and no person trusts this file.
    """
    source = told.source
    asked = [key for key in held_back(told) if key.name not in said]
    if not asked:
        # A provider stays: it is never heard, but its model and address belong to it.
        unheard = [name for name in HELD_BACK if name in said and name not in PROVIDERS]
        heard = {key: value for key, value in told.values.items() if key not in unheard}
        return replace(told, values=heard)
    state = Trusted.of(env).state(source)
    if state == "trusted":
        return told
    if any(key.name == "database" for key in asked):
        beside(source, told.values["database"])  # what no trust allows is said first
    found = "this file changed since you trusted it" if state == "changed" else "not trusted"
    folder = config_folder(env)
    own = str(folder / OWN) if folder else "a settings file of your own"
    raise source.wrong((asked[0].name,), found, "file_not_trusted", own=own)


def hidden(value: str) -> str:
    """A value as a person is asked about it: without what may be a password in an address."""
    return re.sub(r"(?s)\?.*", "?***", re.sub(r"(?s)//[^/]*@", "//***@", value))


class Trusted:
    """The list of trusted files; it lies in the user's own folder, outside of any repository."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files = self._read()
        """Digests by absolute path, links followed."""

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Trusted:
        """The user's list.

        Raises:
            SettingsError: it cannot be read, or the environment names no folder for it.
        """
        if (folder := config_folder(env)) is None:
            raise SettingsError("the list of trusted files has no folder: set HOME")
        return cls(folder / LIST)

    def state(self, source: Source) -> State:
        """Whether a person trusts what was read of a file."""
        return self._state(self.files.get(_real(source.path)), source.text.encode())

    def states(self) -> list[tuple[str, State]]:
        """Pairs of path and state, of every file on the list as it is now."""
        return [(path, self._state(self.files[path], _now(path))) for path in sorted(self.files)]

    def _state(self, digest: str | None, content: bytes | None) -> State:
        if digest is None:
            return "unknown"
        if content is None:
            return "missing"
        return "trusted" if sha256(content).hexdigest() == digest else "changed"

    def remember(self, source: Source) -> None:
        """Trust what was read of a file, and nothing that it may hold by now.

        Raises:
            StoreUnavailable: the list cannot be written.
        """
        self._change(_real(source.path), sha256(source.text.encode()).hexdigest())

    def forget(self, path: Path) -> bool:
        """Take a file off the list; False where it is not on it.

        Raises:
            StoreUnavailable: the list cannot be written.
        """
        name = _real(path)
        return name in self.files and self._change(name, None)

    def _change(self, name: str, digest: str | None) -> bool:
        """Change one file of the list as it is now; False where it is that way already."""
        from preflights_es.records.files import alone

        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with alone(self._path.parent):  # of two that read and write, none loses the other's
                before = self._read()
                others = {file: known for file, known in before.items() if file != name}
                self.files = others if digest is None else {**others, name: digest}
                if self.files != before:
                    content = json.dumps({"format": FORMAT, "files": self.files}, indent=1) + "\n"
                    replace_private(self._path, content.encode())
                return self.files != before
        except OSError as error:
            raise StoreUnavailable(
                f"{self._path} cannot be written: {error.strerror or error}"
            ) from error

    def _read(self) -> dict[str, str]:
        try:
            data: Any = json.loads(regular(self._path, FILE_MAX))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (Unreadable, ValueError, RecursionError) as error:
            raise self._wrong(shortened(str(error), 200)) from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise self._wrong(f"expected the format {FORMAT}")
        try:
            return msgspec.convert(data.get("files"), dict[str, str])
        except msgspec.ValidationError as error:
            raise self._wrong(str(error)) from error

    def _wrong(self, found: str) -> SettingsError:
        message = f"{self._path} is not a list of trusted files: {found}: delete it"
        return SettingsError(message, code="trust_list_damaged")


def _real(path: Path) -> str:
    return str(path.resolve())


def _now(path: str) -> bytes | None:
    try:
        return regular(Path(path), FILE_MAX)
    except (OSError, Unreadable):
        return None
