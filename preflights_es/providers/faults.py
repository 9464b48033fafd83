"""What goes wrong, on purpose and reproducibly: faults around any provider and any store.

A provider's fault follows from (seed, prompt, attempt), a store's from (seed, number of the
operation). Both are drawn in domains of their own, so that faults never move a response.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Final, Literal

from msgspec.structs import replace

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import (
    CommitUnknown,
    LLMAPIError,
    LLMRateLimitError,
    LLMTimeoutError,
    StoreUnavailable,
)
from preflights_es.kernel.ports import Provider, Store
from preflights_es.providers.base import LLMProvider
from preflights_es.words.simulation import Draws, begin_draw_key, framed, prompt_of

Fault = Literal["timeout", "error", "rate_limit", "malformed"]

ORDER: Final[tuple[Fault, ...]] = ("timeout", "error", "rate_limit", "malformed")
"""In which the thresholds of one draw follow each other."""

PROMPTS_MAX: Final = 100_000  # prompts whose calls are counted; the oldest is forgotten first
HINTS_MS: Final = (100, 200, 500, 1_000)  # milliseconds; what a rate limit asks to wait


# 1. How much goes wrong ----------------------------------------------------------------------


@dataclass(frozen=True)
class FaultConfig:
    """Probabilities, each from 0.0 to 1.0; those of a provider add up to 1.0 at most (seed 1)."""

    llm_timeout: float = 0.0
    llm_error: float = 0.0
    llm_malformed: float = 0.0
    llm_rate_limit: float = 0.0
    storage_read_error: float = 0.0
    storage_write_error: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value: Any = getattr(self, field.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= 1:
                raise ValueError(f"{field.name} is {value!r}, expected a probability from 0 to 1")
        if (total := self.thresholds()[-1]) > 1:
            raise ValueError(f"the llm faults add up to {total!r}, expected at most 1")

    @classmethod
    def none(cls) -> FaultConfig:
        """Nothing goes wrong."""
        return cls()

    @classmethod
    def chaos(cls) -> FaultConfig:
        """Two calls in five and one operation in twenty go wrong."""
        return cls(
            llm_timeout=0.1,
            llm_error=0.1,
            llm_malformed=0.1,
            llm_rate_limit=0.1,
            storage_read_error=0.05,
            storage_write_error=0.05,
        )

    @classmethod
    def parsed(cls, text: str) -> FaultConfig:
        """From `none`, `chaos`, or pairs such as `timeout=0.2,storage_read_error=0.1`.

        A provider's faults are known with and without `llm_`; empty is `none`.

        Raises:
            ValueError: a fault is unknown, named twice, or its probability is invalid.
        """
        presets = {"": cls.none, "none": cls.none, "chaos": cls.chaos}
        if text.strip() in presets:
            return presets[text.strip()]()
        known = [field.name for field in fields(cls)]
        given: dict[str, float] = {}
        for pair in text.split(","):
            word, equals, number = (part.strip() for part in pair.partition("="))
            name = word if word in known else f"llm_{word}"
            if name not in known or not equals:
                names = ", ".join(one.removeprefix("llm_") for one in known)
                message = f"found {pair.strip()!r}, expected a pair such as timeout=0.2, of {names}"
                raise ValueError(message)
            if name in given:
                raise ValueError(f"{name} is given twice")
            try:
                given[name] = float(number)
            except ValueError as error:
                message = f"{name} is {number!r}, expected a probability from 0 to 1"
                raise ValueError(message) from error
        return cls(**given)

    def text(self) -> str:
        """What `parsed` reads back: the faults that can happen, in the order of the fields."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ",".join(f"{name}={float(value)!r}" for name, value in pairs if value) or "none"

    def thresholds(self) -> tuple[float, ...]:
        """Cumulative, in the order of `ORDER`; the sums are exact, so that ten tenths are one."""
        shares = [getattr(self, f"llm_{fault}") for fault in ORDER]
        return tuple(math.fsum(shares[: i + 1]) for i in range(len(shares)))


# 2. A provider that fails --------------------------------------------------------------------


class FaultyProvider(LLMProvider):
    """Any provider, with faults around it."""

    def __init__(self, provider: Provider, seed: int, faults: FaultConfig) -> None:
        self.name = getattr(provider, "name", type(provider).__name__)
        self.model = getattr(provider, "model", "")
        self.faults = faults
        self._provider = provider
        self._key = begin_draw_key("fault", seed)
        self._thresholds = faults.thresholds()
        self._calls: dict[bytes, int] = {}

    async def respond(self, request: CompletionRequested) -> Completion:
        """What the provider answers, unless this attempt at this prompt draws a fault.

        Raises:
            LLMTimeoutError, LLMAPIError, LLMRateLimitError: as drawn.
        """
        draws = self._draws(request)
        match self._drawn(draws):
            case None:
                return await self._provider.respond(request)
            case "timeout":
                raise LLMTimeoutError("simulated fault: no response within the time allowed")
            case "error":
                raise LLMAPIError("simulated fault: the provider's API failed")
            case "rate_limit":
                hint = draws.pick(HINTS_MS)
                raise LLMRateLimitError(
                    f"simulated fault: too many requests, try again in {hint} ms",
                    retry_after_ms=hint,
                )
            case "malformed":
                completion = await self._provider.respond(request)
                if completion.text is None:
                    return completion
                return replace(completion, text=damage_response_text(completion.text, draws))

    def drawn(self, request: CompletionRequested) -> Fault | None:
        """What would go wrong with a request; asks and counts nothing."""
        return self._drawn(self._draws(request))

    def asked(self, messages: Iterable[Message], attempt: int = 0) -> CompletionRequested:
        """As for any provider; without an attempt, calls with the same prompt are counted."""
        inside = self._provider
        asked = inside.asked if isinstance(inside, LLMProvider) else super().asked
        request = asked(messages, attempt or 1)
        return request if attempt else replace(request, attempt=self._counted(request.messages))

    async def aclose(self) -> None:
        """As the provider inside does."""
        if isinstance(self._provider, LLMProvider):
            await self._provider.aclose()

    def _counted(self, messages: Sequence[Message]) -> int:
        prompt = sha256(prompt_of(messages)).digest()
        count = self._calls.pop(prompt, 0) + 1
        self._calls[prompt] = count
        if len(self._calls) > PROMPTS_MAX:
            del self._calls[next(iter(self._calls))]
        return count

    def _draws(self, request: CompletionRequested) -> Draws:
        root = self._key.copy()
        root.update(prompt_of(request.messages))
        root.update(framed(str(request.attempt)))
        return Draws(root)

    def _drawn(self, draws: Draws) -> Fault | None:
        at = draws.unit()
        pairs = zip(ORDER, self._thresholds, strict=True)
        return next((fault for fault, threshold in pairs if at < threshold), None)


# 3. A response that is damaged ---------------------------------------------------------------

_STRUCTURE: Final = "{[,:"
"""No JSON text ends with one of these, nor with a backslash."""


def damage_response_text(text: str, draws: Draws) -> str:
    """A response as it looks when it was cut or garbled: no JSON parser accepts it.

    Whatever the text is, what is left of it ends with a character that no JSON text ends with; and
    where it holds an object or array, its last bracket is gone, so that no reader finds it whole
    inside. Prose gets an opening brace: it must not pass for a reply in words.
    """
    opened = text.lstrip().startswith(("{", "[", "```"))
    found = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    start, whole = (min(found), text) if opened and found else (0, '{"' + text)
    end = whole.rfind("]" if whole[start] == "[" else "}")
    body = whole[: end if end > start else len(whole)]
    match draws.below(3):
        case 0:  # cut behind a piece of structure
            at = draws.between(start + 1, len(body))
            left = body[: max(body.rfind(piece, start, at) for piece in _STRUCTURE) + 1]
        case 1:  # cut in the middle of an escape
            left = body[: draws.between(start + 1, len(body))] + "\\"
        case _:  # the last bracket opens
            left = body + draws.pick("{[")
    return left if left != text else left + ":"


# 4. A store that fails -----------------------------------------------------------------------

WriteFault = Literal["unavailable", "lost", "unknown"]
WRITE_FAULTS: Final[tuple[WriteFault, ...]] = ("unavailable", "lost", "unknown")
"""Refused before anything was written, or an unknown outcome: nothing was written, or all of it."""


def _operation(name: str, *, writes: bool = False) -> Any:
    """A method of a store that may draw a fault: before it, or behind it where it writes.

    Raises:
        StoreUnavailable: drawn; nothing was read or written.
        CommitUnknown: drawn, of a write; either nothing was written, or everything.
    """

    def method(faulty: FaultyStore, /, *args: Any, **named: Any) -> Any:
        fault = faulty.drawn(name, writes=writes)
        found = getattr(faulty.store, name)(*args, **named)
        if fault is not None:
            said = f"the connection broke while committing ({name}, written)"
            raise CommitUnknown(f"simulated fault: {said}")
        return found

    return method


class FaultyStore:
    """Any store, with faults around it; operations are counted from its making."""

    def __init__(self, store: Store, seed: int, faults: FaultConfig) -> None:
        self.store = store
        self.faults = faults
        self.operations = 0
        """Reads and writes so far."""
        self._key = begin_draw_key("store", seed)

    append = _operation("append", writes=True)
    claim = _operation("claim", writes=True)
    claimed_until = _operation("claimed_until")
    give_back = _operation("give_back", writes=True)
    reopen = _operation("reopen", writes=True)
    read = _operation("read")
    stream = _operation("stream")
    head = _operation("head")
    heads = _operation("heads")
    matching = _operation("matching")
    session_of_input = _operation("session_of_input")
    open_calls = _operation("open_calls")
    calls_of = _operation("calls_of")
    numbers = _operation("numbers")

    def close(self) -> None:
        """Never fails."""
        self.store.close()

    def drawn(self, operation: str, *, writes: bool) -> WriteFault | None:
        """Count an operation; the fault that it draws, where that comes after a write."""
        self.operations += 1
        root = self._key.copy()
        root.update(framed(str(self.operations)))
        draws, faults = Draws(root), self.faults
        if not draws.chance(faults.storage_write_error if writes else faults.storage_read_error):
            return None
        fault = draws.pick(WRITE_FAULTS) if writes else "unavailable"
        where = f"(operation {self.operations}, {operation})"
        if fault == "unavailable":
            verb = "written" if writes else "read"
            raise StoreUnavailable(f"simulated fault: the log cannot be {verb} {where}")
        if fault == "lost":
            said = "the connection broke while committing"
            raise CommitUnknown(f"simulated fault: {said} {where}")
        return fault
