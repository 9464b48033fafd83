"""What a record's new number changes in texts: its heading, and the links that lead to its file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

from preflights_es.kernel.text import late_pattern
from preflights_es.records.foreign_records import title_number
from preflights_es.records.record_names import is_page
from preflights_es.records.record_text import narrow, parts_of

_FOLDER_BEFORE = late_pattern(r"[^\s()<>\[\]\"'`|,;]*\Z")
TOKEN_MAX: Final = 1_000  # characters of a link's folder
_LABEL_BEFORE = late_pattern(r"\[(?P<label>[^\[\]]{0,500})\]\(\s?<?[^\s()<>]{0,500}\Z")
_LABEL_BEHIND = late_pattern(r"[^\s\[\]()]{0,500}\[(?P<label>[^\[\]]{0,500})\]")
_LABEL_NUMBER = r"\W{0,2}(?:adr[-_ #]{0,2})?(?P<digits>0*%d)(?!\d)"


class NewPlace(NamedTuple):
    """Where a record lies that got another number; paths are relative to the project's root."""

    path: str
    number: int
    new_path: str
    new_number: int

    @property
    def stem(self) -> str:
        """The former name, without the ending of a page; a record's own folder has none."""
        return _stem(self.path)

    @property
    def ending(self) -> str:
        """Of the page; empty of a folder."""
        return posixpath.basename(self.path)[len(self.stem) :]

    @property
    def new_stem(self) -> str:
        """The new name, as above."""
        return _stem(self.new_path)


def _stem(path: str) -> str:
    name = posixpath.basename(path)
    return name.rpartition(".")[0] if is_page(name) else name


class Pointing(NamedTuple):
    """A text that names a file by its former name."""

    start: int
    end: int
    place: NewPlace
    is_sure: bool
    """Whether its folder is named, too."""


def with_title_number(content: bytes, place: NewPlace) -> bytes:
    """The record with the new number in its title, where that bears the old one.

    Raises:
        UnicodeDecodeError: it begins like UTF-16, and is not.
    """
    plain, wide = narrow(content)
    parts = parts_of(plain)
    found = title_number(parts)
    if found is None:
        return content
    start, end = found
    if not plain[start:end].isdigit() or int(plain[start:end]) != place.number:
        return content
    digits = _as_wide(plain[start:end].decode(), place.new_number).encode()
    made = plain[:start] + digits + plain[end:]
    return content[:2] + made.decode().encode(wide) if wide else made


def with_links(content: bytes, path: str, places: Mapping[str, NewPlace]) -> bytes:
    """A page of which every link to a former place leads to the new one; its label follows.

    Args:
        path: of the page.
        places: by their former paths.

    Raises:
        UnicodeDecodeError: it is in no encoding of Markdown.
    """
    plain, wide = narrow(content)
    text = plain.decode()
    made, at = [], 0
    for pointing in pointing_at(text, path, places):
        if not pointing.is_sure:
            continue
        old = text[pointing.start : pointing.end]
        before = _relabelled(text[at : pointing.start], pointing.place, _LABEL_BEFORE.search)
        made += [before, quote(pointing.place.new_stem) if "%" in old else pointing.place.new_stem]
        at = pointing.end
        if (label := _LABEL_BEHIND.match(text, at)) is not None:
            made.append(_relabelled(label[0], pointing.place, _LABEL_BEHIND.match))
            at = label.end()
    made.append(text[at:])
    changed = "".join(made)
    if changed == text:
        return content
    return content[:2] + changed.encode(wide) if wide else changed.encode()


def pointing_at(text: str, path: str, places: Mapping[str, NewPlace]) -> Iterator[Pointing]:
    """Where a text names files by their former names, in its order.

    Args:
        path: of the text, from which its links start.
    """
    if not places:
        return
    by_stem: dict[str, list[NewPlace]] = {}
    for place in places.values():
        for form in {place.stem, quote(place.stem)}:
            by_stem.setdefault(form, []).append(place)
    stems = "|".join(map(re.escape, sorted(by_stem, key=len, reverse=True)))
    named = re.compile(rf"(?:(?<![\w.%-])|(?<=/))(?P<stem>{stems})(?P<end>\.\w+)?(?![\w-])")
    for hit in named.finditer(text):
        token = _FOLDER_BEFORE.search(text[max(0, hit.start() - TOKEN_MAX) : hit.start()])
        before = token[0] if token else ""
        for place in by_stem[hit["stem"]]:
            if hit["end"] not in (None, place.ending):
                continue
            folder = posixpath.dirname(place.path)
            if _leads_to(before, posixpath.dirname(path), folder):
                yield Pointing(hit.start("stem"), hit.end("stem"), place, is_sure=True)
            elif before.rstrip("/").endswith(folder) or (not before and hit["end"]):
                yield Pointing(hit.start("stem"), hit.end("stem"), place, is_sure=False)


def _leads_to(before: str, at: str, folder: str) -> bool:
    """Whether what stands before a file's name leads to its folder."""
    if "://" in before:
        return False
    before = before.rpartition(":")[2]  # `xref:`
    from_here = posixpath.normpath(posixpath.join(at, before))
    return folder in (from_here, before.strip("/"))


def _relabelled(text: str, place: NewPlace, found_in: Callable[[str], re.Match[str] | None]) -> str:
    """The text with the new number in its label, where that begins with the old one."""
    label = found_in(text)
    if label is None:
        return text
    number = re.match(_LABEL_NUMBER % place.number, label["label"], re.IGNORECASE)
    if number is None:
        return text
    start, end = (label.start("label") + at for at in number.span("digits"))
    return text[:start] + _as_wide(text[start:end], place.new_number) + text[end:]


def _as_wide(digits: str, number: int) -> str:
    return f"{number:0{len(digits)}d}"
