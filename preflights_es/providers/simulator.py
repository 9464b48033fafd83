"""The deterministic simulator (docs/simulator.md): the same seed and prompt, the same response, and
faults around any provider and any store. It has no clock, chance, environment, file or network
below it; the routes stay in `simulator_bank`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
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
from preflights_es.providers.base import (
    DIRECT,
    LLMProvider,
    contract_for,
    decode_completion_text,
    judge_response_value,
    require_spoken_messages,
)
from preflights_es.providers.simulator_bank import FIVE, GENERIC, WORD, instruction_of
from preflights_es.words.simulation import (
    GENERATION,
    Bank,
    Draws,
    Route,
    begin_draw_key,
    framed,
    prompt_of,
)

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
                message = f"{field.name} is {value!r}, expected a probability from 0 to 1"
                raise ValueError(message)
        if (total := self.thresholds()[-1]) > 1:
            message = f"the llm faults add up to {total!r}, expected at most 1"
            raise ValueError(message)

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
                message = f"{name} is given twice"
                raise ValueError(message)
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


CACHED: Final = 256  # instructions whose route is remembered
CACHED_MAX: Final = 16_384  # characters of an instruction that is remembered

ROUTE: Final = "route"
"""The parameter of a request by which a caller names a route."""

_ENDINGS = "s|es|d|ed|ing|er|ers|or|ors|ion|ions"
_Matcher = Callable[[str], bool]


class Router:
    """The first route of a table that a prompt asks for."""

    def __init__(self, bank: Bank, default: str) -> None:
        self._bank = bank
        self._default = default
        self._table = [(name, matcher(route)) for name, route in bank.items()]
        self._remembered = lru_cache(maxsize=CACHED)(self._said)

    def route(self, request: CompletionRequested) -> str:
        """The name of the route.

        Raises:
            ValueError: the caller names one that does not exist.
        """
        if request.parameters or request.contract or request.prompts:
            named = self._named(request)
            if named is not None:
                return named
        instruction, data = instruction_of(request)
        if len(instruction) > CACHED_MAX:
            found = self._said(instruction)
        else:
            found = self._remembered(instruction)
        return found or (self._said(data) if data else None) or self._default

    def _named(self, request: CompletionRequested) -> str | None:
        for parameter, value in request.parameters:
            if parameter == ROUTE:
                if value not in self._bank:
                    message = f"no route {value!r}: expected one of {', '.join(self._bank)}"
                    raise ValueError(message)
                return value
        for name in (request.contract, *(prompt for prompt, _ in request.prompts)):
            for candidate in (name, unversioned(name)):
                if candidate in self._bank:
                    return candidate
        return None

    def _said(self, text: str) -> str | None:
        lowered = text.lower()
        return next((name for name, asks in self._table if asks(lowered)), None)


def unversioned(name: str) -> str:
    """`clarify` for `clarify.v1`."""
    bare, dot, version = name.rpartition(".v")
    return bare if dot and version.isdigit() else name


def matcher(route: Route) -> _Matcher:
    """Whether a text in lower case asks for a route; whole words alone count.

    Each pattern has a guard, a piece of text that is in every match: finding it is several times
    as fast as the pattern.
    """
    phrases = []
    for words in (phrase.lower().split() for phrase in route.phrases):
        apart = r"[\s_-]+".join(map(re.escape, words))  # blanks, hyphens or underscores between
        phrases.append((_guard(words[0]), _compile_whole_word(apart)))
    keywords = [
        (tuple(map(_guard, forms)), _compile_whole_word("|".join(map(_inflected, forms))))
        for forms in (keyword.lower().split("|") for keyword in route.keywords)
    ]

    def asks(text: str) -> bool:
        for guard, pattern in phrases:
            if guard in text and pattern.search(text):
                return True
        if not keywords:
            return False
        for guards, _ in keywords:
            if not any(guard in text for guard in guards):
                return False
        return all(pattern.search(text) for _, pattern in keywords)

    return asks


def _compile_whole_word(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?<![{WORD}])(?:{pattern})(?![{WORD}])")


def _inflected(word: str) -> str:
    """Every form of a word: `rewrite` with rewrites, rewriting; `query` with queries."""
    if word.endswith("e"):
        return f"{re.escape(word[:-1])}(?:e|{_ENDINGS})"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{re.escape(word[:-1])}(?:y|ys|ies|ied|ier|iers|ying)"
    return f"{re.escape(word)}(?:{_ENDINGS})?"


def _guard(word: str) -> str:
    return word[:-1] if word.endswith(("e", "y")) else word


NAME: Final = "sim"
BYTES_PER_TOKEN: Final = 4  # about what tokenizers of the time do to English


class SimLLMProvider(LLMProvider):
    """Answers without a model, reproducibly (seed 1).

    A response is a pure function of (`GENERATION`, seed, prompt), whatever was asked before. A
    caller may name the route; else the prompt's words decide. Faults stand around it and move no
    response.
    """

    name = NAME
    model = GENERATION

    def __init__(
        self, seed: int, faults: FaultConfig | None = None, bank: Bank | None = None
    ) -> None:
        self.seed = seed
        self.faults = faults or FaultConfig.none()
        self._simulator = Simulator(seed, bank)
        self._faulty = None
        if self.faults.thresholds()[-1] > 0:
            self._faulty = FaultyProvider(self._simulator, seed, self.faults)

    async def respond(self, request: CompletionRequested) -> Completion:
        """The response drawn for a conversation, unless a fault is drawn for this attempt."""
        return await (self._faulty or self._simulator).respond(request)

    async def complete(self, prompt: str, *, route: str | None = None) -> str:
        """The response to a prompt; a named route answers whatever the prompt says."""
        request = self.asked((Message("user", prompt),))
        if route is not None:
            request = replace(request, parameters=((ROUTE, route),))
        if self._faulty is None:
            return self._simulator.text(request)
        return decode_completion_text(await self._faulty.respond(request))

    async def complete_json(self, prompt: str, schema: object, *, route: str | None = None) -> Any:
        """As for any provider; a named route answers whatever the prompt says."""
        contract = contract_for(schema)
        return judge_response_value(await self.complete(prompt, route=route), contract)

    def asked(self, messages: Iterable[Message], attempt: int = 0) -> CompletionRequested:
        """As for any provider; without an attempt, calls with the same prompt are counted."""
        if self._faulty is None:
            return super().asked(messages, attempt or 1)
        return self._faulty.asked(messages, attempt)

    def route(self, request: CompletionRequested) -> str:
        """The name of the route that a request takes.

        Raises:
            ValueError: it names one that does not exist.
        """
        return self._simulator.route(request)


class Simulator(LLMProvider):
    """What SimLLMProvider is without faults."""

    name = NAME
    model = GENERATION

    def __init__(self, seed: int, bank: Bank | None) -> None:
        self._key = begin_draw_key("response", seed)
        self._routes: dict[str, Route] = {**(bank or {})}
        for name, route in FIVE.items():
            self._routes.setdefault(name, route)
        self._router = Router(self._routes, GENERIC)
        self.route = self._router.route

    async def respond(self, request: CompletionRequested) -> Completion:
        """The response drawn for a conversation; the attempt does not move it."""
        text = self.text(request)
        prompt = prompt_of(request.messages)
        named = self._key.copy()
        named.update(prompt)
        return Completion(
            text=text,
            model=GENERATION,
            stop_reason="end_turn",
            request_id=f"sim-{named.hexdigest()[:16]}",
            input_tokens=_estimate_token_count(len(prompt)),
            output_tokens=_estimate_token_count(len(text.encode("utf-8", "surrogatepass"))),
        )

    def text(self, request: CompletionRequested) -> str:
        """The text of the response.

        Raises:
            ValueError: nothing is said, or the route that is named does not exist.
        """
        root = self._key.copy()
        root.update(prompt_of(require_spoken_messages(request.messages)))
        return self._routes[self.route(request)].generate(Draws(root), request)


def _estimate_token_count(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


SEEDLESS: Final = 0  # a route follows from the prompt alone


class PromptRouter:
    """Classifies prompts: which generator answers."""

    def __init__(self, bank: Bank | None = None) -> None:
        """Args:
        bank: routes of workflows, looked at before the five of seed 1.
        """
        self._simulator = Simulator(SEEDLESS, bank)

    def classify(self, prompt: str) -> str:
        """The name of the route that a prompt takes, such as `extract_entities`."""
        return self._simulator.route(_build_direct_request(prompt))


class ResponseBank:
    """Generates responses: what each route answers to a prompt, by seed."""

    def __init__(self, seed: int, bank: Bank | None = None) -> None:
        """Args:
        bank: routes of workflows, besides the five of seed 1.
        """
        self._simulator = Simulator(seed, bank)

    def generate(self, route: str, prompt: str) -> str:
        """The response of a route to a prompt.

        Raises:
            ValueError: there is no such route, or the prompt is empty.
        """
        return self._simulator.text(
            replace(_build_direct_request(prompt), parameters=((ROUTE, route),))
        )


class FaultInjector:
    """Draws faults: what goes wrong with a prompt, by seed."""

    def __init__(self, seed: int, faults: FaultConfig | None = None) -> None:
        self.seed = seed
        self.faults = faults or FaultConfig.none()

    def drawn(self, prompt: str, attempt: int = 1) -> Fault | None:
        """What goes wrong: `timeout`, `error`, `rate_limit` or `malformed`; None for nothing."""
        return self._around("").drawn(_build_direct_request(prompt, attempt))

    async def inject(self, prompt: str, response: str, attempt: int = 1) -> str:
        """The response as it arrives: whole, or damaged.

        Raises:
            LLMTimeoutError, LLMAPIError, LLMRateLimitError: as drawn.
        """
        return decode_completion_text(
            await self._around(response).respond(_build_direct_request(prompt, attempt))
        )

    def _around(self, response: str) -> FaultyProvider:
        return FaultyProvider(_FixedResponseProvider(response), self.seed, self.faults)


class _FixedResponseProvider:
    """A provider whose response is given."""

    def __init__(self, response: str) -> None:
        self._response = response

    async def respond(self, _request: CompletionRequested) -> Completion:
        return Completion(text=self._response)


def _build_direct_request(prompt: str, attempt: int = 1) -> CompletionRequested:
    said = require_spoken_messages((Message("user", prompt),))
    return CompletionRequested(
        call=DIRECT, provider=NAME, model=GENERATION, messages=said, attempt=attempt
    )
