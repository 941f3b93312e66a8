"""Short forms of given names lead to one name."""

from __future__ import annotations

import pytest

from lakehold.workspaces.products.standardisation.nicknames import formal_name
from lakehold.workspaces.products.standardisation.texts import fold, read_facts

SAME = (
    *("bob robert rob bobby", "bill william will liam", "liz elizabeth beth betsy", "kate katherine kathy catherine"),
    *(
        "dick richard rick",
        "peggy margaret maggie",
        "jack john johnny",
        "mike michael",
        "jim james",
        "ted edward eddie",
    ),
    *("steve stephen steven", "tony anthony", "sue susan", "chris christopher", "hank henry harry", "meg margaret"),
    *("fritz friedrich", "sepp josef", "uschi ursula", "pepe jose", "paco francisco", "gigi luigi", "nacho ignacio"),
)
APART = (("john", "james"), ("anna", "hannah"), ("mark", "martin"), ("julia", "juliet"), ("paul", "paula"))


@pytest.mark.parametrize("names", SAME)
def test_forms_of_one_name_lead_to_the_same(names: str) -> None:
    assert len({formal_name(each) for each in names.split()}) == 1


@pytest.mark.parametrize("names", APART)
def test_other_names_remain_apart(names: tuple[str, str]) -> None:
    assert formal_name(names[0]) != formal_name(names[1])


def test_a_name_is_led_to_in_one_step() -> None:
    for of_language in read_facts("nicknames.yaml").values():
        for name, forms in of_language.items():
            for each in (name, *forms.split()):
                assert formal_name(formal_name(fold(each))) == formal_name(fold(each)), each


def test_what_is_no_name_is_itself() -> None:
    for text in ("", "xyzzy", "a" * 500):
        assert formal_name(text) == text
