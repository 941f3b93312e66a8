"""Standardises countries, and knows how dates and numbers are written in each."""

from dataclasses import dataclass
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.core import get_global

from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import fold, read_facts

LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "sk", "sl", "hr", "hu", "ro"),
    *("bg", "el", "tr", "ru", "uk", "ar", "he", "hi", "ja", "ko", "zh", "vi", "id", "et", "lv", "lt", "ca"),
)
"""The languages in which names of countries and months are understood."""
_CODE = 2


def standardise_country(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - all have a country
    """Return the English name of a country that is named in one of many languages, or by a code."""
    code = _codes().get(fold(text))
    return StandardValue(_names("en")[code], {"key": code}) if code else None


@dataclass(frozen=True, slots=True)
class WritingConvention:
    """The way dates and numbers are written in a country."""

    month_first: bool = False
    decimal_comma: bool = False


@cache
def writing_convention(country: str) -> WritingConvention:
    """Return how dates and numbers are written in a country; day first and with a point where it is not known."""
    try:
        locale = Locale.parse(f"und_{country}")
    except (ValueError, UnknownLocaleError):
        return WritingConvention()
    pattern = locale.date_formats["short"].pattern.lower()
    symbols = locale.number_symbols.get("latn", {})
    return WritingConvention(pattern.index("m") < pattern.index("d"), symbols.get("decimal") == ",")


@cache
def _names(language: str) -> dict[str, str]:
    territories = Locale.parse(language).territories
    return {code: name for code, name in territories.items() if len(code) == _CODE and code.isalpha()}


@cache
def _codes() -> dict[str, str]:
    """Return the codes of countries by everything that they are called, folded; of two, the first language's."""
    names = _names("en")
    found = {code.lower(): code for code in names}
    aliases = get_global("territory_aliases")
    found |= {alias.lower(): codes[0] for alias, codes in aliases.items() if len(codes) == 1 and codes[0] in names}
    found |= {fold(alias): code for alias, code in read_facts("country_names.yaml").items()}
    for language in LANGUAGES:
        for code, name in _names(language).items():
            if code in names and (folded := fold(name)):
                found.setdefault(folded, code)
    return found
