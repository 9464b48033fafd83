"""How the records of a folder look: what a new one takes over of their names and headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from preflights_es.kernel.text import late_pattern
from preflights_es.records.record_header import RecordHeader
from preflights_es.records.record_names import day_of_file_name, is_record_name, numbered_name
from preflights_es.words.decisions import RecordForm

NYGARD: Final = "nygard.v1"
_ENDINGS: Final = (".md", ".markdown", ".MD", ".adoc", ".asciidoc")  # of what we can write


def form_of(names: Iterable[str], template: str = RecordForm().template) -> RecordForm:
    """What most names of a folder have in common; what has no number and no day is passed over.

    Args:
        names: with `/README.md` or the like of those with a folder of their own.
    """
    names = [name for name in names if is_record_name(name)]
    if names and all(map(day_of_file_name, names)):
        return _dated(names, template)
    numbered = [one for one in map(numbered_name, names) if one is not None]
    if not numbered:
        return RecordForm(template=template)
    before = _most_frequent_text(_with_year(one.before) for one in numbered)
    alike = [one for one in numbered if _with_year(one.before) == before]
    padded = [len(one.digits) for one in alike if one.digits.startswith("0")]
    return RecordForm(
        before=before,
        digits=max(padded, key=padded.count, default=min(len(one.digits) for one in alike)),
        separator=_most_frequent_text(one.after[:1] for one in alike if one.after[:1] in "-_ ")
        or "-",
        ending=_most_frequent_ending(names),
        template=template,
    )


def template_of(records: Sequence[RecordHeader], *, by_adr_tools: bool = False) -> str:
    """Nygard's headings where all records of other tools have them, else those of MADR.

    Args:
        by_adr_tools: whether a file of adr-tools names the folder; then one record is enough, and
            none is.
    """
    tools = {one.tool for one in records if not one.session} or {one.tool for one in records}
    is_nygard = tools == {"nygard"} or (by_adr_tools and (not tools or "nygard" in tools))
    return NYGARD if is_nygard else RecordForm().template


def _dated(names: Sequence[str], template: str) -> RecordForm:
    is_dashed = all(name[4] == "-" for name in names)
    day = "YYYY-MM-DD" if is_dashed else "YYYYMMDD"
    after = (name[len(day) :][:1] for name in names)
    separator = _most_frequent_text(one for one in after if one in "-_ ") or "-"
    return RecordForm(
        separator=separator, ending=_most_frequent_ending(names), day=day, template=template
    )


def _with_year(before: str) -> str:
    return _YEAR.sub("YYYY", before)


_YEAR = late_pattern(r"\d{4}(?=[-_]$)")


def _most_frequent_ending(names: Iterable[str]) -> str:
    endings = (
        name[name.find("/") :] if "/" in name else f".{name.rpartition('.')[2]}" for name in names
    )
    return _most_frequent_text(one for one in endings if one.endswith(_ENDINGS)) or ".md"


def _most_frequent_text(found: Iterable[str]) -> str:
    """The most frequent text; of several the first. Empty without any."""
    counted = Counter(filter(None, found)).most_common(1)
    return counted[0][0] if counted else ""
