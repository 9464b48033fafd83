"""What is said of a provider, by the first place that speaks of it; `settings` reads the places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from preflights_es.core.errors import SettingsError
from preflights_es.core.secret import Secret
from preflights_es.core.text import NAME_MAX, shortened
from preflights_es.providers.capabilities import (
    ALIASES,
    DEFAULT_MODELS,
    KEY_VARIABLES,
    MAX_TOKENS,
    MAX_TOKENS_MAX,
    REAL,
    TIMEOUT_MAX_S,
    TIMEOUT_S,
    Api,
    another_providers,
    checked_url,
    host_of,
)
from preflights_es.settings.file import Source

PROVIDERS: Final = ("mock", "sim", *REAL)
TEMPERATURE_MAX: Final = 2.0  # where a provider takes one (OpenAI's reference)
SEED_MAX: Final = 2**63 - 1  # what fits a column, in both directions

SEED_NAMES: Final = {
    "provider": "LLM_PROVIDER",
    "model": "LLM_MODEL",
    "temperature": "LLM_TEMPERATURE",
    "top_p": "LLM_TOP_P",
    "timeout_s": "LLM_TIMEOUT",
}


class Layer(NamedTuple):
    """One of the places that say something."""

    values: Mapping[str, Any]
    """By the setting's name; only what is said."""
    wrong: Callable[[str, str], SettingsError]
    """From the setting's name and what is wrong with it."""
    file: Source | None = None


class FoundSetting(NamedTuple):
    """What a place says."""

    value: Any
    layer: Layer
    name: str

    def wrong(self, expected: str) -> SettingsError:
        """What is said and what should be."""
        value = shortened(_safe(self.value), 60) if isinstance(self.value, str) else self.value
        return self.layer.wrong(self.name, f"found {value!r}, expected {expected}")


def _safe(text: str) -> str:
    """A text without a key, which people put into the wrong variable, too."""
    from preflights_es.redaction import redact

    return redact(text).text


def asked_whom(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """The fields of `Settings` that choose a provider and how it is asked."""
    provider = _provider(layers)
    # A model and an address belong to the provider that is named beside them: a user who chooses
    # another provider by an option must not send it there.
    beside = tuple(one for one in layers if _named_in(one) in ("", provider))
    url = _first(beside, "base_url")
    return {
        "provider": provider,
        "model": _model(_first(beside, "model")) or DEFAULT_MODELS.get(provider, ""),
        "base_url": _base_url(provider, url),
        "base_url_in": _project_file(url),
        "api": _api(_first(layers, "api")),
        "timeout_s": _number(_first(layers, "timeout_s"), 0.001, TIMEOUT_MAX_S, TIMEOUT_S),
        "max_tokens": _whole(_first(layers, "max_tokens"), 1, MAX_TOKENS_MAX, MAX_TOKENS),
        "temperature": _number(_first(layers, "temperature"), 0.0, TEMPERATURE_MAX, None),
        "top_p": _number(_first(layers, "top_p"), 0.0, 1.0, None),
        "seed": _whole(_first(layers, "seed"), -SEED_MAX, SEED_MAX, 0),
        "faults": _faults(_first(layers, "faults")),
    }


SIMULATED = ("seed", "faults")
"""Options that only a simulated provider takes."""


def check_options(provider: str, named: Mapping[str, str | None]) -> None:
    """What the command line says fits the provider that it is said of.

    Args:
        named: by the option's name; None where it was not given.

    Raises:
        SettingsError: the provider takes no such thing.
    """
    called = ("model", "base_url")
    own = {"sim": called, "mock": (*called, *SIMULATED)}
    for name in own.get(provider, SIMULATED):
        if named.get(name) is not None:
            option = name.replace("_", "-")
            todo = "leave it out" + (" or add --provider sim" if name in SIMULATED else "")
            raise SettingsError(f"--{option}: the provider {provider} takes none: {todo}")


def _first(layers: tuple[Layer, ...], name: str) -> FoundSetting | None:
    return next(
        (FoundSetting(one.values[name], one, name) for one in layers if name in one.values), None
    )


def _named_in(layer: Layer) -> str:
    said: str = layer.values.get("provider", "")
    return ALIASES.get(said, said)


def _provider(layers: tuple[Layer, ...]) -> str:
    """The provider that the user named; a key in the environment alone names none."""
    found = _first(layers, "provider")
    if found is None:
        return "mock"
    provider = _named_in(found.layer)
    if provider not in PROVIDERS:
        raise found.wrong(f"one of {', '.join(PROVIDERS)}")
    return provider


def _model(found: FoundSetting | None) -> str:
    if found is None:
        return ""
    model = cast("str", found.value).strip()
    if not model or not model.isprintable() or len(model) > NAME_MAX:
        raise found.wrong(f"the name of a model, of at most {NAME_MAX} characters")
    if _safe(model) != model:  # it would be recorded
        raise found.wrong("the name of a model, and not what looks like a key")
    return model


def _base_url(provider: str, found: FoundSetting | None) -> str:
    if found is None or provider not in REAL:
        return ""
    try:
        url = checked_url(provider, found.value)
    except ValueError as error:
        raise found.layer.wrong("base_url", str(error)) from error
    if found.layer.file and (other := another_providers(provider, url)):
        # Where a file says so, a key would go to a company it is not for; a person can mean it.
        message = f"{host_of(url)} belongs to {other}, and {provider}'s key does not go there: "
        raise found.layer.wrong("base_url", f'{message}set provider = "{other}" beside it')
    return url


def key_receivers(beside: str | None, url: str) -> tuple[str, ...]:
    """The providers whose key goes to the address of a project's file, as soon as they are asked.

    Args:
        beside: the provider that the file names.

    Raises:
        ValueError: it is no address that a provider takes.
    """
    named = ALIASES.get(beside, beside) if beside else ""
    asked = [provider for provider in REAL if named in ("", provider)]
    return tuple(name for name in asked if not another_providers(name, checked_url(name, url)))


def _project_file(url: FoundSetting | None) -> str:
    """The file of the project that says an address."""
    source = url.layer.file if url else None
    return source.name if source and not source.is_own else ""


def _api(found: FoundSetting | None) -> Api:
    if found is None:
        return "chat"
    if found.value not in ("chat", "responses"):
        raise found.wrong("chat or responses")
    return cast("Api", found.value)


def _number(found: FoundSetting | None, low: float, high: float, default: Any) -> Any:
    if found is None:
        return default
    try:
        number = float(found.value)
    except (ValueError, OverflowError):
        number = float("nan")
    if not low <= number <= high:
        raise found.wrong(f"a number from {low:g} to {high:g}")
    return number


def _whole(found: FoundSetting | None, low: int, high: int, default: int) -> int:
    if found is None:
        return default
    try:
        number = int(found.value)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise found.wrong(f"a whole number from {low} to {high}")
    return number


def _faults(found: FoundSetting | None) -> str:
    if found is None:
        return "none"
    from preflights_es.providers.faults import FaultConfig

    try:
        return FaultConfig.parsed(found.value).text()
    except ValueError as error:
        raise found.layer.wrong("faults", shortened(_safe(str(error)), 300)) from None


def keys_of(env: Mapping[str, str]) -> dict[str, Secret]:
    """The keys that lie in the environment, each with the variable it lies in."""
    return {
        provider: Secret(env[variable].strip(), variable)
        for provider, variables in KEY_VARIABLES.items()
        for variable in variables[::-1]  # ours is the last, and wins
        if env.get(variable, "").strip()
    }
