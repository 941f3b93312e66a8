"""Standardises identifiers, numbers, categories and plain texts."""

import unicodedata
from decimal import Decimal, InvalidOperation

from lakehold.workspaces.products.standardisation.countries import writing_convention
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import MAX_LENGTH, fold

_MOST_DIGITS = 60
_LARGEST_EXPONENT = 40
_THOUSAND = 3
_DIVIDERS = frozenset("'’_ ")
_NUMBER_LETTERS = frozenset("0123456789.,+-eE")


def standardise_text(text: str, country: str = "") -> StandardValue:  # noqa: ARG001 - all have a country
    """Return a text as it is; the key is cut, so that one text cannot hold up a comparison."""
    return StandardValue(text, {"key": fold(text[:MAX_LENGTH])})


def standardise_category(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - as above
    """Return a category as it is, with a key that compares without case and accents."""
    key = fold(text)
    return StandardValue(text, {"key": key}) if key else None


def standardise_identifier(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - as above
    """Return an identifier as it is; the key has its letters and digits only."""
    key = fold(text).replace(" ", "").upper()
    return StandardValue(text, {"key": key}) if key else None


def standardise_number(text: str, country: str = "") -> StandardValue | None:
    """Return a number in its shortest decimal form, without a currency. A comma is read as in the country."""
    if len(text) > _MOST_DIGITS:
        return None
    digits = "".join(
        str(int(letter)) if letter.isdecimal() else letter
        for letter in text.replace("−", "-")  # the sign that typesetters use
        if letter not in _DIVIDERS and unicodedata.category(letter) != "Sc"
    )
    if not digits or not _NUMBER_LETTERS.issuperset(digits):
        return None
    found = _shortest(_with_point(digits, decimal_comma=writing_convention(country).decimal_comma))
    return StandardValue(found, {"key": found}) if found else None


def _with_point(digits: str, *, decimal_comma: bool) -> str:
    """Return a number with a point before its decimals, and nothing between thousands.

    Of two signs the last is before the decimals. A point alone is before the decimals too, as columns of numbers are
    written so; a comma alone is, unless three digits follow it and the country writes thousands with it.
    """
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        thousands, decimal = (".", ",") if comma > point else (",", ".")
        return digits.replace(thousands, "").replace(decimal, ".")
    if digits.count(".") > 1:
        return digits.replace(".", "")
    if digits.count(",") > 1 or (comma == len(digits) - _THOUSAND - 1 and not decimal_comma):
        return digits.replace(",", "")
    return digits.replace(",", ".")


def _shortest(digits: str) -> str | None:
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    found = f"{number:f}"
    if "." in found:
        found = found.rstrip("0").removesuffix(".")
    return "0" if found in {"-0", "+0"} or number == 0 else found
