"""Reads names of columns: their words, and the types of values that people call so in several languages."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import yaml

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.standardisation.texts import fold

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 200
_CONTAINED = 0.85
"""The similarity of a name that has all words of the other, and more."""
_CLOSE = 0.8
"""The least similarity of two spellings of one word."""
_SHORTEST = 4
"""Shorter words are close to too many others."""


def column_words(name: str) -> tuple[str, ...]:
    """Return the folded words of a name: `customerFirstName` and `CUSTOMER_FIRST_NAME` have the same."""
    return tuple(fold(_HUMP.sub(" ", name[:_LONGEST])).split())


def name_similarity(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return how similar two names are by their words, from 0 to 1."""
    joined, other_joined = "".join(one), "".join(other)
    if not joined or not other_joined:
        return 0.0
    if joined == other_joined:
        return 1.0
    if set(one) <= set(other) or set(other) <= set(one):
        # The last word says what a thing is, as in `customer phone`; others are of something else, as in `phone type`.
        return _CONTAINED if one[-1] == other[-1] else _CONTAINED / 2
    if min(len(joined), len(other_joined)) < _SHORTEST:
        return 0.0
    ratio = SequenceMatcher(None, joined, other_joined, autojunk=False).ratio()
    return ratio * _CONTAINED if ratio >= _CLOSE else 0.0


@cache
def synonyms() -> Mapping[AttributeType, tuple[tuple[str, ...], ...]]:
    """Return what columns with values of a type are called: tuples of words."""
    stored = yaml.safe_load(Path(__file__).with_name("column_synonyms.yaml").read_text(encoding="utf-8"))
    return {
        AttributeType(kind): tuple(dict.fromkeys(column_words(str(each)) for each in names))
        for kind, names in stored["types"].items()
    }


def type_similarity(name: str, attribute_type: AttributeType) -> float:
    """Return how much the name of a column is like those of columns with values of this type."""
    words = column_words(name)
    return max((name_similarity(words, each) for each in synonyms()[attribute_type]), default=0.0)


def type_by_name(name: str) -> tuple[AttributeType | None, float]:
    """Return the type of values that a column with this name has most likely, and how similar the names are."""
    found = {kind: type_similarity(name, kind) for kind in synonyms()}
    best = max(found, key=found.__getitem__)
    return (best, found[best]) if found[best] >= _CONTAINED else (None, found[best])
