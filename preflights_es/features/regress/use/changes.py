"""The change that a person asks for, held against the prompts and providers that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.features.regress.engine.change import Change, PromptChange
from preflights_es.kernel.completions import versions
from preflights_es.kernel.errors import Refused, SettingsError
from preflights_es.kernel.lead import Lead
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import Options
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.leads import Leads

TEXT_MAX: Final = 1_000_000  # bytes of a prompt: more than any model reads at once
_VERSION: Final = re.compile(r"(?:[a-z_]+\.)?v[1-9][0-9]*")

Pairs = Sequence[tuple[str, str]]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The change, as it was typed."""

    prompts: Pairs = ()
    """Pairs of name, and version or file."""
    provider: str | None = None
    model: str | None = None
    parameters: Pairs = ()
    seed: int | None = None


def change_of(leads: Leads, asked: Asked) -> Change | None:
    """The change; None where nothing is asked.

    Raises:
        SettingsError: there is no such prompt, version or provider.
        Refused: a file cannot be read.
    """
    if asked == Asked():
        return None
    prompts = tuple(_prompts(asked.prompts))
    if asked.provider is None:
        return Change(
            prompts=prompts,
            model=asked.model or "",
            parameters=tuple(asked.parameters),
            seed=asked.seed,
        )
    lead = _lead(leads, asked)
    if lead is None:  # the rules, as a workflow that is not always led has them
        return Change(prompts=prompts, provider="mock")
    return Change(
        prompts=prompts,
        provider=lead.provider,
        model="" if lead.provider == "sim" else lead.model,
        parameters=tuple({**dict(lead.parameters), **dict(asked.parameters)}.items()),
        address=lead.address,
        structured=bool(lead.structured),
    )


def _lead(leads: Leads, asked: Asked) -> Lead | None:
    seed = None if asked.seed is None else str(asked.seed)
    said = leads.saying(Options(provider=asked.provider, model=asked.model, seed=seed))
    some = next(iter(WORKFLOWS.values()))
    return said.over(None).configured(some)


def _prompts(pairs: Pairs) -> Iterable[PromptChange]:
    """Raises:
    SettingsError: no workflow has such a prompt, or such a version of it; names those that exist.
    """
    names = [name for name, _ in pairs]
    for name, value in pairs:
        if names.count(name) > 1:
            raise SettingsError(f"the prompt {name} is named twice")
        packages = [one.package for one in WORKFLOWS.values() if name in dict(one.prompts)]
        if not packages:
            known = sorted({name for one in WORKFLOWS.values() for name, _ in one.prompts})
            raise SettingsError(f"no prompt {name!r}: expected one of {', '.join(known)}")
        if not _VERSION.fullmatch(value):
            yield PromptChange(name, text=_text(value))
            continue
        whole = value if "." in value else f"{name}.{value}"
        exist = sorted({one for package in packages for one in versions(package, name)})
        if whole not in exist:
            expected = f"expected one of {', '.join(exist)}, or a file"
            raise SettingsError(f"no version {value!r} of the prompt {name}: {expected}")
        yield PromptChange(name, version=whole)


def _text(path: str) -> str:
    try:
        text = regular(Path(path), TEXT_MAX).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} cannot be read: it is no UTF-8") from error
    except (Unreadable, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{path} cannot be read: {why}") from error
    if not text.strip():
        raise Refused(f"{path} is empty: a prompt needs words")
    return text
