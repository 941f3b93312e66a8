"""Texts of form fields: parsed, checked, and turned into settings and back."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData

from lakehold.connectors.form_fields import FieldList, FormField
from lakehold.web.form_values import parse_integer, split_names

Record = Mapping[str, str]


def parse_value(each: FormField, text: str) -> object:
    """Return the setting that the text of a field stands for."""
    match each.value:
        case "names":
            return split_names(text)
        case "headers":
            pairs = (line.partition(":") for line in text.splitlines() if line.strip())
            return {name.strip(): value.strip() for name, _, value in pairs}
        case "pairs":
            return parse_pairs(text)
        case "flag":
            return text == each.options[-1][0] if each.options else bool(text)
        case "integer" | "number":
            number = _number(each, text)
            return "" if math.isnan(number) else number
        case "folder":
            return text.strip("/")
        case _:
            return text


def parse_pairs(text: str) -> dict[str, str]:
    """Parse `ours = theirs`, with commas between pairs; a single name is the same on both sides."""
    pairs = ((part, *part.partition("=")) for part in split_names(text))
    return {ours.strip(): theirs.strip() if equals else part for part, ours, equals, theirs in pairs}


def format_value(each: FormField, value: object) -> str:
    """Format a setting as the text of its field."""
    if each.value == "flag":
        return (each.options[-1][0] if each.options else "1") if value else (each.options[0][0] if each.options else "")
    if each.value == "number":
        return str(value).removesuffix(".0")
    if isinstance(value, Mapping) and each.value == "pairs":
        return ", ".join(f"{ours} = {theirs}" for ours, theirs in value.items())
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def texts_of(fields: Sequence[FormField], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of fields for stored settings."""
    return {each.name: _text_of(each, settings) for each in fields if each.control != "secret"}


def _text_of(each: FormField, settings: Mapping[str, Any]) -> str:
    value: Any = settings
    for part in each.path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return each.default if value is None else format_value(each, value)


def parse_text(each: FormField, sent: FormData, prefix: str = "", n: int = 0) -> str:
    """Parse the submitted text of a field, of the n-th record if it is one of a list."""
    given = [str(one) for one in sent.getlist(prefix + each.name)]
    text = given[n].replace("\r\n", "\n") if n < len(given) else ""
    if each.control != "pick":
        text = text.strip()
    if each.control == "toggle":
        return "1" if text else ""
    return text or each.default


def parse_list(described: FieldList, sent: FormData) -> list[Record]:
    """Parse the submitted records, without empty ones."""
    count = min(len(sent.getlist(described.prefix + described.key)), described.most)
    records = [
        {each.name: parse_text(each, sent, described.prefix, n) for each in described.fields} for n in range(count)
    ]
    needed = (described.key, described.error[0]) if described.error else [each.name for each in described.fields]
    return [one for one in records if any(one[name] for name in needed)]


def write_settings(
    settings: dict[str, Any], fields: Sequence[FormField], texts: Record, *, omit_empty: bool = True
) -> None:
    """Write the values of fields into settings. The setting of a field that does not apply is left unchanged."""
    parents: set[str] = set()
    for each in fields:
        if not each.path:
            continue
        parent, _, name = each.path.rpartition(".")
        record = settings.setdefault(parent, {}) if parent else settings
        parents |= {parent} if parent else set()
        value = parse_value(each, texts.get(each.name, ""))
        if each.is_tag and record.get(name) != value:
            record.clear()
        if not each.counts(texts):
            continue
        if value in ("", [], {}) and (omit_empty or each.omit_empty or each.value in {"integer", "number"}):
            record.pop(name, None)
        else:
            record[name] = value
    for parent in parents:
        if not settings[parent]:
            del settings[parent]


def field_errors(fields: Sequence[FormField], texts: Record) -> dict[str, str]:
    """Return the errors of fields by name."""
    counted = [each for each in fields if each.control != "secret" and each.counts(texts)]
    wrong = {each.name: each.error for each in counted if each.error and _is_wrong(each, texts)}
    unknown = (each for each in counted if each.options and not _is_option(each, texts.get(each.name, "")))
    return {each.name: each.error or f"Select {_list_labels(each)}." for each in unknown} | wrong


def _is_option(each: FormField, text: str) -> bool:
    return each.control == "toggle" or text in (each.default, *(option[0] for option in each.options))


def _list_labels(each: FormField) -> str:
    *first, last = (str(option[-1]) for option in each.options)
    if last.endswith("."):
        return "an option"  # they are sentences
    return f"{', '.join(first)} or {last}" if first else last


def _is_wrong(each: FormField, texts: Record) -> bool:
    text, condition = texts.get(each.name, ""), each.checked_for
    if condition and texts.get(condition[0], "") not in condition[1:]:
        return False
    if each.value == "pairs":
        return not all((text.strip(" ,"), *parse_pairs(text).values()))
    if each.value in {"integer", "number"}:
        return not each.least <= _number(each, text) <= each.most if text else bool(each.is_required)
    if each.pattern:
        return not re.fullmatch(each.pattern, text)
    return not (split_names(text) if each.value == "names" else text)


def _number(each: FormField, text: str) -> float:
    try:
        number = float(text) if each.value == "number" else parse_integer(text)
    except ValueError:
        return math.nan
    return math.nan if number is None or math.isinf(number) else number


def list_errors(described: FieldList, records: Sequence[Record]) -> dict[str, str]:
    """Return the errors of a list by form field."""
    if not records and described.error:
        first, message = described.error
        return {f"{described.prefix}{first}-0": message}
    found: dict[str, str] = {}
    known: set[str] = set()
    for n, one in enumerate(records):
        errors = field_errors(described.fields, one)
        if one[described.key] in known:
            errors.setdefault(described.key, described.key_error)
        known.add(one[described.key])
        found |= {f"{described.prefix}{name}-{n}": text for name, text in errors.items()}
    return found
