"""What is shown of a session: a workflow derives it from the state, the house adds the rest.

A view is what `--json` prints and what the Python API returns; it is stored nowhere.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Actor, Growing, Value, WrittenFile
from preflights_es.words.questions import Question
from preflights_es.words.signing import Signed


class RefusedAnswer(Value, frozen=True, kw_only=True):
    """An answer that was recorded and does not count; the question is still open."""

    key: str
    reason: str
    """As in `words.questions.RefusalReason`."""
    message: str
    """The same in words."""

    @property
    def code(self) -> str:
        """The reason, by the name that every refusal has for it."""
        return self.reason


class NotDone(Value, frozen=True, kw_only=True):
    """What a call asked for and the session did not do; it is recorded all the same."""

    code: str
    message: str
    key: str | None = None
    """Of an answer: what it should have answered."""
    expected: tuple[str, ...] = ()
    """Keys that would be taken, where the key was the trouble."""


class ErasedBy(Value, frozen=True, kw_only=True):
    """When, by whom and why a session was erased."""

    at: int
    by: Actor
    reason: str


class View(Value, frozen=True, kw_only=True):
    """How a session stands; a workflow adds the fields of its own.

    `shape` is what `--json` prints: `HEAD`, what the workflow adds, and `TAIL`.
    """

    FORMAT: ClassVar[str] = "any-session/1"
    """The name and version of its JSON; a view that gives none has `ANY` of it printed."""
    SHAPE: ClassVar[tuple[str, ...]] = ()
    """What the workflow adds to the JSON; the fields that its class declares where it is empty."""
    UNCOMPARED: ClassVar[frozenset[str]] = frozenset()
    """Fields that say nothing of what a session comes to: no report compares them."""

    # From the state
    status: str
    """One word of the workflow's own for where it stands; the house has others for all sessions."""
    intention: str
    """What the session is about."""
    scope: str = ""
    """What it is for, where that is said beside the intention; empty for the whole project."""
    topic: str = ""
    """The category that the intention leads to, where a pack knows it; empty without one."""
    questions: tuple[Question, ...] = ()
    """What is asked, the first of them now."""
    progress: float = 0.0
    """0.0 to 1.0."""
    written: WrittenFile | None = None
    """The document as it was written last."""
    hashes: tuple[str, ...] = ()
    """SHA-256 of every document that was written for the session, in hexadecimal."""
    warnings: tuple[str, ...] = ()
    """What a person has to know of the session."""
    to_do: str = ""
    """What a person has to do next, in a few words; empty where nothing waits for a person."""
    can_accept: bool = False
    """Whether a person can accept what is proposed."""
    ended: str = ""
    """Why nothing can be answered any more, and what to do instead; empty while it can."""
    origin: str = ""
    """Who asked elsewhere, and what came of it, in a few words; empty where it began here."""

    # From the house
    session_id: str = ""
    workflow: str = ""
    project: str = ""
    version: int = 0
    """How many events it has."""
    labels: tuple[tuple[str, str], ...] = ()
    """Pairs of key and label, of what is asked; a label works wherever its key does."""
    number: int | None = None
    """Of its record."""
    refusals: tuple[NotDone, ...] = ()
    """What this call asked for and was not done, the refused answers among it."""
    notices: tuple[Notice, ...] = ()
    """What a person has to know of this call."""
    asking: str = ""
    """Who asks the provider meanwhile, where that is another process."""
    is_recalled: bool = False
    """Whether the call was made before, under the same key, and the session went on since."""
    erased: ErasedBy | None = None
    """Only of an erased session that is looked at."""
    signature: Signed | None = None
    """What the signature of a person's acceptance proves; None without one."""

    @property
    def format(self) -> str:
        """The name and version of its JSON."""
        return self.FORMAT

    @property
    def view(self) -> Self:
        """Itself, for programs that ask a session for its view."""
        return self

    @property
    def document(self) -> str | None:
        """Path of its document, relative to the project's root."""
        return self.written.path if self.written else None

    @property
    def refused(self) -> tuple[RefusedAnswer, ...]:
        """Of the answers of this call."""
        return tuple(
            RefusedAnswer(key=one.key, reason=one.code, message=one.message)
            for one in self.refusals
            if one.key is not None
        )

    @property
    def not_done(self) -> bool:
        """Whether something that this call asked for was not done."""
        return bool(self.refusals)

    @property
    def failed(self) -> bool:
        """Whether it ended without what it was for."""
        return False

    def shape(self) -> dict[str, Any]:
        """The versioned JSON."""
        kind = type(self)
        own = ANY if kind.FORMAT == View.FORMAT else kind.SHAPE or tuple(kind.__annotations__)
        return {name: getattr(self, name) for name in (*HEAD, *own, *TAIL)}


HEAD: Final = ("format", "session_id", "workflow", "project", "version", "status", "questions")
ANY: Final = ("intention", "progress")
TAIL: Final = ("refused", "warnings")


def taken_out(kinds: Growing[str]) -> tuple[str, ...]:
    """The warning about secrets that were not recorded; nothing where there were none."""
    if not kinds:
        return ()
    what = "1 secret was" if len(kinds) == 1 else f"{len(kinds)} secrets were"
    return (f"{what} taken out before recording ({', '.join(dict.fromkeys(kinds))})",)
