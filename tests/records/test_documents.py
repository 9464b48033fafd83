"""Records of real-looking sessions stand as whole files, for people to read.

After a change on purpose: `python -m tests.record_documents`, and read what changed.
"""

from __future__ import annotations

from tests.each import each
from tests.record_documents import DOCUMENTS, FOLDER, document, file_name
from tests.records.reading import body, headings


@each("number", range(1, len(DOCUMENTS) + 1))
def test_a_session_gives_the_record_that_people_read(number: int) -> None:
    session = DOCUMENTS[number - 1]
    expected = (FOLDER / file_name(number, session)).read_bytes()
    assert document(session).encode() == expected


def test_there_are_26_and_no_other_file() -> None:
    names = [file_name(number, session) for number, session in enumerate(DOCUMENTS, 1)]
    assert sorted(path.name for path in FOLDER.iterdir()) == names
    assert len(names) == 26


@each("path", sorted(FOLDER.iterdir()))
def test_no_section_of_a_record_is_empty(path: object) -> None:
    tokens = body((FOLDER / str(path)).read_text("utf-8"))
    kinds = [token.type for token in tokens]
    for at, (tag, title) in zip(
        (n for n, kind in enumerate(kinds) if kind == "heading_open"), headings(tokens), strict=True
    ):
        following = kinds[at + 3 : at + 4]
        assert following not in ([], ["heading_open"]) or tag == "h1", title
