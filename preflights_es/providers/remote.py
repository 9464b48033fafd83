"""What providers behind an HTTP API share: the client, the deadline, and the translation of errors.

The makers' SDKs send the request and hold the connection. What comes back is read here and not by
them: on some bodies they raise, others they hand on as if nothing was wrong. Whatever a server or
the network does ends in a `Completion` or in one `LLMError`. Errors are raised outside of the
handler of their cause: an SDK's error holds the request, and with it the key.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import ssl
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from preflights_es.kernel.completions import (
    Completion,
    CompletionRequested,
    Message,
    get_call_facts,
)
from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMEmptyError,
    LLMError,
    LLMRefusedError,
    LLMRequestRejectedError,
    LLMTimeoutError,
    LLMTruncatedError,
    LLMUnfinishedError,
    SettingsError,
)
from preflights_es.kernel.lead import WAIT_MAX_MS
from preflights_es.kernel.text import Secret, shortened
from preflights_es.providers import http_body
from preflights_es.providers.base import LLMProvider
from preflights_es.providers.capabilities import (
    BASE_URLS,
    CONCURRENCY,
    DEFAULT_MODELS,
    MAX_TOKENS,
    NO_LIVE,
    OPTIONAL,
    TIMEOUT_S,
    Api,
    ProviderSettings,
    checked_url,
    host_of,
    is_local,
    parameters_for,
    remember_untaken,
    require_fit_key,
)
from preflights_es.providers.http_body import Discretion, HttpAnswer, Reported

MESSAGE_MAX: Final = 1_000  # characters of an error's message
RECEIVED_MAX: Final = 2_000  # characters kept of a response that cannot be used
BEGINNING: Final = 200  # characters shown of a body that makes no sense
NO_KEY: Final = "none"
"""What a server gets that wants no key; without one the SDKs would look for another themselves."""

# Reasons to stop: those of the makers, of the clouds that offer their models, of servers and of
# routers. There are too many names for a list, and what failed must not count as an answer.
FAILED: Final = re.compile(
    "error|fail|abort|cancel|interrupt|time_?out|malformed|unexpected|rate_limit"
    "|insufficient|overloaded|unavailable"  # `insufficient_system_resource` of DeepSeek
)
REFUSED: Final = re.compile(
    "refus|filter|sensitive|safety|guardrail|prohibited|blocked|blocklist|recitation|spii|moderat"
)
CUT_OFF: Final = re.compile(
    r"length|max_?\w*tokens|limit|context_?window"
    "|pause_turn"  # when a server's tool takes long
)
TOOLS: Final = ("tool_use", "tool_calls", "function_call")

T = TypeVar("T")
Call = Callable[..., Awaitable[Any]]


UNSTREAMED: Final = ("stream", "stream_options", "background")
"""Fields of a body that is sent as it is, but for these: its answer is one JSON, at once."""
RAW: Final = {"headers": {"X-Stainless-Raw-Response": "raw"}}
"""How an SDK hands a response over unread, as its `with_raw_response` does."""


class _Pool(NamedTuple):
    """What the calls of one event loop share."""

    client: Any
    create: Call
    slots: asyncio.Semaphore


class BodyAnswer(NamedTuple):
    """What a server answered to a body that was sent as it is."""

    status: int
    content_type: str
    body: bytes
    seconds: float
    """From the first byte of the request to the last one of the response."""


class RemoteProvider(LLMProvider):
    """A provider behind an HTTP API, by way of its maker's SDK."""

    optional: tuple[str, ...] = OPTIONAL
    """Parameters that a request can do without."""

    def __init__(
        self,
        api_key: Secret | str = "",
        *,
        name: str = "",
        model: str = "",
        base_url: str = "",
        api: Api = "chat",
        timeout_s: float = TIMEOUT_S,
        max_tokens: int = MAX_TOKENS,
        temperature: float | None = None,
        top_p: float | None = None,
        concurrency: int = CONCURRENCY,
        redact: Callable[[str], str] = str,
    ) -> None:
        """Imports nothing and connects to nothing; the first request does.

        Args:
            name: as in `--provider`, where it is not the class's own.
            base_url: of another server; empty for the maker's.
            timeout_s: seconds for one call, all of it.
            concurrency: calls under way at once; further ones wait.
            redact: takes what looks like a secret out of a message.

        Raises:
            SettingsError: the key cannot be one; or this is a session of tests, and the address
                is not this machine's.
            ValueError: the address is invalid.
        """
        assert concurrency >= 1, "no request would ever be sent"
        self.name = name or self.name
        self.model = model or DEFAULT_MODELS[self.name]
        self.base_url = checked_url(self.name, base_url)
        self.api: Api = api
        self.timeout_s = timeout_s
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.top_p = top_p
        self.concurrency = concurrency
        self._key = api_key if isinstance(api_key, Secret) else Secret(api_key)
        self._discretion = Discretion(self._key, redact)
        if self._key:
            require_fit_key(self._key)
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}
        # A catch against tests that ask for money; not a setting, for it must hold for everyone.
        if os.environ.get(NO_LIVE) and not is_local(self.base_url):  # noqa: TID251
            host = host_of(self.base_url)
            message = f"{NO_LIVE} is set: {self.name} is not asked at {host} (`pytest -m live`)"
            raise SettingsError(message)

    # 1. What callers see ---------------------------------------------------------------------

    async def respond(self, request: CompletionRequested) -> Completion:
        """One call; a retry is the workflow's to decide, so that each is in the log.

        The host is left in `failed_at` where it fails.

        Raises:
            LLMTimeoutError: no whole response within the time allowed.
            LLMRateLimitError: too many requests; with the server's hint.
            LLMTruncatedError: the response was cut off at a limit.
            LLMRefusedError: the model, or a filter, refused.
            LLMRequestRejectedError: a wrong key, model, address or request.
            LLMAPIError: anything else that went wrong there or on the way.
        """
        try:
            return await self._answered(request)
        except LLMError as error:
            self.failed_at = host_of(self.base_url)
            if isinstance(error, LLMRequestRejectedError):
                named = dict(request.parameters)
                error.untaken = tuple(name for name in error.untaken if name in named)
                model = request.model or self.model
                remember_untaken(self.name, model, self.base_url, error.untaken)
            raise

    async def send_body(self, body: Mapping[str, Any]) -> BodyAnswer:
        """One call with a body that another program made, to this provider's address and API.

        An answer that was refused, cut off or calls a tool is one; `respond` says the errors.

        Raises:
            LLMError: it brought nothing.
        """
        asked = {name: value for name, value in body.items() if name not in UNSTREAMED}
        pool = self._ready_pool()
        post = partial(pool.client.post, self.path, cast_to=object, options=RAW)
        async with pool.slots:
            began = asyncio.get_running_loop().time()
            outcome = await self._outcome(post, {"body": asked})
            seconds = asyncio.get_running_loop().time() - began
        if isinstance(outcome, LLMError):
            raise outcome
        with suppress(LLMUnfinishedError, LLMEmptyError):
            self._completion(outcome)
        content_type = outcome.headers.get("content-type", "")
        return BodyAnswer(outcome.status, content_type, outcome.body, seconds)

    async def _answered(self, request: CompletionRequested) -> Completion:
        arguments = self.arguments(request)
        pool = self._ready_pool()
        async with pool.slots:
            outcome = await self._outcome(pool.create, arguments)
        if isinstance(outcome, LLMError):
            raise outcome
        return self._completion(outcome)

    def _ready_pool(self) -> _Pool:
        """Raises:
        LLMRequestRejectedError: the maker's own server wants a key, and there is none.
        """
        if not self._key and self.base_url == BASE_URLS[self.name]:
            problem = "it needs a key, and there is none: nothing was sent"
            raise self.failure(problem, LLMRequestRejectedError)
        return self._pool()

    def asked(self, messages: Iterable[Message], attempt: int = 1) -> CompletionRequested:
        """As for any provider, with the parameters that are wanted and that the model takes."""
        request = super().asked(messages, attempt)
        wanted = ProviderSettings(
            provider=self.name,
            base_url=self.base_url,
            api=self.api,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
        )
        parameters = parameters_for(self.name, self.model, wanted)
        return msgspec.structs.replace(request, parameters=parameters)

    async def aclose(self) -> None:
        """Give back what this event loop's calls share; a later request makes it anew."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.client.close()

    # 2. What each API does its own way -------------------------------------------------------

    @property
    @abstractmethod
    def path(self) -> str:
        """Of the API's endpoint, behind the address."""

    @abstractmethod
    def arguments(self, request: CompletionRequested) -> dict[str, Any]:
        """What is sent for a request, as the SDK names it.

        Raises:
            LLMAPIError: the request names a parameter that this API does not take.
        """

    @abstractmethod
    def read(self, answer: HttpAnswer) -> Completion:
        """The completion in a body.

        Raises:
            LLMError: there is none, or not a whole one.
        """

    @abstractmethod
    def sdk(self) -> tuple[Any, type[Exception]]:
        """The SDK's module, imported here and not before, and the root of its errors."""

    @abstractmethod
    def client(self, **options: Any) -> Any:
        """The SDK's client."""

    @abstractmethod
    def endpoint(self, client: Any) -> Call:
        """The SDK's function that makes a call and hands the response over unread."""

    # 3. The call -----------------------------------------------------------------------------

    def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            for other in [one for one in self._pools if one.is_closed()]:
                del self._pools[other]
            client = self._client()
            # The endpoint's modules are imported here, and not on the time of the first call.
            create, slots = self.endpoint(client), asyncio.Semaphore(self.concurrency)
            self._pools[loop] = _Pool(client, create, slots)
        return self._pools[loop]

    def _client(self) -> Any:
        return self.client(
            api_key=self._key.reveal() or NO_KEY,
            base_url=self.base_url,
            timeout=self.timeout_s,
            max_retries=0,  # every attempt is in the log
            http_client=self._http_client(),
            # An idle connection would outlive the event loop of an `asyncio.run`, and beside a
            # completion a handshake is nothing.
            default_headers={"Connection": "close", "Accept-Encoding": "gzip"},
        )

    def _http_client(self) -> Any:
        """The SDK's own.

        Raises:
            LLMAPIError: what the environment says of proxies or certificates cannot be used.
        """
        module, _ = self.sdk()
        # A redirection would send the conversation to a server that the user did not choose.
        options: dict[str, Any] = {"timeout": self.timeout_s, "follow_redirects": False}
        problem = "" if is_local(self.base_url) else http_body.problem_of_proxy()
        if problem:
            raise self.failure(f"nothing was sent: {problem}", LLMRequestRejectedError)
        try:
            if is_local(self.base_url):
                # What is said to this machine is not said to a proxy; none is even looked for.
                # Reading all certificates takes 20 ms, which only https needs.
                trusts_none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                is_https = self.base_url.startswith("https:")
                options["transport"] = http_body.transport(True if is_https else trusts_none)
            return http_body.bounded(module.DefaultAsyncHttpxClient)(**options)
        except (ImportError, ValueError, OSError) as error:
            problem = f"{type(error).__name__}: {error}"
        raise self.failure(f"nothing was sent; look at HTTPS_PROXY and SSL_CERT_FILE: {problem}")

    async def _outcome(self, create: Call, arguments: dict[str, Any]) -> HttpAnswer | LLMError:
        """What the server said, or what kept it from saying so."""
        _, foreign = self.sdk()
        try:
            # The SDK's own timeout begins anew with every byte that comes.
            async with asyncio.timeout(self.timeout_s):
                raw = (await create(**arguments)).http_response
        except TimeoutError:
            return self._timed_out()
        except (foreign, LLMError, OSError, EOFError) as error:
            return self._translated(error)
        return HttpAnswer(raw.status_code, raw.headers, raw.content)

    def _translated(self, error: BaseException) -> LLMError:
        module, _ = self.sdk()
        cause = error if isinstance(error, LLMError) else error.__cause__
        if isinstance(cause, LLMError):
            return self.failure(str(cause))
        if isinstance(error, module.APITimeoutError):
            return self._timed_out()
        if isinstance(error, module.APIStatusError):
            response = error.response
            answer = HttpAnswer(response.status_code, response.headers, response.content)
            return self.reported(answer, http_body.reported_in(answer.body), str(answer.status))
        what = cause or error
        return self.failure(f"no answer: {type(what).__name__}: {what}")

    def _timed_out(self) -> LLMError:
        return self.failure(f"no response within {self.timeout_s:g} s", LLMTimeoutError)

    def reported(self, answer: HttpAnswer, error: Reported, what: str) -> LLMError:
        """What the server calls an error, in our words."""
        words = self._discretion.said(error.message, MESSAGE_MAX // 2) or "without a message"
        text = f"{what} {error.kind}".rstrip() + f": {words}"
        key = f"the key in {self._key.source}" if self._key.source else "the key"
        if answer.status == 401:
            text = f"{key} was refused ({text})"
        elif answer.status == 403:
            text = f"{key} may not do this ({text})"
        if id_ := http_body.request_id(answer.headers):
            text += f" (request {id_})"
        if 300 <= answer.status <= 399 or answer.status == 404:
            text += "; is `base_url` right, and is the model known there?"
        hint = http_body.retry_after_ms(answer.headers)
        if hint is not None and hint > WAIT_MAX_MS:
            text += f"; the server says to wait {timedelta(seconds=hint // 1_000)} (h:mm:ss)"
        found = self.failure(text, http_body.error_kind(answer.status, error), hint)
        is_about_request = {answer.status, error.code} & {400, 422}
        if isinstance(found, LLMRequestRejectedError) and is_about_request:
            found.untaken = error.names(self.optional)
        return found

    # 4. Reading ------------------------------------------------------------------------------

    def _completion(self, answer: HttpAnswer) -> Completion:
        content_type = answer.headers.get("content-type", "").strip().lower()
        if not content_type.endswith("json"):
            kind = content_type or "a body without a type"
            found = f"it answered {kind} and not JSON"
            raise self.failure(f"{found}: is `base_url` right?{self._begins(answer)}")
        return self.read(answer)

    def body(self, answer: HttpAnswer, kind: type[T]) -> tuple[T, bool]:
        """The body in a shape, and whether it was valid UTF-8; bytes that were not are escaped.

        Raises:
            LLMError: it is no such body, or it reports an error.
        """
        text, valid = http_body.decode_body_text(answer.body)
        try:
            value = json.loads(text)
            # How a router says, in a success, what the provider behind it did.
            error = http_body.error_in(value)
            if not error:
                return msgspec.convert(value, kind), valid
        except msgspec.ValidationError as wrong:
            problem = f"is not what was asked for ({wrong})"
        except (ValueError, RecursionError) as wrong:
            problem = f"is not JSON ({type(wrong).__name__})"
        else:
            raise self.reported(answer, http_body.reported(error), "an error in the response")
        raise self.failure(f"the body of the response {problem}{self._begins(answer)}")

    def _begins(self, answer: HttpAnswer) -> str:
        begins = self._discretion.said(http_body.decode_body_text(answer.body)[0], BEGINNING)
        return f"; it begins with {begins!r}" if begins else "; it is empty"

    def completion(
        self, answer: HttpAnswer, text: str, *, valid: bool, **fields: object
    ) -> Completion:
        """What was received, with nothing in it that a log cannot hold.

        Args:
            valid: whether the body was valid UTF-8.
            fields: of `Completion`, as the body has them.
        """
        text = self._discretion.text(text)
        in_bytes = not valid and not http_body.is_unicode(text)
        return Completion(
            text=None if in_bytes else text,
            text_base64=base64.b64encode(http_body.restore_body_bytes(text)).decode()
            if in_bytes
            else None,
            model=self._discretion.word(fields.get("model")),
            stop_reason=self._discretion.word(fields.get("stop_reason")),
            request_id=self._discretion.word(
                http_body.request_id(answer.headers) or fields.get("request_id")
            ),
            input_tokens=http_body.count(fields.get("input_tokens")),
            output_tokens=http_body.count(fields.get("output_tokens")),
        )

    def whole(
        self,
        answer: HttpAnswer,
        found: Completion,
        text: str | None,
        *,
        refusal: str = "",
        error: object = None,
        is_cut: bool = False,
    ) -> Completion:
        """The completion, where nothing stopped it before its end.

        Args:
            text: None where the response has no part for it; some servers write it as empty.
            refusal: what the model says instead.
            error: how a router says that the provider behind it failed halfway.

        Raises:
            LLMError: something stopped it, or it has no text, as where it calls a tool.
        """
        why = found.stop_reason.lower()
        if error or FAILED.search(why):
            what = f"the response ended with {why or 'an error'}"
            raise self.reported(answer, http_body.reported(error), what)
        if refusal or REFUSED.search(why):
            raise self.unfinished(LLMRefusedError, refusal or text or "", found)
        if is_cut or CUT_OFF.search(why):
            raise self.unfinished(LLMTruncatedError, text or "", found)
        if not text or (why in TOOLS and not text.strip()):
            problem = f"the response holds no text (it stopped for {found.stop_reason!r})"
            empty = self.failure(problem, LLMEmptyError)
            vars(empty).update(get_call_facts(found))
            raise empty
        return found

    def unfinished(
        self, kind: type[LLMUnfinishedError], received: str, found: Completion
    ) -> LLMError:
        """A response that stopped at a limit, or in which the model, or a filter, refused."""
        what = "was refused" if kind is LLMRefusedError else "was cut off"
        kept = self._discretion.said(received, RECEIVED_MAX)
        counts = (found.input_tokens, found.output_tokens)
        sent, written = ("unknown" if count is None else count for count in counts)
        tokens = f"tokens in: {sent}, out: {written}"
        text = f"{self.name}: the response {what} ({found.stop_reason}; {tokens}): {kept}"
        return kind(shortened(text, MESSAGE_MAX), received=kept, **get_call_facts(found))

    def failure(
        self, text: str, kind: type[LLMError] = LLMAPIError, retry_after_ms: int | None = None
    ) -> LLMError:
        """An error whose message is short, on one line, and without a key; it is recorded.

        Addresses stay out of it: they tell where a company keeps its servers.
        """
        said = self._discretion.said(f"{self.name}: {text}", MESSAGE_MAX)
        return kind(said, retry_after_ms=retry_after_ms)
