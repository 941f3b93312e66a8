"""What a report asks, in words."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.web.marts.reports import kinds
from lakehold.web.marts.reports.choosing import Columns
from lakehold.web.marts.reports.filled import Report, Row, sum_name

Facts = list[tuple[str, str]]
_SENDS = {word: label for word, label, _ in kinds.SENDS}


def asked(said: Report, known: Columns) -> Facts:
    """Its question, part by part."""
    label = known.label_of
    grouped = "By" if said.sums else "Columns"
    found: Facts = [(grouped, ", ".join(map(label, said.columns)) or ("All rows together" if said.sums else "All"))]
    if said.sums:
        found.append(("Sums", ", ".join(_sum(each, known) for each in said.sums)))
    if said.where:
        found.append(("Only where", _and([_condition(each, known) for each in said.where])))
    if said.sort:
        words = [
            f"{label(each['column'])}, the {'most' if each['way'] == 'down' else 'least'} first" for each in said.sort
        ]
        found.append(("Sorted by", "; ".join(words)))
    if said.limit:
        found.append(("At the most", f"{int(said.limit):,} rows"))
    if said.parameters:
        found.append(("Parameters", said.parameters.replace("\n", "; ")))
    return [
        *found,
        ("Sent", _SENDS.get(said.send, said.send)),
        *([("Days begin in", said.zone)] if said.zone != "UTC" else []),
    ]


def _sum(each: Row, known: Columns) -> str:
    how = kinds.SUMS.get(each["how"] or "count", each["how"])
    words = f"{how} of {known.label_of(each['column'])}" if each["column"] else "How many rows"
    return f"{words}, as {sum_name(each)}" if each["name"] else words


def _condition(each: Row, known: Columns) -> str:
    words = kinds.said(each["is"] or "=", known.type_of(each["column"]))
    value = "" if each["is"] in kinds.ALONE else f" {each['value']}"
    return f"{known.label_of(each['column'])} {words}{value}"


def _and(parts: Sequence[str]) -> str:
    return " and ".join(parts)
