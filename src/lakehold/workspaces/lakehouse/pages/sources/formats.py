"""The format form of a stream: the format of a file, and the types of its fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData

from lakehold.web.form_values import parse_integer

TYPES = (
    ("string", "Text"),
    ("bigint", "Integer"),
    ("int", "Integer (32 bit)"),
    ("double", "Number"),
    ("decimal(18,2)", "Decimal (2 places)"),
    ("boolean", "Boolean"),
    ("date", "Date"),
    ("timestamp", "Timestamp with time zone"),
    ("timestamp_ntz", "Timestamp without time zone"),
)
KINDS = (
    ("separated", "CSV"),
    ("json_lines", "JSON Lines"),
    ("json", "JSON array"),
    ("excel", "Excel"),
    ("parquet", "Parquet"),
)
DELIMITERS = ((",", "Comma"), (";", "Semicolon"), ("\t", "Tab"), ("|", "Pipe"))
ENCODINGS = ("utf-8", "windows-1252", "iso-8859-1", "utf-16", "utf-16le", "utf-16be")
QUOTES = (('"', 'Double: "'), ("'", "Single: '"), ("", "None"))
_FORMAT_KEYS = ("kind", "encoding", "delimiter", "quote", "header", "sheet")
_MAX_FIELDS = 1_000


def parse_format(form: FormData) -> dict[str, Any]:
    """Parse the submitted format. If one of its keys has changed, the fields are left out and detected again."""
    file_format: dict[str, Any] = {name: str(form.get(name, "")) for name in ("kind", "encoding", "quote", "sheet")}
    file_format["delimiter"] = str(form.get("delimiter", "")) or ","
    file_format["header"] = bool(form.get("header"))
    file_format["multiline"] = bool(form.get("multiline"))
    file_format["escape"] = "\\" if form.get("escape") == "\\" else file_format["quote"]
    file_format["fields"] = [] if format_fingerprint(file_format) != str(form.get("was", "")) else parse_fields(form)
    return file_format


def parse_fields(form: FormData) -> list[dict[str, str]]:
    """Parse the submitted field names and types."""
    numbers = range(min(parse_integer(str(form.get("count", ""))) or 0, _MAX_FIELDS))
    return [{"name": str(form.get(f"name-{n}", "")), "type": str(form.get(f"type-{n}", "string"))} for n in numbers]


def format_fingerprint(file_format: Mapping[str, Any]) -> str:
    """Return a fingerprint of a format without its fields."""
    return json.dumps([str(file_format.get(name, "")) for name in _FORMAT_KEYS])


def form_fingerprint(file_format: Mapping[str, Any] | None, among: Sequence[Mapping[str, str]]) -> str:
    """Return a fingerprint of the whole form."""
    return json.dumps(
        [format_fingerprint(file_format) if file_format else "", [[each["name"], each["type"]] for each in among]]
    )


def type_options(present: str) -> list[tuple[str, str]]:
    """Return the types to choose from, including the present one."""
    known = list(TYPES)
    return known if present in dict(known) else [*known, (present, present)]
