"""docs/reference/access-as-code.md names every word of the format, and its examples can be read.

That they run is tested with all pages.
"""

from __future__ import annotations

from lakehold.access_as_code import assertions, file_format, parse_files
from tests.docs.test_docs import DOCS, blocks

PAGE = DOCS / "reference" / "access-as-code.md"


def test_every_word_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not [
        word for word in (*file_format.SECTIONS, *file_format.KEYWORDS, *assertions.KEYS) if f"| `{word}` |" not in text
    ]


def test_examples_can_be_read() -> None:
    people = "members: {tara: {}, tim: {}, nils: {}}\ngroups: {engineers: {}}\n"
    landing = "workspaces: {other: {kind: lakehouse.lakehouse, holds: {layer: {landing: {}}}}}\n"
    for _, text in blocks(PAGE, "yaml"):
        parse_files({"page.yaml": text, "people.yaml": people, "landing.yaml": landing})
