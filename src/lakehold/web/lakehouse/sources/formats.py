"""How a stream is to be read, as its form says: the format of a file, and the types of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData

from lakehold.web.lakehouse.forms import whole

TYPES = (
    ("string", "Text"),
    ("bigint", "Whole number"),
    ("int", "Whole number, small"),
    ("double", "Number"),
    ("decimal(18,2)", "Number with two decimals"),
    ("boolean", "True or false"),
    ("date", "Day"),
    ("timestamp", "Moment, with its zone"),
    ("timestamp_ntz", "Moment, as on the clock"),
)
KINDS = (
    ("separated", "Values with a sign between them (CSV)"),
    ("json_lines", "An object on each line"),
    ("json", "One list of objects"),
    ("excel", "A workbook"),
    ("parquet", "Parquet"),
)
DELIMITERS = ((",", "Comma"), (";", "Semicolon"), ("\t", "Tab"), ("|", "Bar"))
ENCODINGS = ("utf-8", "windows-1252", "iso-8859-1", "utf-16", "utf-16le", "utf-16be")
QUOTES = (('"', 'Double: "'), ("'", "Single: '"), ("", "None"))
_SIGNS = ("kind", "encoding", "delimiter", "quote", "header", "sheet")
_MOST = 1_000


def sent(form: FormData) -> dict[str, Any]:
    """The format that came in. Where a sign was changed, the fields are found anew."""
    told: dict[str, Any] = {name: str(form.get(name, "")) for name in ("kind", "encoding", "quote", "sheet")}
    told["delimiter"] = str(form.get("delimiter", "")) or ","
    told["header"] = bool(form.get("header"))
    told["multiline"] = bool(form.get("multiline"))
    told["escape"] = "\\" if form.get("escape") == "\\" else told["quote"]
    told["fields"] = [] if shape(told) != str(form.get("was", "")) else fields(form)
    return told


def fields(form: FormData) -> list[dict[str, str]]:
    """Names and types that came in."""
    numbers = range(min(whole(str(form.get("count", ""))) or 0, _MOST))
    return [{"name": str(form.get(f"name-{n}", "")), "type": str(form.get(f"type-{n}", "string"))} for n in numbers]


def shape(told: Mapping[str, Any]) -> str:
    """The signs of a format in one text: if it is another, the fields are others too."""
    return json.dumps([str(told.get(name, "")) for name in _SIGNS])


def mark(told: Mapping[str, Any] | None, among: Sequence[Mapping[str, str]]) -> str:
    """All that the form asks for in one text: if it is another, the person has changed something."""
    return json.dumps([shape(told) if told else "", [[each["name"], each["type"]] for each in among]])


def types(present: str) -> list[tuple[str, str]]:
    """The types to choose from, with the one that a field has."""
    known = list(TYPES)
    return known if present in dict(known) else [*known, (present, present)]
