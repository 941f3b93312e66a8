"""Standardises phone numbers."""

import phonenumbers

from lakehold.workspaces.products.standardisation.standard_value import StandardValue

_TAIL = 7
_SHORTEST, _LONGEST = 7, 15
_ABROAD = "00"


def standardise_phone(text: str, country: str = "") -> StandardValue | None:
    """Return a phone number in E.164; without a country the digits of a number that names none."""
    number = _international_number(text, country)
    if number is None and not country:
        number = _digits(text)
    digits = (number or "").removeprefix("+")
    if number is None or len(digits) < _SHORTEST:
        return None
    return StandardValue(number, {"key": number, "tail": digits[-_TAIL:]})


def _international_number(text: str, country: str) -> str | None:
    written = f"+{text[len(_ABROAD) :]}" if not country and text.startswith(_ABROAD) else text
    try:
        parsed = phonenumbers.parse(written, country or None)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(parsed):
        return None
    parsed.extension = None
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def _digits(text: str) -> str | None:
    """Return the digits of a text that has no more letters than `tel` and `ext` have."""
    if text.startswith("+") or sum(letter.isalpha() for letter in text) > _TAIL:
        return None
    found = "".join(str(int(letter)) for letter in text if letter.isdecimal())
    return found if _SHORTEST <= len(found) <= _LONGEST else None
