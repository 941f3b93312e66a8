"""What is true of the standardisation of every type, whatever the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakehold.workspaces.products.attribute_types import PARTS, AttributeType
from lakehold.workspaces.products.standardisation.standardiser import standardise

COUNTRIES = ("", "DE", "US", "GB", "FR", "ES", "IT", "JP", "XX")
PIECES = (
    *("Dr. ", "von ", "der ", "Müller", "MÜLLER", "hans", "-", "'", ", ", " ", ". ", "Jr.", "(Bob)", "McX", "O'B", "ß"),
    *("GmbH", " & Co. KG", "Ltd", "S.p.A.", "株式会社", "+49", "0221", "/", "12", "1980", "03", "März", "1.234,5", "€"),
    *("@", "example", ".com", "Str. ", "Apt 4", "Main St", "50667", "D-", "NY", "Germany", "É", "\u0301", "\u202e"),
    *(
        "\x00",
        "山田",
        "محمد",
        "Иван",
        "½",
        "²",
        "ﬁ",
        "ŉ",
        "ǅ",
        "İ",
        "ı",
        "٣",
        "\ud800",
        "👍🏽",
        "\u200d",
        "\u00a0",
        "\ufeff",
    ),
)
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
HOSTILE = {
    "nothing": "",
    "blanks": " \t\n\u00a0\u2003\u3000",
    "marks of direction": "\u202e\u202d\u200f\u200e",
    "zero": "\x00",
    "half a pair": "\ud800",
    "signs": "--- ??? ...",
    "combining marks": "e" + "\u0301" * 900,
    "combining marks alone": "\u0301" * 50,
    "a placeholder": "N/A",
    "a megabyte of a": "a" * 1_000_000,
    "a megabyte of words": "ab " * 350_000,
    "a thousand brackets": "(" * 1000,
    "a thousand commas": "a," * 500,
    "a thousand quotes": "\"'" * 500,
    "a thousand points": "1." * 500,
    "a thousand dashes": "1-" * 500,
    "a thousand ats": "a@" * 500,
    "a thousand digits": "9" * 1000,
}


@pytest.mark.parametrize("attribute", AttributeType)
@given(text=TEXTS, country=st.sampled_from(COUNTRIES))
@example(text="ß", country="")
@example(text="1.234", country="DE")
@example(text="García Márquez, Gabriel", country="")
@example(text="山田 太郎", country="JP")
@example(text="A000 \u0300", country="")
@example(text="A-A-0", country="")
def test_a_standardised_value_becomes_itself(attribute: AttributeType, text: str, country: str) -> None:
    found = standardise(attribute, text, country)
    if found is None:
        return
    again = standardise(attribute, found.value, country)
    assert again is not None
    assert again.value == found.value
    assert again.parts == found.parts


@pytest.mark.parametrize("attribute", AttributeType)
@given(text=TEXTS, country=st.sampled_from(COUNTRIES))
def test_values_and_parts_are_never_blank_and_can_be_stored(attribute: AttributeType, text: str, country: str) -> None:
    found = standardise(attribute, text, country)
    if found is None:
        return
    assert found.parts.keys() <= PARTS[attribute].parts.keys()
    for each in (found.value, *found.parts.values()):
        assert each == each.strip() != ""
        assert "\x00" not in each
        each.encode()


@pytest.mark.parametrize("attribute", AttributeType)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_long(attribute: AttributeType, name: str) -> None:
    standardise(attribute, "warm up 1 a@b.de")
    before = time.process_time()
    standardise(attribute, HOSTILE[name], "DE")
    assert time.process_time() - before < 2


@pytest.mark.parametrize("attribute", AttributeType)
@pytest.mark.parametrize("name", [*list(HOSTILE)[:6], "combining marks alone", "a placeholder"])
def test_what_says_nothing_is_missing(attribute: AttributeType, name: str) -> None:
    assert standardise(attribute, HOSTILE[name]) is None
    assert standardise(attribute, None) is None


@pytest.mark.parametrize("attribute", AttributeType)
def test_a_megabyte_is_a_text_and_nothing_else(attribute: AttributeType) -> None:
    found = standardise(attribute, HOSTILE["a megabyte of words"])
    if attribute is AttributeType.TEXT:
        assert found is not None
        assert len(found.value) > 900_000
        assert len(found.parts["key"]) <= 1000
    else:
        assert found is None


def test_people_may_be_called_null() -> None:
    found = standardise(AttributeType.FAMILY_NAME, "Null")
    assert found is not None
    assert found.value == "Null"
    assert standardise(AttributeType.CITY, "NULL") is None
