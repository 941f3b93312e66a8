"""Standardises the parts of addresses: street, city, postcode and region."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from lakehold.workspaces.products.standardisation.person_names import particles
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import capitalize, fold, fold_spelling, read_facts

_NUMBER = re.compile(r"\d+[a-z]?|\d+[a-z]?\d+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_LETTER = re.compile(r"[a-z]")
_POSTCODE_LEFT = re.compile(r"(?:(?:[A-Z]{1,3}-)?\d{3,} )+(?=[^\W\d_])")
_COUNTRY_SIGN = re.compile(r"[A-Z]{1,3}-(?=\d)")
_WHOLE_DECIMAL = re.compile(r"(\d+)\.0+")
_ZIP_AND_FOUR = re.compile(r"\d{5}-\d{4}")
_BETWEEN = frozenset({"am", "an", "im", "in", "ob", "bei", "sur", "sous", "en", "upon", "on", "by", "aan", "ved", "i"})
"""Small words inside of names of towns."""
_POSTCODE = 12
"""The longest postcode."""
_STREET_WORD = "strasse"


def standardise_street(text: str, country: str = "") -> StandardValue | None:
    """Return a street with its house number; the key is without the number, and without flat or floor."""
    facts = read_facts("street_words.yaml")
    is_first = country not in facts["number_last"]
    parts = [fold(part).split() for part in text.replace("#", " unit ").split(",")]
    words = _without_unit(_first_part(parts, is_first=is_first), frozenset(facts["units"]))
    if found := _post_box(words, facts["post_boxes"]):
        return StandardValue(text, found)
    name, number = _take_off_number(words, is_first=is_first)
    key = fold_spelling(" ".join(_write_out(name, _abbreviations(country))))
    if not (key or number):
        return None
    return StandardValue(capitalize(text, particles()), {"key": key, "number": number})


def standardise_city(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - all have a country
    """Return a city without a postcode before it."""
    before = _POSTCODE_LEFT.match(text)
    value = capitalize(text[before.end() :] if before else text, particles() | _BETWEEN)
    written_out: Mapping[str, str] = read_facts("street_words.yaml")["cities"]
    key = " ".join(written_out.get(each, each) for each in fold_spelling(value).split())
    return StandardValue(value, {"key": key}) if key else None


def standardise_postcode(text: str, country: str = "") -> StandardValue | None:
    """Return a postcode in capital letters, with the zeros at the beginning that a number has lost."""
    code = text.upper()
    if found := _COUNTRY_SIGN.match(code):
        code = code[found.end() :]
    if found := _WHOLE_DECIMAL.fullmatch(code):
        code = found[1]
    facts = read_facts("street_words.yaml")
    length = facts["postcode_digits"].get(country, 0)
    if code.isdecimal() and len(code) == length - 1:
        code = f"0{code}"
    key = fold(code[:5] if _ZIP_AND_FOUR.fullmatch(code) else code).replace(" ", "").upper()
    return StandardValue(code, {"key": key}) if key and len(key) <= _POSTCODE else None


def standardise_region(text: str, country: str = "") -> StandardValue | None:
    """Return a region; its key is the name of a state whose abbreviation it is."""
    folded = fold(text)
    states: Mapping[str, str] = _states(country)
    key = states.get(folded, folded)
    return StandardValue(capitalize(text, particles()) if len(text) > 3 else text, {"key": key}) if key else None  # noqa: PLR2004 - an abbreviation


def _first_part(parts: list[list[str]], *, is_first: bool) -> list[str]:
    """Return the words of the parts between commas that are the street and its number; flats and towns may follow."""
    words: list[str] = []
    for part in parts:
        if not is_first and words and part and _NUMBER.fullmatch(part[0]):
            return [*words, part[0]]
        words += part
        has_number = _first_number(words) if is_first else _last_number(words)
        if has_number and has_number < len(words):
            return words
    return words


def _without_unit(words: list[str], units: frozenset[str]) -> list[str]:
    """Return the words without those of a flat, floor or suite before or behind the street."""
    if len(words) > 3 and words[0] in units and words[1][0].isdecimal():  # noqa: PLR2004 - a number and a street follow
        words = words[2:]
    for n, word in enumerate(words):
        if n > 1 and word in units:
            return words[:n]
    return words


def _post_box(words: Sequence[str], boxes: Sequence[str]) -> dict[str, str] | None:
    joined = " ".join(words)
    found = next((box for box in boxes if joined.startswith(f"{box} ")), None)
    return {"key": "po box", "number": joined.removeprefix(f"{found} ").replace(" ", "")} if found else None


def _take_off_number(words: list[str], *, is_first: bool) -> tuple[list[str], str]:
    """Return the words of a street without its number, and the number."""
    ends = (_first_number(words), _last_number(words))
    for size, at_start in ((ends[0], True), (ends[1], False)) if is_first else ((ends[1], False), (ends[0], True)):
        if size and size < len(words):
            number = words[:size] if at_start else words[-size:]
            return (words[size:] if at_start else words[:-size]), _write_number(number)
    return ([], words[0]) if len(words) == 1 and _NUMBER.fullmatch(words[0]) else (words, "")


def _write_number(words: list[str]) -> str:
    """Return `12a` of `12 a`, and `12-14` of `12 14`."""
    if len(words) > 1 and words[-1].isdecimal():
        return "-".join(words)
    return "".join(words)


def _first_number(words: list[str]) -> int:
    """Return how many words at the beginning are the house number."""
    if not words or not _NUMBER.fullmatch(words[0]) or _ORDINAL.fullmatch(words[0]):
        return 0
    follows = words[1] if len(words) > 1 else ""
    # Other letters are points of a compass.
    return 2 if _NUMBER.fullmatch(follows) or follows in {"a", "b", "c", "d", "bis", "ter"} else 1


def _last_number(words: list[str]) -> int:
    """Return how many words at the end are the house number."""
    if not words:
        return 0
    size = 2 if len(words) > 2 and _LETTER.fullmatch(words[-1]) else 1  # noqa: PLR2004 - as above
    if not _NUMBER.fullmatch(words[-size]):
        return 0
    return size + 1 if len(words) > size + 1 and _NUMBER.fullmatch(words[-size - 1]) else size


def _write_out(words: Sequence[str], abbreviations: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for n, word in enumerate(words):
        if word == "st" and n == 0 and len(words) > 1:
            found.append("saint")
        elif word.endswith("str") and len(word) > len("str"):
            found += [word.removesuffix("str"), _STREET_WORD]
        elif word.endswith(_STREET_WORD) and word != _STREET_WORD:
            found += [word.removesuffix(_STREET_WORD), _STREET_WORD]
        else:
            found.append(abbreviations.get(word, word))
    return found


@cache
def _abbreviations(country: str) -> Mapping[str, str]:
    """Return the abbreviations that are used in a country, or in English."""
    facts = read_facts("street_words.yaml")
    languages = facts["languages"].get(country, ["english"])
    found: dict[str, str] = dict(facts["everywhere"])
    for language in languages:
        found |= facts["abbreviations"][language]
    return found


@cache
def _states(country: str) -> Mapping[str, str]:
    """Return the states of a country by their abbreviations, folded."""
    states = read_facts("regions.yaml")
    if country not in states:
        return {}
    return {fold(code): fold(name) for code, name in states[country].items()}
