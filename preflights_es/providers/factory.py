"""From settings to a remote provider; errors here name all that is missing.

The simulator and the reference need what `app` alone can hand them, and are made there.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

from preflights_es.kernel.errors import ProviderMissing, SettingsError
from preflights_es.kernel.secret import Secret
from preflights_es.providers.capabilities import (
    ALIASES,
    BASE_URLS,
    DEFAULT_MODELS,
    KEY_VARIABLES,
    REAL,
    ProviderSettings,
    checked_url,
    host_of,
    is_local,
)
from preflights_es.providers.remote import NO_KEY, RemoteProvider

_SDKS: Final = {"anthropic": "anthropic", "openai": "openai", "openrouter": "openai"}


def chosen(settings: ProviderSettings, redact: Callable[[str], str]) -> RemoteProvider:
    """The provider that the settings choose, ready to be asked; see `provider`.

    Raises:
        SettingsError: something that it needs is missing.
    """
    asked = {name: getattr(settings, name) for name in ProviderSettings.__struct_fields__}
    made = provider(asked.pop("provider"), redact=redact, **asked)
    check_importable(made)
    return made


def provider(
    name: str,
    *,
    model: str = "",
    keys: Mapping[str, Secret] | None = None,
    base_url: str = "",
    base_url_in: str = "",
    **asked: Any,
) -> RemoteProvider:
    """A remote provider; its SDK is not imported and no request is made yet.

    Args:
        keys: by the provider's name.
        base_url_in: the file of the project that said where to ask; empty for anything else.
        asked: as for `RemoteProvider`.

    Raises:
        SettingsError: the provider is not known, or its key or its package is missing.
    """
    name = ALIASES.get(name, name)
    if name not in REAL:
        raise SettingsError(f"provider: found {name!r}, expected {', '.join(REAL)}")
    check_installed(name, _SDKS[name])
    try:
        url = checked_url(name, base_url)
    except ValueError as error:
        raise SettingsError(f"base_url: {error}") from error
    kind = _kind(name)
    return kind(
        _key(name, (keys or {}).get(name), url, base_url_in),
        name=name,
        model=model or DEFAULT_MODELS[name],
        base_url=url,
        **asked,
    )


def check_installed(name: str, package: str) -> None:
    """Look for a provider's package, without the second that importing it takes.

    Raises:
        ProviderMissing: it is not installed.
    """
    if find_spec(package) is None:
        raise ProviderMissing(
            f"the provider {name} needs the package {package!r}, which is not installed: "
            f"`pip install {package}`"
        )


def check_importable(asked: RemoteProvider) -> None:
    """Import all that the first request needs, before anything is recorded for it.

    Raises:
        ProviderMissing: the provider's package lacks one of its own.
    """
    try:
        module, _ = asked.sdk()
        # Without proxies and certificates: this client is never asked.
        trusts_none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        http = module.DefaultAsyncHttpxClient(trust_env=False, verify=trusts_none)
        asked.endpoint(asked.client(api_key=NO_KEY, base_url=asked.base_url, http_client=http))
    except ImportError as error:
        package = _SDKS[asked.name]
        raise ProviderMissing(
            f"the provider {asked.name} needs the package {package!r}, which cannot be imported "
            f"({type(error).__name__}: {error}): `pip install --upgrade {package}`"
        ) from error


def _kind(name: str) -> type[RemoteProvider]:
    if name == "anthropic":
        from preflights_es.providers.anthropic import AnthropicProvider

        return AnthropicProvider
    from preflights_es.providers.openai import OpenAIProvider

    return OpenAIProvider


def _key(name: str, key: Secret | None, url: str, base_url_in: str) -> Secret:
    """The key, where it may be sent; a server of one's own may want none.

    Raises:
        ProviderMissing: it is missing.
        SettingsError: it is not a usable key, or only a file names the server it would go to.
    """
    if not key:
        if url == BASE_URLS[name]:
            raise ProviderMissing(
                f"the provider {name} needs a key: set {' or '.join(KEY_VARIABLES[name])}"
            )
        return Secret("")
    if base_url_in and url != BASE_URLS[name] and not is_local(url):
        # A file of a repository must not choose who gets a key.
        raise SettingsError(
            f"{base_url_in}: base_url: a file of the project cannot send your key to "
            f"{host_of(url)}: if you mean it, set PREFLIGHTS_BASE_URL, or base_url in your own "
            "settings file"
        )
    return key
