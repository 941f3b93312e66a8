"""A workspace may be called whatever people like: its name goes through an address and comes back."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lakehold.api.iceberg_rest import decode_prefix, encode_prefix


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50))
@example("Web shop")
@example("..")
@example("a/b~c%20")
def test_a_name_comes_back_from_an_address_that_needs_no_care(name: str) -> None:
    sent = encode_prefix(name)
    assert decode_prefix(sent) == name
    assert re.fullmatch(r"[A-Za-z0-9_~-]+", sent)
