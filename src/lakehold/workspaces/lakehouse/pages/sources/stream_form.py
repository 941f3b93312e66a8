"""The form of a source's streams: one row per stream, and saving the rows as streams."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import FormData

from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_table_name
from lakehold.web.form_values import parse_integer, split_names
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse.pages import pipeline_list
from lakehold.workspaces.lakehouse.pages.page_frame import WriteTargets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND
from lakehold.workspaces.lakehouse.pipelines.connections import STREAM_KIND

SYNC_MODES = (
    ("full", "Full refresh"),
    ("merge", "Upsert by key"),
    ("mirror", "Mirror by key"),
    ("append", "Append"),
    ("incremental", "Incremental (cursor)"),
)
MAX_STREAMS = 300
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LONGEST = 63


@dataclass(frozen=True, slots=True)
class StreamFormRow:
    """The values of one stream in the form."""

    stream: str
    """Its name at the source."""
    uid: str = ""
    """The stream that is kept; empty if none is yet."""
    on: bool = False
    mode: str = "full"
    keys: str = ""
    cursor: str = ""
    table: str = ""
    """The table that it writes, with its layer; empty if the caller may not see it."""
    there: bool = True
    """Whether the source has it at present."""
    fields: Sequence[str] = ()

    def errors(self, n: int, targets: WriteTargets) -> dict[str, str]:
        """Return the errors by field."""
        found: dict[str, str] = {}
        if self.mode not in dict(SYNC_MODES):
            found[f"mode-{n}"] = "Select an option."
        if self.mode in {"merge", "mirror"} and not split_names(self.keys):
            found[f"keys-{n}"] = "Enter the key fields."
        if self.mode == "incremental" and not self.cursor:
            found[f"cursor-{n}"] = "Enter the cursor field."
        if self.table or not self.uid:
            try:
                targets.resolve(self.table)
            except InvalidInputError as error:
                found[f"table-{n}"] = str(error)
        return found

    def settings(self, before: Mapping[str, object]) -> dict[str, object]:
        """Return the settings to save, without the table. Settings that the form does not have stay unchanged."""
        settings = {"stream": self.stream, "mode": self.mode, "keys": split_names(self.keys), "cursor": self.cursor}
        return {**before, **settings}


def parse_stream_rows(form: FormData) -> list[StreamFormRow]:
    """Parse a submitted form."""

    def text(name: str, n: int) -> str:
        return str(form.get(f"{name}-{n}", "")).strip()

    count = parse_integer(str(form.get("count", ""))) or 0
    rows = []
    for n in range(min(count, MAX_STREAMS + 1)):
        if not (stream := text("stream", n)):
            continue
        texts = {name: text(name, n) for name in ("uid", "keys", "cursor", "table")}
        on, there, mode = bool(form.get(f"on-{n}")), bool(text("there", n)), text("mode", n) or "full"
        rows.append(
            StreamFormRow(stream, on=on, mode=mode, there=there, fields=split_names(text("fields", n)), **texts)
        )
    return rows


def saved_stream_rows(ctx: RequestContext, source: str) -> list[StreamFormRow]:
    """Return the rows of the saved streams that the caller may see."""
    visible = VisibleRefs(ctx)
    into = edge_targets(ctx, source, "into")
    rows = [_saved_row(ctx, visible, each.uid, into) for each in visible_streams(ctx, visible, source)]
    return sorted(rows, key=lambda row: row.stream.casefold())


def visible_streams(ctx: RequestContext, visible: VisibleRefs, source: str) -> list[ResourceRef]:
    """Return the saved streams that the caller may see, by name."""
    return sorted(visible.refs(pipeline_list.stream_ids(ctx, source)), key=lambda ref: ref.name.casefold())


def is_on(ctx: RequestContext, uid: str) -> bool:
    """Return whether a saved stream is read by runs."""
    return ctx.session.read_view(lambda view: attributes_of(view, uid).get("enabled")) != "false"


def merge_stream_rows(
    kept: Sequence[StreamFormRow], found: Sequence[Mapping[str, Any]], layer: str
) -> list[StreamFormRow]:
    """Return the saved streams and the new ones of the source, at most MAX_STREAMS."""
    at_source = {str(each["name"]): each for each in found}
    known = [_with_source_fields(row, at_source) for row in kept]
    taken = {row.stream for row in kept}
    fresh = [_new_row(each, layer) for name, each in at_source.items() if name not in taken]
    return [*known, *fresh][:MAX_STREAMS]


def named_stream_row(stream: str, layer: str) -> StreamFormRow:
    """Return a row for a stream that is named by hand: a file pattern, or a stream that is not available now."""
    return StreamFormRow(stream, on=True, table=_suggest_table(stream, layer))


def save_streams(ctx: RequestContext, source: str, rows: Sequence[StreamFormRow], targets: WriteTargets) -> int:
    """Create new streams, edit existing ones, disable those that are off; return how many are on."""
    before = {row.uid: row for row in saved_stream_rows(ctx, source) if row.uid}
    for row in rows:
        if row.uid:
            if row.uid not in before:
                raise InvalidInputError("A stream was deleted or belongs to another source.", "Reload the page.")
            _change(ctx, row, before[row.uid], targets)
        elif row.on:
            end, table = targets.resolve(row.table)
            settings, edges = row.settings({"table": table} if table else {}), {"source": source, "writes": end}
            resources.create(ctx, STREAM_KIND, row.stream, edges=edges, settings=settings)
    return sum(row.on for row in rows)


def _change(ctx: RequestContext, row: StreamFormRow, before: StreamFormRow, targets: WriteTargets) -> None:
    if replace(row, there=before.there, fields=before.fields) == before:
        return
    settings, edges = row.settings(resource_metadata.load(ctx, row.uid).settings), None
    if row.table and row.table != before.table:
        end, table = targets.resolve(row.table)
        settings, edges = {**settings, "table": table}, {"writes": [end]}
    attributes = {"enabled": row.on} if row.on != before.on else None
    resource_edit.apply_edit(ctx, row.uid, ResourceEdit(settings=settings, attributes=attributes, edges=edges))


def _saved_row(ctx: RequestContext, visible: VisibleRefs, uid: str, into: Sequence[str]) -> StreamFormRow:
    settings = resource_metadata.load(ctx, uid).settings
    keys = settings.get("keys")
    return StreamFormRow(
        str(settings.get("stream", "")) or ctx.session.read_view(lambda view: view.names.get(view.resource(uid)) or ""),
        uid,
        is_on(ctx, uid),
        str(settings.get("mode", "full")),
        ", ".join(map(str, keys)) if isinstance(keys, list) else "",
        str(settings.get("cursor", "")),
        _table_text(visible, edge_targets(ctx, uid, "writes") or into, str(settings.get("table", ""))),
    )


def _table_text(visible: VisibleRefs, at: Sequence[str], name: str) -> str:
    """Return the table that a stream writes, or its name in the layer in which it will be created."""
    end = visible.ref(at[0]) if at else None
    if end is None or end.kind == LAYER_KIND:
        return f"{end.name}.{name}" if end and name else ""
    above = visible.parent(end.uid)
    return f"{above.name}.{end.name}" if above else ""


def _with_source_fields(row: StreamFormRow, at_source: Mapping[str, Mapping[str, Any]]) -> StreamFormRow:
    found = at_source.get(row.stream)
    there = found is not None or "*" in row.stream or not at_source
    return replace(row, there=there, fields=_field_names(found) if found else ())


def _new_row(found: Mapping[str, Any], layer: str) -> StreamFormRow:
    keys = ", ".join(map(str, found.get("keys") or ()))
    name = str(found["name"])
    mode = "merge" if keys else "full"
    return StreamFormRow(name, mode=mode, keys=keys, table=_suggest_table(name, layer), fields=_field_names(found))


def _field_names(found: Mapping[str, Any]) -> list[str]:
    return [str(each["name"]) for each in found.get("fields") or ()]


def _suggest_table(stream: str, layer: str) -> str:
    """Suggest a table name: `raw.orders` for `public.orders`, `orders.csv` or `2031/orders-*.csv`."""
    name = stream.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if ending in {"csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx", "gz"}:
        name = stem.rpartition(".")[0] if ending == "gz" and "." in stem else stem
    else:
        name = ending or name
    plain = _NO_LETTER.sub("_", name.lower()).strip("_").lstrip("0123456789_")[:_LONGEST] or "rows"
    return f"{layer}.{valid_table_name(plain)}" if layer else plain
