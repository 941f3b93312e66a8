"""A look into a storage: its tables, or what a data mart that is defined so would have.

Whether somebody may look is asked in a transaction (`begun`), and the look is taken outside of one (`look`): it may
take as long as the other side does. A lakehouse is asked as its own SQL is; everything else is looked at by the worker.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats
from lakehold.lake.row_formats import quote_identifier
from lakehold.runs import asking
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import By, Definition, In
from lakehold.workspaces.marts.storages import LakeTables, Look
from lakehold.workspaces.told import SettingsReader

ROWS = 20
_LOOKED_AT = (By.SQL, By.TABLE, By.PATTERN)


@dataclass(frozen=True, slots=True)
class Begun:
    """A look that somebody may take."""

    caller: Caller
    asked: Look
    where: In
    lake: LakeTables | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is: tables, or the fields and first rows of what was asked for."""

    tables: Sequence[Mapping[str, Any]] = ()
    """Each with its name, its id if it is a table of a lakehouse, and the keys that are known."""
    fields: Sequence[Mapping[str, str]] = ()
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()
    reads: Sequence[str] = field(default=())
    """The tables of the lakehouse that it reads, by their ids."""


def begun(ctx: RequestContext, asked: Look) -> Begun:
    """Refuse unless the caller may look."""
    told = storages.let_in(ctx, asked)
    where = storages.where(told)
    if asked.by and asked.by not in _LOOKED_AT:
        raise InvalidInputError(
            f"What is defined by {quote(asked.by)} is not looked at in a storage.", f"Use {', '.join(_LOOKED_AT)}."
        )
    return Begun(ctx.caller, asked, where, _lake(ctx, told, asked) if where is In.LAKE else None)


def _lake(ctx: RequestContext, told: SettingsReader, asked: Look) -> LakeTables:
    """To tell of tables takes the first that are searched for; to find those of a pattern takes all."""
    return storages.lake_tables(ctx, told, None if asked.by else asked.search)


def look(platform: Platform, begun: Begun) -> Seen:
    """What there is, as the caller may see it."""
    if begun.lake is not None:
        return _in_lake(platform, begun, begun.lake)
    if begun.where is In.FILES and not begun.asked.storage:
        return Seen(notes=["It has a folder of its own as soon as it is made. Files are brought there."])
    return Seen(**asking.look_into(platform, begun.caller, asdict(begun.asked)))


def fitting(pattern: str, tables: Sequence[str]) -> list[str]:
    """The tables that a pattern means."""
    found = sorted(name for name in tables if fnmatchcase(name, pattern))
    if not found:
        raise NotFoundError(f"Nothing fits {quote(pattern)}.", "Write it with * for any letters.")
    return found


def noted(found: Sequence[str]) -> list[str]:
    """What is said of a pattern whose first table is shown."""
    if len(found) == 1:
        return []
    some = ", ".join(found[:10])
    more = " and more" if len(found) > 10 else ""  # noqa: PLR2004 - as many as can be read at a glance
    return [f"{len(found):,} tables fit: {some}{more}. The first of them is shown."]


def problems(definition: Definition, fields: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What a definition says of fields that are not there, by where it says so."""
    names = [each["name"] for each in fields]
    there = f"There are: {', '.join(names[:20])}." if names else ""
    found: dict[str, str] = {}
    hidden = {column.name for column in definition.columns if column.hidden}
    for name in definition.keys:
        if name not in names or name in hidden:
            found["keys"] = f"There is no field {quote(name)} that is kept. {there}".strip()
    if definition.cursor and definition.cursor not in names:
        found["cursor"] = f"There is no field {quote(definition.cursor)}. {there}".strip()
    for column in definition.columns:
        if column.name not in names:
            found["columns"] = f"There is no field {quote(column.name)}. {there}".strip()
    if names and hidden.issuperset(names):
        found["columns"] = "All fields are hidden, and nothing is kept. Show one."
    return found


def _in_lake(platform: Platform, begun: Begun, lake: LakeTables) -> Seen:
    if not begun.asked.by:
        return Seen(tables=[{"name": each.name, "uid": each.uid, "keys": []} for each in lake.tables])
    text, notes = _asked(begun.asked, [each.name for each in lake.tables])
    meaning = asking.describe(platform, begun.caller, workspace=lake.lakehouse, text=text)
    uid = f"q_{secrets.token_hex(12)}"
    with asking.ask(platform, begun.caller, uid=uid, workspace=lake.lakehouse, text=text, rows=ROWS) as found:
        some = [
            [row_formats.to_json_value(value) for value in row]
            for batch in found.batches
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
    return Seen(fields=meaning.fields, rows=some, notes=notes, reads=meaning.reads)


def _asked(asked: Look, tables: Sequence[str]) -> tuple[str, list[str]]:
    """The query, and what is to be said of it."""
    match By(asked.by):
        case By.SQL:
            return asked.text, []
        case By.TABLE:
            # Names are compared as SQL compares them, without case.
            if asked.text.casefold() not in {name.casefold() for name in tables}:
                raise NotFoundError(f"There is no table {quote(asked.text)}.", "Choose one of the storage's tables.")
            return _all_of(asked.text), []
        case _:
            found = fitting(asked.text, tables)
            return _all_of(found[0]), noted(found)


def _all_of(table: str) -> str:
    layer, _, name = table.partition(".")
    return f"SELECT * FROM {quote_identifier(layer)}.{quote_identifier(name)}"  # noqa: S608 - quoted
