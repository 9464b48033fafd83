"""Findings hold a plan up unless a person waives each with a reason; one rule for every kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec

from preflights_es.features.compiler.domain.values import Waiver
from preflights_es.kernel.items import Finding
from preflights_es.kernel.questions import is_placeholder


class Unwaived(msgspec.Struct, frozen=True):
    """Why waivers do not settle the findings of a plan."""

    reason: Literal["not_a_person", "unknown_finding", "no_reason", "findings_open"]
    names: tuple[str, ...] = ()
    """Of the findings, or waivers, that are meant."""


def unwaived(
    findings: Iterable[Finding], waivers: Iterable[Waiver], *, is_person: bool
) -> Unwaived | None:
    """The first reason why findings still hold a plan up; None where none does."""
    waivers = tuple(waivers)
    if waivers and not is_person:
        return Unwaived("not_a_person")
    return unfit(findings, waivers) or _open(findings, waivers)


def unfit(findings: Iterable[Finding], waivers: Iterable[Waiver]) -> Unwaived | None:
    """Why a waiver does not count, whatever else is open; None where each does."""
    names = {one.name for one in findings if one.kind != "more"}
    waivers = tuple(waivers)
    unknown = dict.fromkeys(one.finding for one in waivers if one.finding not in names)
    if unknown:
        return Unwaived("unknown_finding", tuple(unknown))
    bare = dict.fromkeys(one.finding for one in waivers if is_placeholder(one.reason))
    return Unwaived("no_reason", tuple(bare)) if bare else None


def _open(findings: Iterable[Finding], waivers: Iterable[Waiver]) -> Unwaived | None:
    left = still_open(findings, {one.finding for one in waivers})
    return Unwaived("findings_open", tuple(one.name for one in left)) if left else None


def still_open(findings: Iterable[Finding], waived: Collection[str]) -> tuple[Finding, ...]:
    """The findings that no waiver names."""
    return tuple(one for one in findings if one.kind == "more" or one.name not in waived)
