"""Reads a server's response, total and bounded, and shows its words short and without the key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from urllib.request import getproxies

from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMError,
    LLMRateLimitError,
    LLMRequestRejectedError,
    LLMTimeoutError,
)
from preflights_es.kernel.text import Secret, escaped_text, one_line, shortened

RESPONSE_MAX: Final = 16 * 1024 * 1024  # bytes of a body; what models write is a thousandth of it
WORD_MAX: Final = 200  # characters of a name: a model, a request id, a reason to stop
RETRY_AFTER_MAX_MS: Final = 24 * 60 * 60 * 1_000  # milliseconds; a longer hint says nothing more
COUNT_MAX: Final = 2**53  # of tokens; what JSON can hold everywhere
HINTS: Final = ("retry-after-ms", "retry-after", "date")
IDS: Final = ("request-id", "x-request-id")
READ: Final = ("content-type", *HINTS, *IDS)
"""The headers that the program uses."""
ENCODINGS: Final = ("", "identity", "gzip")
"""Of a body. A chunk of others, or of two at once, may unfold to any size before it is counted."""


class HttpAnswer(NamedTuple):
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    """The case of a name does not matter."""
    body: bytes


# 1. The body ---------------------------------------------------------------------------------


@cache
def bounded(kind: type[Any]) -> type[Any]:
    """An SDK's own HTTP client, which reads no more of a response than the limit."""

    class Bounded(kind):  # type: ignore[misc]  # the SDKs are imported when they are used
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:  # noqa: ARG002  as the base's
            response = await super().send(request, stream=True, **options)
            try:
                body = await _read_response_body(response)
            finally:
                await response.aclose()
            got = response.headers
            headers = {n: got.get(n, "").encode("ascii", "replace").decode() for n in READ}
            # The SDKs fail on the body of an error in an unknown character set.
            headers["content-type"] = headers["content-type"].partition(";")[0]
            return type(response)(
                status_code=response.status_code,
                headers={name: value for name, value in headers.items() if value},
                content=body,
                request=request,
            )

    return Bounded


def transport(verify: Any) -> Any:
    """Connections of the SDKs' clients without a proxy, whatever the environment says of one.

    Args:
        verify: the certificates that are trusted; True for those of the environment.
    """
    from httpx2 import AsyncHTTPTransport

    return AsyncHTTPTransport(verify=verify)


def problem_of_proxy() -> str:
    """Why a proxy of the environment cannot be used; empty where all can be.

    Its address is left out, since it may hold a password.
    """
    from httpx2 import URL, InvalidURL

    schemes = ("all", "https", "http")
    found = [(name, getproxies().get(name, "")) for name in schemes]
    for name, address in found:
        try:
            URL(address if "://" in address else f"http://{address}")
        except InvalidURL:
            return f"the address in {name.upper()}_PROXY is invalid"
    named = [name for name, address in found if address.lower().startswith("socks")]
    if not named or find_spec("socksio") is not None:
        return ""
    variables = " and ".join(f"{name.upper()}_PROXY" for name in named)
    package = "the package 'socksio', which is not installed: `pip install socksio`"
    return f"the SOCKS proxy of {variables} needs {package}"


async def _read_response_body(response: Any) -> bytes:
    encoding = response.headers.get("content-encoding", "")
    if encoding.strip().lower() not in ENCODINGS:
        found = f"the response is encoded as {encoding!r}"
        raise LLMAPIError(f"{found}, which the request did not accept")
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > RESPONSE_MAX:
            raise LLMAPIError(f"the response has more than {RESPONSE_MAX:,} bytes")
    return bytes(body)


def decode_body_text(body: bytes) -> tuple[str, bool]:
    """The body as text, and whether it was valid UTF-8; bytes that were not are escaped."""
    try:
        return body.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return body.decode("utf-8-sig", "surrogateescape"), False


_RUNS = re.compile("[\udc80-\udcff]+|[^\udc80-\udcff]+")


def restore_body_bytes(text: str) -> bytes:
    """The bytes of a text out of a body that was no valid UTF-8, as they came."""
    return b"".join(
        run.encode(
            "utf-8", "surrogateescape" if "\udc80" <= run[0] <= "\udcff" else "surrogatepass"
        )
        for run in _RUNS.findall(text)
    )


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# 2. Names and numbers ------------------------------------------------------------------------


def word(value: object) -> str:
    """A name a server gave, in a form a log can hold; empty where it gave none."""
    if not isinstance(value, str):
        return ""
    return value[:WORD_MAX].encode("utf-8", "backslashreplace").decode()[:WORD_MAX]


def count(value: object) -> int | None:
    """A number of tokens; None where it is missing or makes no sense."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < COUNT_MAX:
        return None
    return value


def read_body_object(value: object) -> dict[str, Any]:
    """An object of a body; empty where there is none."""
    return value if isinstance(value, dict) else {}


def request_id(headers: Mapping[str, str]) -> str:
    """What the server calls the request; empty where it does not."""
    return word(headers.get("request-id") or headers.get("x-request-id") or "")


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """How long the server wants to be left alone; a date is measured by the server's own clock."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is None:
        seconds = _number(headers.get("retry-after"))
        milliseconds = _until(headers) if seconds is None else seconds * 1_000
    if milliseconds is None:
        return None
    return math.ceil(min(max(milliseconds, 0), RETRY_AFTER_MAX_MS))


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return None if math.isnan(found) else found


def _until(headers: Mapping[str, str]) -> float | None:
    try:
        wanted = parsedate_to_datetime(headers.get("retry-after", ""))
        now = parsedate_to_datetime(headers.get("date", ""))
        return (wanted - now).total_seconds() * 1_000
    except (ValueError, TypeError, OverflowError):  # no date, or one with a zone and one without
        return None


# 3. Errors -----------------------------------------------------------------------------------

_RATE: Final = ("rate_limit_exceeded", "rate_limit_error")
_SLOW: Final = ("timeout_error",)
_WRONG: Final = (
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "invalid_api_key",
    "model_not_found",
    "context_length_exceeded",
)
"""Names of a request that would be answered the same again, where no status says so."""
_SPENT: Final = ("insufficient_quota", "billing_error", "insufficient_balance")
"""Names of a limit that does not pass with time; OpenAI sends the first with status 429."""
REJECTED: Final = (400, 401, 402, 403, 404, 413, 422)
"""Statuses of a request that would be answered the same again."""


class Reported(NamedTuple):
    """An error as a server describes it; each part is empty where it does not."""

    code: object
    kind: str
    message: str
    parameter: str = ""
    """The parameter of the request that is wrong."""

    def names(self, parameters: Iterable[str]) -> tuple[str, ...]:
        """Which parameters of a request it is about."""
        said = f"{self.parameter} {self.message}"
        return tuple(name for name in parameters if re.search(rf"\b{name}\b", said))


def error_kind(status: int, reported: Reported) -> type[LLMError]:
    """The error that a status stands for, or what a body calls it; 504 is Anthropic's time-out."""
    names = (status, reported.code, reported.kind)
    if any(name in _SPENT for name in names) or status == 413:
        return LLMRequestRejectedError  # too large for the limit of a minute is so in the next one
    if any(name in (429, *_RATE) for name in names):
        return LLMRateLimitError
    if any(name in (408, 504, *_SLOW) for name in names):
        return LLMTimeoutError
    # A router says by the code of a body what the provider behind it did.
    is_success = 200 <= status <= 299
    is_named = any(name in _WRONG for name in names) and not isinstance(reported.code, int)
    is_wrong = (reported.code if is_success else status) in REJECTED or (is_success and is_named)
    return LLMRequestRejectedError if is_wrong else LLMAPIError


def error_in(value: object) -> object:
    """The `error` of a body; Gemini writes it within a list."""
    return read_body_object(value[0] if isinstance(value, list) and value else value).get("error")


def reported(error: object) -> Reported:
    """What the `error` of a body says."""
    if isinstance(error, str):
        return Reported(None, "", error)
    if not isinstance(error, dict):
        return Reported(None, "", "")
    message = error.get("message") or error.get("detail")
    code = error.get("code")
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)  # some routers write a status as text
    return Reported(
        code if isinstance(code, (int, str)) else None,
        word(error.get("type")),
        message if isinstance(message, str) else "",
        word(error.get("param")),
    )


def reported_in(body: bytes) -> Reported:
    """What the body of an error says; the body itself where it cannot be read."""
    text, _ = decode_body_text(body)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Reported(None, "", text)
    found = reported(error_in(value) or read_body_object(value))
    return found if found.message else found._replace(message=text)


# 4. Its words, without the key ------------------------------------------------------------------

LOOKED_AT_MAX: Final = 20_000  # characters of an error that are searched for secrets
KEY_IN_ERROR_MIN: Final = 4  # characters; a shorter key would garble every message
KEY_IN_TEXT_MIN: Final = 12  # characters; a shorter key is a placeholder such as "ollama"
REDACTED: Final = "[redacted:key]"


class Discretion:
    """Knows the key of a provider, and keeps it."""

    def __init__(self, key: Secret, redact: Callable[[str], str]) -> None:
        self._key = key.reveal()
        self._redact = redact

    def said(self, text: str, limit: int) -> str:
        """A server's message, shortened.

        The key goes first and the cut comes last: half a key would not be recognised.
        """
        for form in _list_key_spellings(self._key):
            text = text.replace(form, REDACTED)
        return shortened(escaped_text(one_line(self._redact(text[:LOOKED_AT_MAX]))), limit)

    def text(self, text: str) -> str:
        """A response; only the key itself is taken out, everything else is the response's."""
        return text.replace(self._key, REDACTED) if len(self._key) >= KEY_IN_TEXT_MIN else text

    def word(self, value: object) -> str:
        """A name; see the function `word`."""
        return word(self.text(value) if isinstance(value, str) else value)

    def __repr__(self) -> str:
        return "Discretion()"


def _list_key_spellings(key: str) -> tuple[str, ...]:
    """A key as it is, and as JSON, Python and a URL write it."""
    if len(key) < KEY_IN_ERROR_MIN:
        return ()
    return tuple(dict.fromkeys((key, json.dumps(key)[1:-1], repr(key)[1:-1], quote(key, safe=""))))
