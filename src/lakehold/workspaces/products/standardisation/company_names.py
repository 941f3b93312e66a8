"""Standardises names of companies: legal forms are taken off, and words written out, for comparing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import fold_spelling, read_facts

_INITIALS = re.compile(r"\b(\w{1,2})&(\w{1,2})\b")
"""Those of AT&T and H&M, which are one word."""


def standardise_company_name(text: str, country: str = "") -> StandardValue | None:  # noqa: ARG001 - all have a country
    """Return the name of a company as it is, with its key, legal form, sorted words and first word."""
    words = _words(text)
    if not words:
        return None
    name, form = _take_off_forms(words)
    facts = read_facts("company_words.yaml")
    written_out: Mapping[str, str] = facts["written_out"]
    plain = [written_out.get(each, each) for each in name]
    key = [each for n, each in enumerate(plain) if not _is_filling(each, is_first=n == 0)] or plain
    return StandardValue(
        text, {"key": " ".join(key), "form": form, "sorted": " ".join(sorted(key)), "first": key[0] if key else ""}
    )


def _is_filling(word: str, *, is_first: bool) -> bool:
    """Return whether a word is left out of the key. A letter at the beginning is no `and`: `E.ON`."""
    return word in _filling_words() and not (is_first and len(word) == 1)


def _words(text: str) -> list[str]:
    """Return the folded words of a name. Letters that stand alone are one word: `G.m.b.H.` is `gmbh`."""
    found: list[str] = []
    letters = ""
    for form in read_facts("company_words.yaml")["without_space"]:
        text = text.replace(form, f" {form} ")
    for word in fold_spelling(_INITIALS.sub(r"\1\2", text).replace("&", " and ").replace("+", " and ")).split():
        if len(word) == 1:
            letters += word
            continue
        if letters:
            found.append(letters)
            letters = ""
        found.append(word)
    return [*found, letters] if letters else found


def _take_off_forms(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words before the legal forms at the end, or behind those at the beginning, and the first form."""
    left, form = list(words), ""
    while left and (found := _form_at(left, from_end=True)):
        size, name = found
        if size == len(left):
            break
        left, form = left[:-size], name if not form or name in form else f"{name} {form}"
    while left and left[-1] == "and" and len(left) > 1:
        left = left[:-1]
    if (found := _form_at(left, from_end=False)) and found[0] < len(left):
        size, name = found
        left, form = left[size:], form or name
    return left, form


def _form_at(words: Sequence[str], *, from_end: bool) -> tuple[int, str] | None:
    forms = _forms() if from_end else _leading_forms()
    for size in range(min(_longest_form(), len(words)), 0, -1):
        part = tuple(words[-size:] if from_end else words[:size])
        if part in forms:
            return size, forms[part]
    return None


@cache
def _forms() -> Mapping[tuple[str, ...], str]:
    return dict(_spellings(read_facts("company_words.yaml")["forms"]))


@cache
def _leading_forms() -> Mapping[tuple[str, ...], str]:
    leading = set(read_facts("company_words.yaml")["leading"])
    return {words: name for words, name in _forms().items() if name in leading}


def _spellings(forms: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, spellings in forms.items():
        for spelling in (name, *spellings):
            yield tuple(_words(spelling)), name


@cache
def _longest_form() -> int:
    return max(map(len, _forms()))


@cache
def _filling_words() -> frozenset[str]:
    return frozenset(read_facts("company_words.yaml")["filling"])
