"""The record table of made-up records: their values, and the parts that matching compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from benchmarks.made_up_records import NICKNAMES, Row
from lakehold.workspaces.products.attribute_types import PARTS, AttributeType
from lakehold.workspaces.products.standardisation.standardiser import standardise

_LONG_NAMES = {short: name for name, shorts in NICKNAMES.items() for short in shorts}
PEOPLE = {
    "given": AttributeType.GIVEN_NAME,
    "family": AttributeType.FAMILY_NAME,
    "birth": AttributeType.DATE,
    "street": AttributeType.STREET,
    "postcode": AttributeType.POSTCODE,
    "city": AttributeType.CITY,
    "phone": AttributeType.PHONE,
    "email": AttributeType.EMAIL,
}
COMPANIES = {
    "name": AttributeType.COMPANY_NAME,
    "vat": AttributeType.IDENTIFIER,
    "street": AttributeType.STREET,
    "postcode": AttributeType.POSTCODE,
    "city": AttributeType.CITY,
    "phone": AttributeType.PHONE,
    "email": AttributeType.EMAIL,
}


def standardised_table(rows: Iterable[Row], types: Mapping[str, AttributeType]) -> pa.Table:
    """Return the records as standardisation makes them of the raw values; slow, as the real one is."""
    records = []
    for place, row in enumerate(rows):
        record: Row = {"record": f"{place:032x}", "source": row["source"], "truth": row["truth"]}
        for name, kind in types.items():
            found = standardise(kind, _raw(kind, row, name), "DE")
            parts = found.parts if found else {}
            record |= {f"{name}__{part}": parts.get(part) or None for part in PARTS[kind].parts}
        records.append(record)
    columns = {name: pa.array([record[name] for record in records], pa.string()) for name in records[0]}
    return pa.table(columns)


def _raw(kind: AttributeType, row: Row, name: str) -> str | None:
    """Return a value as a source has it: the house number behind the street, the legal form behind the name."""
    more = {AttributeType.STREET: "number", AttributeType.COMPANY_NAME: "form"}.get(kind)
    value = row[name]
    return f"{value} {row[more]}" if value and more and row[more] else value


def record_table(rows: Iterable[Row], types: Mapping[str, AttributeType]) -> pa.Table:
    """Return the records with the columns of the table `records`, and `truth`, by the shortest way."""
    columns: dict[str, list[str | None]] = {}
    for place, row in enumerate(rows):
        record: Row = {"record": f"{place:032x}", "source": row["source"], "truth": row["truth"]}
        for name, kind in types.items():
            record |= {f"{name}__{part}": value or None for part, value in _parts(kind, row, name).items()}
        for name, value in record.items():
            columns.setdefault(name, []).append(value)
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _parts(kind: AttributeType, row: Row, name: str) -> Row:
    value = (row[name] or "").strip()
    if kind is AttributeType.GIVEN_NAME:
        return {"key": value, "nick": _LONG_NAMES.get(value, value)}
    if kind is AttributeType.COMPANY_NAME:
        words = value.split()
        return {
            "key": value,
            "form": row["form"],
            "sorted": " ".join(sorted(words)),
            "first": words[0] if words else "",
        }
    if kind is AttributeType.EMAIL:
        user, at, domain = value.partition("@")
        return {"key": value, "user": user, "domain": domain} if at else {"key": "", "user": "", "domain": ""}
    if kind is AttributeType.PHONE:
        return {"key": value, "tail": value[-7:]}
    if kind is AttributeType.DATE:
        return {"key": value if len(value) == 10 else "", "year": value[:4] if len(value) == 10 else ""}
    if kind is AttributeType.STREET:
        return {"key": value, "number": row["number"]}
    return {"key": value}
