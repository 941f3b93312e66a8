"""What the form of a source's streams says, and what is kept of it: one stream for each row that is, or was, on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import FormData

from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web.lakehouse import ways
from lakehold.web.lakehouse.forms import parts, whole
from lakehold.web.lakehouse.sources.tables import Targets
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import STREAM_KIND
from lakehold.workspaces.settings_reader import valid_table_name

MODES = (
    ("full", "All rows, in the place of those that are there"),
    ("merge", "All rows, merged by key"),
    ("mirror", "All rows, and those that are gone go"),
    ("append", "All rows, added to those that are there"),
    ("incremental", "Only what is new, by a field that grows"),
)
BY_KEY = frozenset({"merge", "mirror"})
INCREMENTAL = "incremental"
MOST = 300
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LONGEST = 63


@dataclass(frozen=True, slots=True)
class Row:
    """A stream as it is filled in."""

    stream: str
    """What it is called at the source."""
    uid: str = ""
    """The stream that is kept; empty if none is yet."""
    on: bool = False
    mode: str = "full"
    keys: str = ""
    cursor: str = ""
    table: str = ""
    """What it writes, as people say it; empty if they may not see it."""
    there: bool = True
    """Whether the source has it at present."""
    fields: Sequence[str] = ()

    def errors(self, n: int, targets: Targets) -> dict[str, str]:
        """What is wrong with it, by field."""
        found: dict[str, str] = {}
        if self.mode not in dict(MODES):
            found[f"mode-{n}"] = "Choose one of these."
        if self.mode in BY_KEY and not parts(self.keys):
            found[f"keys-{n}"] = "Name the fields by which a row is known."
        if self.mode == INCREMENTAL and not self.cursor:
            found[f"cursor-{n}"] = "Name the field that only grows."
        if self.table or not self.uid:
            try:
                targets.read(self.table)
            except InvalidInputError as error:
                found[f"table-{n}"] = str(error)
        return found

    def settings(self, before: Mapping[str, object]) -> dict[str, object]:
        """What is kept of it beside its table. What the form does not ask for stays as it was."""
        told = {"stream": self.stream, "mode": self.mode, "keys": parts(self.keys), "cursor": self.cursor}
        return {**before, **told}


def sent(form: FormData) -> list[Row]:
    """What came in."""

    def text(name: str, n: int) -> str:
        return str(form.get(f"{name}-{n}", "")).strip()

    count = whole(str(form.get("count", ""))) or 0
    rows = []
    for n in range(min(count, MOST + 1)):
        if not (stream := text("stream", n)):
            continue
        on, there, mode = bool(form.get(f"on-{n}")), bool(text("there", n)), text("mode", n) or "full"
        fields = parts(text("fields", n))
        row = Row(stream, text("uid", n), on, mode, text("keys", n), text("cursor", n), text("table", n), there, fields)
        rows.append(row)
    return rows


def present(ctx: RequestContext, source: str) -> list[Row]:
    """The streams that the source has, of those that the caller sees."""
    eyes = VisibleRefs(ctx)
    into = edge_targets(ctx, source, "into")
    rows = [_present(ctx, eyes, each.uid, into) for each in eyes.refs(ways.streams(ctx, source))]
    return sorted(rows, key=lambda row: row.stream.casefold())


def merged(kept: Sequence[Row], found: Sequence[Mapping[str, Any]], layer: str) -> list[Row]:
    """Those that are kept, and those that were found at the source and are not. Of very many, the first."""
    at_source = {str(each["name"]): each for each in found}
    known = [_beside(row, at_source) for row in kept]
    taken = {row.stream for row in kept}
    fresh = [_fresh(each, layer) for name, each in at_source.items() if name not in taken]
    return [*known, *fresh][:MOST]


def named(stream: str, layer: str) -> Row:
    """One that somebody names: a file pattern, or one that could not be found at present."""
    return Row(stream, on=True, table=_suggested(stream, layer))


def save(ctx: RequestContext, source: str, rows: Sequence[Row], targets: Targets) -> int:
    """Make what is new, change what is there, disable what is off. Returns how many are on."""
    before = {row.uid: row for row in present(ctx, source) if row.uid}
    for row in rows:
        if row.uid:
            if row.uid not in before:
                raise InvalidInputError("A stream is of another source, or gone.", "Reload the page.")
            _change(ctx, row, before[row.uid], targets)
        elif row.on:
            _make(ctx, source, row, targets)
    return sum(row.on for row in rows)


def _make(ctx: RequestContext, source: str, row: Row, targets: Targets) -> None:
    target = targets.read(row.table)
    settings = row.settings({"table": target.table} if target.table else {})
    edges = {"source": source, "writes": target.end}
    resources.create(ctx, STREAM_KIND, row.stream, edges=edges, settings=settings)


def _change(ctx: RequestContext, row: Row, before: Row, targets: Targets) -> None:
    if replace(row, there=before.there, fields=before.fields) == before:
        return
    settings, edges = row.settings(resource_metadata.load(ctx, row.uid).settings), None
    if row.table and row.table != before.table:
        target = targets.read(row.table)
        settings, edges = {**settings, "table": target.table}, {"writes": [target.end]}
    attributes = {"enabled": row.on} if row.on != before.on else None
    resource_edit.apply_edit(ctx, row.uid, ResourceEdit(settings=settings, attributes=attributes, edges=edges))


def _present(ctx: RequestContext, eyes: VisibleRefs, uid: str, into: Sequence[str]) -> Row:
    told = resource_metadata.load(ctx, uid).settings
    on = ctx.session.read_view(lambda view: attributes_of(view, uid).get("enabled")) != "false"
    keys = told.get("keys")
    return Row(
        str(told.get("stream", "")) or ctx.session.read_view(lambda view: view.names.get(view.resource(uid)) or ""),
        uid,
        on,
        str(told.get("mode", "full")),
        ", ".join(map(str, keys)) if isinstance(keys, list) else "",
        str(told.get("cursor", "")),
        _table(eyes, edge_targets(ctx, uid, "writes") or into, str(told.get("table", ""))),
    )


def _table(eyes: VisibleRefs, at: Sequence[str], name: str) -> str:
    """What it writes, as people say it: a table, or its name in the layer in which it will be made."""
    end = eyes.ref(at[0]) if at else None
    if end is None or end.kind == LAYER_KIND:
        return f"{end.name}.{name}" if end and name else ""
    above = eyes.parent(end.uid)
    return f"{above.name}.{end.name}" if above else ""


def _beside(row: Row, at_source: Mapping[str, Mapping[str, Any]]) -> Row:
    found = at_source.get(row.stream)
    there = found is not None or "*" in row.stream or not at_source
    return replace(row, there=there, fields=_fields(found) if found else ())


def _fresh(found: Mapping[str, Any], layer: str) -> Row:
    keys = ", ".join(map(str, found.get("keys") or ()))
    name = str(found["name"])
    mode = "merge" if keys else "full"
    return Row(name, mode=mode, keys=keys, table=_suggested(name, layer), fields=_fields(found))


def _fields(found: Mapping[str, Any]) -> list[str]:
    return [str(each["name"]) for each in found.get("fields") or ()]


def _suggested(stream: str, layer: str) -> str:
    """`raw.orders` of `public.orders`, `orders.csv` or `2031/orders-*.csv`."""
    name = stream.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if ending in {"csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx", "gz"}:
        name = stem.rpartition(".")[0] if ending == "gz" and "." in stem else stem
    else:
        name = ending or name
    plain = _NO_LETTER.sub("_", name.lower()).strip("_").lstrip("0123456789_")[:_LONGEST] or "rows"
    return f"{layer}.{valid_table_name(plain)}" if layer else plain
