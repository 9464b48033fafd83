"""What a command records happens once, however often the command runs under one key."""

from __future__ import annotations

from hashlib import sha256

from preflights_es.core import ids
from preflights_es.core.errors import Refused
from preflights_es.core.events import Input
from preflights_es.runtime.runner import Runner, Step


class Once:
    """The Inputs of one command, counted: the key and its place are the id of each."""

    def __init__(self, runner: Runner, project: str, key: str = "") -> None:
        """Args:
        key: of the caller's choosing; without one every Input is new.
        """
        self._runner = runner
        self._project = project
        self._key = key
        self._count = 0
        self._next = ""

    def before(self, cls: type[Input], **same: object) -> Step | None:
        """What came of the next Input, where it was recorded under this key before.

        Args:
            same: what the Input says.

        Raises:
            Refused: the key was used for something else.
        """
        if not self._key:
            return None
        self._count += 1
        self._next = self._id(self._count)
        found = self._runner.recorded(self._next)
        if found is None:
            return None
        new, step = found
        if type(new) is not cls or any(getattr(new, name) != value for name, value in same.items()):
            raise Refused(
                f"the key {self._key!r} was used for something else, in session "
                f"{ids.short(step.handle.session_id)}: choose a new one"
            )
        return step

    def next_is(self, cls: type[Input]) -> bool:
        """Whether an Input of that kind is recorded already for what comes next."""
        found = self._runner.recorded(self._id(self._count + 1)) if self._key else None
        return found is not None and isinstance(found[0], cls)

    def _id(self, count: int) -> str:
        named = f"{self._project}\0{self._key}\0{count}".encode()
        return f"key-{sha256(named).hexdigest()[:32]}"

    def input_id(self) -> str:
        """The id of the next Input: what `before` has looked for, or a new one."""
        given, self._next = self._next, ""
        return given or self._runner.new_id()
