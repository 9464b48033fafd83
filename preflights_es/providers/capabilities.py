"""What each API takes: its address, its default model, and the parameters it has not given up.

Sampling parameters belong to a model's family, not to a request: Anthropic removed them, OpenAI
takes none where the model reasons. Nothing here is sent or read; the providers send what a request
says, and a request says what `parameters_for` found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec

from preflights_es.kernel.errors import LLMAPIError, SettingsError
from preflights_es.kernel.text import Secret, late_pattern

Api = Literal["chat", "responses"]

REAL: Final = ("anthropic", "openai", "openrouter")
"""The providers that ask a remote service."""

OPENAI_LIKE: Final = tuple(name for name in REAL if name != "anthropic")
"""Those that speak OpenAI's API, as any other service that is added by a row of `_SDKS` does."""

ALIASES: Final = {"claude": "anthropic", "stub": "mock"}
"""As seed 2 calls them."""

KEY_VARIABLES: Final = {
    name: (f"PREFLIGHTS_{name.upper()}_API_KEY", f"{name.upper()}_API_KEY") for name in REAL
}
"""Where a key comes from: ours, else the one that the maker's SDK knows."""

# Chosen in November 2026 from the models the SDKs name: the middle of each range, which is what its
# maker recommends for everyday work. OpenRouter's router always knows a model; the log says which.
DEFAULT_MODELS: Final = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-terra",
    "openrouter": "openrouter/auto",
}

BASE_URLS: Final = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""As the SDKs want them: Anthropic's without `/v1`, OpenAI's with it."""

BASE_URL_VARIABLES: Final = {name: f"{name.upper()}_BASE_URL" for name in REAL}
"""Where the maker's SDK takes the address of a gateway from: its key lies beside it."""

TIMEOUT_S: Final = 120.0  # seconds for one call, all of it (seed 2, section 8.1)
TIMEOUT_MAX_S: Final = 540.0  # seconds: a call must end before its claim does (at most 600)
MAX_TOKENS: Final = 16_384  # tokens; what a model thinks counts too, which 4,096 would not survive
MAX_TOKENS_MAX: Final = 1_000_000  # tokens; no model writes more today
CONCURRENCY: Final = 8  # calls under way at once

NO_LIVE: Final = "PREFLIGHTS_NO_LIVE"
"""Set by the session of tests: only providers on this machine are asked."""


def require_fit_key(key: Secret) -> None:
    """A header holds nothing else, and an error about the header would hold the key.

    Raises:
        SettingsError: it cannot be a key.
    """
    if not _KEY.fullmatch(key.reveal()):
        what = key.source or "the key"
        raise SettingsError(f"{what}: expected a key, without blanks, umlauts and line breaks")


_KEY: Final = late_pattern("[!-~]+")


# 1. Sampling ---------------------------------------------------------------------------------


class Family(msgspec.Struct, frozen=True):
    """Models that are asked the same way."""

    providers: tuple[str, ...]
    models: re.Pattern[str]
    """Of the name without its vendor."""
    sampling: bool
    """Whether `temperature` or `top_p` is taken."""
    limit: str
    """What Chat Completions (or Messages) call the limit of tokens."""


FAMILIES: Final = (
    # Claude takes neither temperature nor top_p any more.
    Family(("anthropic",), late_pattern(""), False, "max_tokens"),
    Family(REAL, late_pattern(r"(?i)claude-"), False, "max_tokens"),
    # The model reasons: OpenAI refuses both unless reasoning is turned off.
    Family(
        OPENAI_LIKE,
        late_pattern(r"(?i)o\d|gpt-([5-9]|\d\d)|codex-"),
        False,
        "max_completion_tokens",
    ),
    Family(OPENAI_LIKE, late_pattern(""), True, "max_tokens"),
)
"""First match wins."""


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say of a provider, and of how it is asked."""

    provider: str
    model: str = ""
    """The provider's default unless the user names one; empty for one that has no models."""
    base_url: str = ""
    """Of another server than the provider's own; empty without one."""
    api: Api = "chat"
    """Which of OpenAI's APIs is asked."""
    timeout_s: float = TIMEOUT_S
    """Of one call, in seconds."""
    max_tokens: int = MAX_TOKENS
    """That a response may have, with what the model thinks."""
    temperature: float | None = None
    top_p: float | None = None
    """Both are sent only where the model takes them."""
    keys: Mapping[str, Secret] = {}
    """By the provider's name, as far as the environment has them."""

    @property
    def host(self) -> str:
        """That a session of today asks; empty where no server is asked."""
        return host_of(self.base_url or BASE_URLS.get(self.provider, ""))


def family(provider: str, model: str) -> Family | None:
    """How a model is asked; None for a provider that makes no request."""
    name = model.rpartition("/")[2]
    return next((f for f in FAMILIES if provider in f.providers and f.models.match(name)), None)


def parameters_for(
    provider: str, model: str, settings: ProviderSettings
) -> tuple[tuple[str, str], ...]:
    """What a request to a model says and sends: pairs of name and value, in the API's names.

    Empty for a provider that makes no request.
    """
    found = family(provider, model)
    if found is None:
        return ()
    values: dict[str, Any] = {_limit(provider, found, settings): settings.max_tokens}
    if found.sampling:
        # OpenAI says to alter `temperature` or `top_p`, not both: the temperature is taken.
        given = {"temperature": settings.temperature, "top_p": settings.top_p}
        said = [(name, float(value)) for name, value in given.items() if value is not None]
        values |= dict(said[:1])
    if provider != "anthropic" and settings.api == "responses":
        values["store"] = False  # else OpenAI keeps what was said for thirty days
    untaken = _untaken.get((provider, model, settings.base_url or BASE_URLS[provider]), ())
    taken = {name: value for name, value in values.items() if name not in untaken}
    return tuple((name, msgspec.json.encode(value).decode()) for name, value in taken.items())


OPTIONAL: Final = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "temperature",
    "top_p",
)
"""Parameters without which a request makes sense, where the server refuses them."""
_untaken: dict[tuple[str, str, str], frozenset[str]] = {}
"""What servers refused in this process, by provider, model and address."""


def remember_untaken(provider: str, model: str, base_url: str, names: Iterable[str]) -> None:
    """Send parameters to a model no more, as long as this process lasts."""
    key = (provider, model, base_url)
    _untaken[key] = _untaken.get(key, frozenset()).union(names)


_STRUCTURED: Final = {
    "anthropic": late_pattern(r"claude-[a-z]+-(?:4-[5-9]|[5-9]|\d\d)"),
    "openai": late_pattern(r"gpt-(?:4o|4\.1|[5-9]|\d\d)|o[1-9]|codex-"),
}
"""Models that hold a response to a JSON Schema, at their makers' own addresses."""


def structured(provider: str, model: str, base_url: str) -> bool:
    """Whether a schema may be sent; other servers and routers may refuse a request with one."""
    known = _STRUCTURED.get(provider)
    if known is None or digest_of(provider, base_url):
        return False
    return known.match(model) is not None


def _limit(provider: str, found: Family, settings: ProviderSettings) -> str:
    """What the limit of tokens is called; servers like OpenAI's may know the older name only."""
    if provider != "anthropic" and settings.api == "responses":
        return "max_output_tokens"
    if provider == "openai" and settings.base_url in ("", BASE_URLS["openai"]):
        return "max_completion_tokens"
    return found.limit


# 2. From the request to the call -------------------------------------------------------------

_TYPES: Final[dict[str, dict[str, type]]] = {
    "messages": {"max_tokens": int},
    "chat": {"max_tokens": int, "max_completion_tokens": int, "temperature": float, "top_p": float},
    "responses": {"max_output_tokens": int, "temperature": float, "top_p": float, "store": bool},
}
"""For each endpoint, the parameters a request may name."""


def arguments(endpoint: str, parameters: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The parameters of a request, in the types in which they are sent.

    A request comes from a log that another version may have written; what cannot be sent is an
    outcome, so that the session goes on.

    Raises:
        LLMAPIError: the endpoint takes no such parameter, or not such a value.
    """
    types = _TYPES[endpoint]
    found: dict[str, Any] = {}
    for name, value in parameters:
        if name not in types:
            message = f"the request names {name!r}, which this API does not take: nothing was sent"
            raise LLMAPIError(message)
        try:
            found[name] = msgspec.json.decode(value, type=types[name])
        except msgspec.MsgspecError as error:
            message = f"the request says {name}={value!r}: {error}; nothing was sent"
            raise LLMAPIError(message) from error
    return found


# 3. Addresses --------------------------------------------------------------------------------

_HOST = late_pattern(r"(?!.{254})([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}")


def checked_url(provider: str, url: str) -> str:
    """A base URL without a slash at its end; empty gives the provider's own.

    Raises:
        ValueError: it is no address, or holds what does not belong into one, as a password.
    """
    text = url.strip().rstrip("/") or BASE_URLS[provider]
    parts = _split_server_url(text)
    if parts is None or parts.scheme not in ("http", "https") or not _is_host(parts.hostname or ""):
        # A broken address may hold a password, too: it is not repeated.
        raise ValueError("expected an address such as http://localhost:11434/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        message = "expected an address without a name, a password or a query: keys have variables"
        raise ValueError(message)
    # The SDK adds `/v1` itself, and most people copy the address with it.
    return text.removesuffix("/v1") if provider == "anthropic" else text


def digest_of(provider: str, url: str) -> str:
    """What tells one other server from the next; empty for the provider's own address."""
    if not url or url == BASE_URLS[provider]:
        return ""
    return sha256(url.encode()).hexdigest()[:16]


def _split_server_url(text: str) -> SplitResult | None:
    if not text.isascii() or not text.isprintable() or " " in text:
        return None
    try:
        parts = urlsplit(text)
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None


def _is_host(host: str) -> bool:
    return (_ip(host) if ":" in host else _HOST.fullmatch(host)) is not None


def _ip(host: str) -> Any:
    from ipaddress import ip_address

    try:
        return ip_address(host)
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Host and port of a checked address, for messages."""
    return urlsplit(url).netloc


def another_providers(provider: str, url: str) -> str:
    """The other provider whose address a checked address is; empty where no provider has it."""
    host = (urlsplit(url).hostname or "").lower()
    for name, address in BASE_URLS.items():
        theirs = urlsplit(address).hostname or ""
        if name != provider and (host == theirs or host.endswith(f".{theirs}")):
            return name
    return ""


def is_local(url: str) -> bool:
    """Whether a checked address is this machine's own."""
    host = (urlsplit(url).hostname or "").lower()
    address = _ip(host)
    if address is not None:
        return bool(address.is_loopback)
    return host == "localhost" or host.endswith(".localhost")
