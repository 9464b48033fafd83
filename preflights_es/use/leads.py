"""Who leads a session: the rules, a model of the settings, or a provider that is code of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from preflights_es.kernel.errors import ProviderMissing, SettingsError
from preflights_es.kernel.lead import WRITERS, Lead
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.runner import Handle
from preflights_es.settings.load import Options, Settings, check_options
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.kernel.feature import Feature
    from preflights_es.providers.base import LLMProvider
    from preflights_es.providers.capabilities import Api
    from preflights_es.providers.remote import RemoteProvider
    from preflights_es.words.simulation import Bank, References


T = TypeVar("T")
CODE = ("mock", "sim")
"""Providers that are code of ours: what they answer is computed, and can be computed again."""

GENERATION = "simllm/1"
"""The model of a simulated session: the simulator's version, said without importing it."""


def simulated(lead: Lead) -> LLMProvider:
    """The simulator that led a session, with its seed and faults; or the reference, as a provider.

    Raises:
        LogDamaged: the simulator does not know these parameters.
    """
    if lead.provider == "mock":
        from preflights_es.providers.base import ReferenceProvider

        return ReferenceProvider(references())
    from preflights_es.providers.faults import FaultConfig
    from preflights_es.providers.simulator import SimLLMProvider

    said = dict(lead.parameters)
    return SimLLMProvider(int(said["seed"]), FaultConfig.parsed(said["faults"]), bank())


def bank() -> Bank:
    """What the simulator answers, for every workflow."""
    return _first_by_name(map(_bank, FEATURES.values()))


def references() -> References:
    """What the rules answer, for every workflow whose steps always ask a provider."""
    return _first_by_name(map(_references, FEATURES.values()))


def _first_by_name(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    found: dict[str, T] = {}
    for part in parts:
        found |= {name: one for name, one in part.items() if name not in found}
    return found


def refuse_taken_route(workflow: Workflow[Any]) -> None:
    """See that the simulator and the reference answer a workflow by its own routes.

    Raises:
        SettingsError: another workflow has one of the names.
    """
    if (mine := FEATURES.get(workflow.name)) is None:
        return
    for other in FEATURES.values():
        if other is mine:
            return
        for name in _routes(other) & _routes(mine):
            raise SettingsError(
                f"the package {mine.package} has the route {name!r}, which the feature "
                f"{other.name!r} has already: rename it"
            )


def _routes(feature: Feature) -> set[str]:
    return {*_bank(feature), *_references(feature)}


def _bank(feature: Feature) -> Bank:
    found: Bank = feature.loaded(feature.bank) if feature.bank else {}
    return found


def _references(feature: Feature) -> References:
    found: References = feature.loaded(feature.references) if feature.references else {}
    return found


Reloaded = Callable[[Options], Settings]
"""The settings, had a command said something else of a provider."""


class Leads:
    """Whom the settings and a command choose, and how those are asked who led before."""

    def __init__(
        self, settings: Settings, options: Options | None = None, reloaded: Reloaded | None = None
    ) -> None:
        """Args:
        options: what the command says of a provider.
        reloaded: without it, a session is asked by these settings or not at all.
        """
        self.settings = settings
        self._options = options or Options()
        self._reloaded = reloaded
        self.written = ""
        """The response that the caller brings, where no model is asked for it."""

    def anew(self) -> Leads:
        """The same, for another request."""
        return self.saying(self._options)

    def saying(self, options: Options) -> Leads:
        """The same, had the command said this."""
        return Leads(self.settings, options, self._reloaded)

    @property
    def named(self) -> bool:
        """Whether the command itself says who leads, not only the settings."""
        return any(msgspec.structs.astuple(self._options))

    @property
    def names_provider(self) -> bool:
        """Whether the command names a provider."""
        return self._options.provider is not None

    def over(self, former: Lead | None) -> Leads:
        """What the command says laid over who leads already; the rest is that lead's."""
        said = self._options
        if self._reloaded is None:
            return self
        if former is None:
            return Leads(self._reloaded(said), said, self._reloaded)
        provider = said.provider or former.provider
        keeps = provider == former.provider
        kept = dict(former.parameters) if keeps and provider == "sim" else {}
        model = former.model if keeps and said.provider is None and provider not in CODE else None
        options = msgspec.structs.replace(
            said,
            provider=provider,
            model=said.model or model,
            seed=said.seed or kept.get("seed"),
            faults=said.faults or kept.get("faults"),
        )
        made = Leads(self._reloaded(options), options, self._reloaded)
        if keeps and not said.base_url:
            made.refuse_another_address(former)
        return made

    def lead(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead | None:
        """Who leads a session as the settings say; None for the rules.

        Raises:
            SettingsError: the provider lacks something.
        """
        lead = self.configured(workflow, strict=strict)
        if lead is not None:
            if lead.provider in CODE:
                refuse_taken_route(workflow)
            self.provider_for(lead)
        return lead

    def configured(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead | None:
        """As `lead`, whether it can be asked or not.

        Raises:
            SettingsError: the command says what the provider does not take.
        """
        settings = self.settings
        check_options(settings.provider, msgspec.structs.asdict(self._options))
        if settings.provider == "mock":
            return (
                Lead("mock", workflow.decider.version, (), strict) if workflow.led.always else None
            )
        if settings.provider == "sim":
            parameters = (("seed", str(settings.seed)), ("faults", settings.faults))
            return Lead("sim", GENERATION, parameters, strict)
        from preflights_es.providers.capabilities import digest_of, parameters_for, structured

        asked = settings
        if settings.temperature is None and settings.top_p is None:
            asked = msgspec.structs.replace(settings, temperature=workflow.led.temperature)
        sent = parameters_for(settings.provider, settings.model, asked)
        address = digest_of(settings.provider, settings.base_url)
        takes = structured(settings.provider, settings.model, settings.base_url)
        lead = Lead(settings.provider, settings.model, sent, strict, address=address)
        return msgspec.structs.replace(lead, structured=True) if takes else lead

    def provider_for(self, lead: Lead) -> LLMProvider:
        """Who answers a session, as its first Input says; keys and addresses are today's.

        Raises:
            SettingsError: something that the provider needs is missing.
        """
        if lead.provider in CODE:
            return simulated(lead)
        if lead.provider in WRITERS:
            from preflights_es.providers.base import GivenProvider

            return GivenProvider(lead.provider, self.written)
        self.refuse_another_address(lead)
        return self._remote_provider(lead.provider, model=lead.model)

    def provider_of_bodies(self, provider: str, api: Api) -> RemoteProvider:
        """Who is sent bodies that another program made; keys and addresses are today's.

        Raises:
            SettingsError: something that the provider needs is missing.
        """
        return self._remote_provider(provider, api=api)

    def _remote_provider(self, provider: str, **chosen: str) -> RemoteProvider:
        from preflights_es.providers.apis import build_chosen_provider
        from preflights_es.redaction.masking import redact

        asked = msgspec.structs.replace(self._todays(provider), provider=provider, **chosen)
        return build_chosen_provider(asked, lambda text: redact(text).text)

    def refuse_another_address(self, lead: Lead) -> None:
        """See that a session goes on where it began: what was said there goes nowhere else.

        Raises:
            ProviderMissing: today's address of its provider is another one.
        """
        from preflights_es.providers.capabilities import REAL, digest_of

        if lead.provider not in REAL:
            return
        todays = self._todays(lead.provider)
        if digest_of(lead.provider, todays.base_url) != lead.address:
            where = "another server" if lead.address else "its maker's own"
            raise ProviderMissing(
                f"the session asks {lead.provider} at {where}, and today's address is at "
                f"{todays.host}: set PREFLIGHTS_BASE_URL to that of the session, or give one to "
                "`resume` by --base-url"
            )

    def _todays(self, provider: str) -> Settings:
        """The settings for the provider of a session, whichever they choose for a new one."""
        if provider == self.settings.provider:
            return self.settings
        if self._reloaded is not None:
            return self._reloaded(Options(provider=provider))
        return msgspec.structs.replace(self.settings, provider=provider, base_url="")

    def address_for(self, recorded: Lead | None, provider: str) -> str:
        """Where a rerun asks: as the session did, or at today's address of the provider.

        Args:
            recorded: None where the session's address does not matter.
        """
        from preflights_es.providers.capabilities import digest_of

        if recorded is not None and recorded.provider == provider:
            return recorded.address
        return digest_of(provider, self._todays(provider).base_url)

    def check(self, handle: Handle) -> None:
        """Before something is recorded that a provider must answer: it can be asked.

        Raises:
            SettingsError: something that it needs is missing.
        """
        lead = handle.workflow.led.lead(handle.session.state)
        if lead is not None and lead.provider not in CODE:
            self.provider_for(lead)
