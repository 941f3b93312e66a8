from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, valid_id, valid_name


@pytest.mark.parametrize("text", ["", "\0", "a\nb", "x" * 201, "\ud800", 7, None, b"bytes"])
def test_what_cannot_be_an_id_is_refused_by_name(text: object) -> None:
    with pytest.raises(InvalidInputError):
        valid_id(text)


@pytest.mark.parametrize("text", ["a", "A", "é", "'; DROP TABLE resource; --", "表", "x" * 200])
def test_what_can_be_an_id_is_kept_as_it_is(text: str) -> None:
    assert valid_id(text) == text


def test_a_name_of_blanks_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        valid_name("   ")


@given(st.text())
def test_names_are_compared_without_case_and_in_one_unicode_form(name: str) -> None:
    assert fold_name(name) == fold_name(fold_name(name))
    assert fold_name(unicodedata.normalize("NFD", name)) == fold_name(unicodedata.normalize("NFC", name))
