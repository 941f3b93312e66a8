"""Cursors: opaque, of one list, and nothing that was altered is believed."""

from __future__ import annotations

import base64
import json

import pytest

from lakehold.api.http.paging import PageRequest, decode_cursor, encode_cursor
from lakehold.kit.errors import InvalidInputError


def test_a_cursor_gives_back_its_key() -> None:
    assert decode_cursor(encode_cursor("list", ("Ärger", 7)), "list", str, int) == ("Ärger", 7)


def test_all_pages_together_are_the_list() -> None:
    rows = list(range(1, 24))
    after, seen = None, []
    while True:
        paging = PageRequest(5, after)
        behind = paging.start_key("numbers", int)
        left = [row for row in rows if behind is None or row > int(behind[0])]
        page = paging.build_page("numbers", left[:6], lambda row: (row,), lambda row: row)
        seen += page.items
        after = page.next
        if after is None:
            break
    assert seen == rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "é",
        "!!!!",
        encode_cursor("another list", ("a", 1)),
        encode_cursor("list", ("a",)),
        encode_cursor("list", (1, "a")),
        encode_cursor("list", ("a", 2**63)),
        encode_cursor("list", ("a\0b", 1)),
        base64.urlsafe_b64encode(b"[" * 5_000).decode(),
        base64.urlsafe_b64encode(json.dumps({"a": 1}).encode()).decode(),
        base64.urlsafe_b64encode(json.dumps(["list", "a", True]).encode()).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    ],
)
def test_any_other_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        decode_cursor(text, "list", str, int)
