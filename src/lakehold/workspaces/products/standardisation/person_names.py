"""Standardises names of people: full names, given names and family names."""

from functools import cache

from nameparser import Lexicon, ParsedName, Parser

from lakehold.workspaces.products.standardisation.nicknames import formal_name
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import capitalize, fold, fold_spelling

MAX_NAME = 200
"""The longest name; the time that a parse takes grows faster than the text."""
_TITLES = frozenset({
    *("mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "dame", "rev", "herr", "frau", "hr", "fr", "ing", "dipl"),
    *("mme", "mlle", "monsieur", "madame", "sr", "sra", "srta", "don", "dona", "sig", "sigra", "dott", "mag", "med"),
})  # fmt: skip
_GENERATIONS = frozenset({"jr", "sr", "junior", "senior", "ii", "iii", "iv"})
_ROUNDS = 2


def standardise_full_name(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - all have a country
    """Return a full name with the given names first, without titles and nicknames."""
    if len(text) > MAX_NAME:
        return None
    value, parsed = _stable_name(text)
    given, family = _given(parsed), parsed.family_base or parsed.family
    first = _first_given(given)
    folded = fold_family(family)
    if not (first or folded):
        return None
    key = f"{fold(given)} {folded}".strip()
    return StandardValue(value, {"key": key, "given": first, "family": folded, "nick": formal_name(first)})


def standardise_given_name(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - as above
    """Return given names, without a title before them."""
    words = text.split(" ")
    while len(words) > 1 and fold(words[0]) in _TITLES:
        words = words[1:]
    value = capitalize(" ".join(words))
    first = _first_given(value)
    return StandardValue(value, {"key": first, "nick": formal_name(first)}) if first else None


def standardise_family_name(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - as above
    """Return a family name, with particles in small letters if they cannot be told."""
    value = capitalize(text, particles())
    key = fold_family(value)
    return StandardValue(value, {"key": key}) if key else None


def fold_family(text: str) -> str:
    """Return a family name folded, without particles such as `van`, unless it has nothing else, and without `jr`."""
    words = fold_spelling(text).split(" ")
    while len(words) > 1 and words[-1] in _GENERATIONS:
        words = words[:-1]
    return " ".join([each for each in words if each not in particles()] or words)


@cache
def particles() -> frozenset[str]:
    """Return the small words that belong to family names, such as `von`, folded."""
    return frozenset(fold(each) for each in Lexicon.default().particles if each.isascii() and each.isalpha())


def _stable_name(text: str) -> tuple[str, ParsedName]:
    """Return a name as it is displayed, and its parse.

    What would be read otherwise when it is written so stays as it is. The parse is that of the displayed name, so that
    `García Márquez, Ana` and `Ana García Márquez` are the same.
    """
    cased = capitalize(text, particles())
    parsed = before = _parser().parse(cased)
    value = cased
    for _ in range(_ROUNDS):
        written = _write_name(parsed)
        if written == value:
            return value, parsed
        value, parsed = written, _parser().parse(written)
        if not (value and capitalize(value, particles()) == value):
            break
    return cased, before


def _write_name(parsed: ParsedName) -> str:
    generation = " ".join(word for word in parsed.suffix.split(" ") if fold(word) in _GENERATIONS).strip(", ")
    names = (parsed.given, parsed.middle, parsed.family)
    if _is_family_first(parsed):
        names = (parsed.family, parsed.given, parsed.middle)
    return " ".join(part for part in (*names, generation) if part)


def _is_family_first(parsed: ParsedName) -> bool:
    """Return whether a name is written with the family name first without a comma, as in China, Hungary and Japan."""
    if not (parsed.given and parsed.family) or "," in parsed.original:
        return False
    return parsed.original.find(parsed.family) < parsed.original.find(parsed.given)


def _given(parsed: ParsedName) -> str:
    return " ".join(part for part in (parsed.given, parsed.middle) if part)


def _first_given(names: str) -> str:
    """Return the first of given names, folded; one with a hyphen is one word, and initials are left out behind it."""
    return next((found for each in names.split(" ") if (found := fold(each).replace(" ", ""))), "")


@cache
def _parser() -> Parser:
    return Parser()
