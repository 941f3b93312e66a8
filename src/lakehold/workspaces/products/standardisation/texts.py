"""Cleans texts, and folds them into the plain letters that are compared."""

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from anyascii import anyascii

MAX_LENGTH = 1000
"""The longest text that can be a name, a phone number or anything else with parts; others are plain text."""
_SPACES = re.compile(r"\s+")
_APOSTROPHES = str.maketrans("", "", "'`´‘’ʼ′")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_TWO_LETTERS = re.compile(r"(?<![aeiou])(?:([ao])|(?<![gq])(u))e(?=[b-df-hj-np-tv-xz])|aa")
"""An umlaut in two letters, but not what Guerra and Márquez have."""
_WORD = re.compile(r"[^\W_]+(?:['’ʼ]s\b)?")
_UNWANTED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of characters that nobody sees: control, format (such as the direction of writing) and half pairs."""
_PLACEHOLDERS = frozenset({
    *("n/a", "#n/a", "n.a.", "k.a.", "nan", "none", "null", "(null)", "<null>", "nil", "unknown", "not available"),
    *("not applicable", "not provided", "not specified", "undefined", "tbd", "unbekannt", "keine angabe", "inconnu"),
    *("inconnue", "non renseigné", "desconocido", "desconocida", "no disponible", "sconosciuto", "onbekend"),
})  # fmt: skip
_ALSO_NAMES = frozenset({"none", "null", "nil", "nan"})
"""Placeholders that are names of people too."""


def clean_text(text: str) -> str:
    """Return a text in one Unicode form, without what nobody sees, and with one space between words."""
    if text.isascii() and text.isprintable():
        return _SPACES.sub(" ", text).strip()
    seen = "".join(_visible(letter) for letter in text)
    # Composing may bring together what takes part in another composition only afterwards.
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen))).strip()


def _visible(letter: str) -> str:
    if letter.isspace():
        return " "
    return "" if unicodedata.category(letter) in _UNWANTED else letter


def is_blank(text: str) -> bool:
    """Return whether a cleaned text has no letter and no digit."""
    return not any(letter.isalnum() for letter in text)


def is_placeholder(text: str, *, for_names: bool = False) -> bool:
    """Return whether a cleaned text stands for a missing value, such as `n/a`."""
    found = text.casefold()
    return found in _PLACEHOLDERS and not (for_names and found in _ALSO_NAMES)


def fold(text: str) -> str:
    """Return a text in small Latin letters and digits, with one space between words; apostrophes join."""
    plain = text.translate(_APOSTROPHES)
    return _NO_WORD.sub(" ", (plain if plain.isascii() else anyascii(plain)).lower()).strip()


def fold_spelling(text: str) -> str:
    """Return a text folded so that `ü` and `ue`, or `å` and `aa`, are one."""
    return _TWO_LETTERS.sub(lambda found: found[1] or found[2] or "a", fold(text))


def capitalize(text: str, small: frozenset[str] = frozenset()) -> str:
    """Return a text that is all in capital or all in small letters with capital initials, and another as it is.

    Words of `small` stay small, but for the last.
    """
    if not (text.isupper() or text.islower()):
        return text
    words = text.split(" ")
    found = " ".join(
        word.lower() if word.lower() in small and n < len(words) - 1 else _capitalize_word(word)
        for n, word in enumerate(words)
    )
    # A few letters change again when they are changed twice.
    is_stable = unicodedata.is_normalized("NFKC", found) and found.lower() == text.lower() and not found.isupper()
    return found if is_stable else text


def _capitalize_word(word: str) -> str:
    found = _WORD.sub(lambda part: part[0][:1].upper() + part[0][1:].lower(), word)
    if found.startswith("Mc") and len(found) > 3:  # noqa: PLR2004 - a letter to make large, and one behind it
        return f"Mc{found[2].upper()}{found[3:]}"
    return found


@cache
def read_facts(name: str) -> dict[str, Any]:
    """Return the content of a YAML file of this package."""
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return found
