"""The deterministic simulator (docs/simulator.md): the same seed and prompt, the same response.
It has no clock, chance, environment, file or network below it; the routes stay in `simulator_bank`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.providers.base import (
    DIRECT,
    LLMProvider,
    contract_for,
    decode_completion_text,
    judge_response_value,
    require_spoken_messages,
)
from preflights_es.providers.faults import Fault, FaultConfig, FaultyProvider
from preflights_es.providers.simulator_bank import FIVE, GENERIC, WORD, instruction_of
from preflights_es.words.simulation import GENERATION, Bank, Draws, Route, begin_draw_key, prompt_of

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
                    raise ValueError(f"no route {value!r}: expected one of {', '.join(self._bank)}")
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
        request = replace(_build_direct_request(prompt), parameters=((ROUTE, route),))
        return self._simulator.text(request)


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
        request = _build_direct_request(prompt, attempt)
        return decode_completion_text(await self._around(response).respond(request))

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
