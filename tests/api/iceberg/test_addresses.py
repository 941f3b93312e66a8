"""A workspace may be called whatever people like: its name goes through an address and comes back."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lakehold.api.iceberg.shapes import in_address, out_of_address


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50))
@example("Web shop")
@example("..")
@example("a/b~c%20")
def test_a_name_comes_back_from_an_address_that_needs_no_care(name: str) -> None:
    sent = in_address(name)
    assert out_of_address(sent) == name
    assert re.fullmatch(r"[A-Za-z0-9_~-]+", sent)
