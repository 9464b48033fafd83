"""What is said of a provider, by the first place that speaks of it; `settings` reads the places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import NAME_MAX, Secret, shortened
from preflights_es.providers.capabilities import (
    ALIASES,
    BASE_URL_VARIABLES,
    DEFAULT_MODELS,
    KEY_VARIABLES,
    REAL,
    Api,
    another_providers,
    checked_url,
    host_of,
)
from preflights_es.settings.file import FIELDS, FoundSetting, Layer, Layers, Setting, safe

PROVIDERS: Final = ("mock", "sim", *REAL)


def asked_whom(layers: Layers, env: Mapping[str, str]) -> dict[str, Any]:
    """The fields of `Settings` that choose a provider and how it is asked."""
    provider = _provider(layers)
    # A model and an address belong to the provider that is named beside them: a user who chooses
    # another provider by an option must not send it there.
    beside = Layers(one for one in layers if _named_in(one) in ("", provider))
    return {
        "provider": provider,
        "model": _check_model_name(beside.first("model")) or DEFAULT_MODELS.get(provider, ""),
        "base_url": _base_url(provider, Layers((*beside, *_of_sdk(provider, env)))),
        "api": _api(layers.first("api")),
        "faults": _faults(layers.first("faults")),
        **{one.name: _number(one, layers.first(one.name)) for one in FIELDS if one.limits},
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
            todo = "add --provider sim" if name in SIMULATED else "name another --provider"
            raise SettingsError(
                f"--{option}: the provider {provider} takes none: leave it out or {todo}"
            )


def _named_in(layer: Layer) -> str:
    said: str = layer.values.get("provider", "")
    return ALIASES.get(said, said)


def _provider(layers: Layers) -> str:
    """The provider that the user named; a key in the environment alone names none."""
    found = layers.first("provider")
    if found is None:
        return "mock"
    provider = _named_in(found.layer)
    if provider not in PROVIDERS:
        raise found.wrong(f"one of {', '.join(PROVIDERS)}")
    return provider


def _check_model_name(found: FoundSetting | None) -> str:
    if found is None:
        return ""
    model = cast("str", found.value).strip()
    if not model or not model.isprintable() or len(model) > NAME_MAX:
        raise found.wrong(f"the name of a model, of at most {NAME_MAX} characters")
    if safe(model) != model:  # it would be recorded
        raise found.wrong("the name of a model, and not what looks like a key")
    return model


def _of_sdk(provider: str, env: Mapping[str, str]) -> Iterator[Layer]:
    """What the maker's SDK would read: with a gateway's key, the maker's address would get both."""
    variable = BASE_URL_VARIABLES.get(provider, "")
    if variable in env:
        yield Layer({"base_url": env[variable]}, lambda _: variable)


def _base_url(provider: str, layers: Layers) -> str:
    found = next((one for one in layers.each("base_url") if one.value.strip()), None)
    if found is None or provider not in REAL:
        return ""
    try:
        url = checked_url(provider, found.value)
    except ValueError as error:
        raise found.refused(str(error)) from error
    if found.layer.file and (other := another_providers(provider, url)):
        # Where a file says so, a key would go to a company it is not for; a person can mean it.
        message = f"{host_of(url)} belongs to {other}, and {provider}'s key does not go there: "
        raise found.refused(f'{message}set provider = "{other}" beside it')
    return url


def _api(found: FoundSetting | None) -> Api:
    if found is None:
        return "chat"
    if found.value not in ("chat", "responses"):
        raise found.wrong("chat or responses")
    return cast("Api", found.value)


def _number(field: Setting, found: FoundSetting | None) -> Any:
    """What is said within the limits of a field, else its default."""
    if found is None:
        return field.default
    assert field.limits is not None, "it is a number"
    low, high = field.limits
    try:
        number = field.kind(found.value)
    except (ValueError, OverflowError):
        number = None
    if number is None or not low <= number <= high:
        if field.kind is int:
            raise found.wrong(f"a whole number from {low} to {high}")
        raise found.wrong(f"a number from {low:g} to {high:g}")
    return number


def _faults(found: FoundSetting | None) -> str:
    if found is None:
        return "none"
    from preflights_es.providers.faults import FaultConfig

    try:
        return FaultConfig.parsed(found.value).text()
    except ValueError as error:
        raise found.refused(shortened(safe(str(error)), 300)) from None


def keys_of(env: Mapping[str, str]) -> dict[str, Secret]:
    """The keys that lie in the environment, each with the variable it lies in."""
    return {
        provider: Secret(env[variable].strip(), variable)
        for provider, variables in KEY_VARIABLES.items()
        for variable in variables[::-1]  # ours is the last, and wins
        if env.get(variable, "").strip()
    }
