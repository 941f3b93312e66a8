"""Helpers to parse forms, the form of queries, histories, notebooks and integrations, and the tables and layers that a
pipeline may write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.access.query.listing import ListedResource
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND, WRITE_MODES
from lakehold.workspaces.settings_reader import SettingsReader, valid_table_name

MAX_TARGETS = 500


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where the rows of a stream go: a table, or the name of a new one in a layer."""

    end: str
    """The table, or the layer."""
    table: str = ""
    """What it is to be called; empty if it is there."""


@dataclass(frozen=True, slots=True)
class WriteTargets:
    """The tables and layers that the caller may write, by name."""

    layers: Mapping[str, str]
    tables: Mapping[str, str]

    def resolve(self, text: str) -> WriteTarget:
        """Return the target that a text names; raise InvalidInputError if the caller may not write there."""
        if text in self.tables:
            return WriteTarget(self.tables[text])
        layer, dot, table = text.rpartition(".")
        if not dot:
            raise InvalidInputError("Write the layer too.", "Such as raw.orders.")
        if layer not in self.layers:
            raise InvalidInputError("There is no layer of this name in which you may make tables.", "Choose another.")
        return WriteTarget(self.layers[layer], valid_table_name(table))


def write_targets(ctx: RequestContext, workspace: str) -> WriteTargets:
    """Return what the caller may write in a lakehouse."""
    found = ctx.session.list(ctx.principal, "write", TABLE_KIND, within=workspace, limit=MAX_TARGETS).items
    return WriteTargets(writable_layers(ctx, workspace), {name: uid for uid, name in qualified_names(ctx, found)})


def writable_layers(ctx: RequestContext, workspace: str) -> dict[str, str]:
    """Return the layers in which the caller may create tables, by name."""
    found = ctx.session.list(ctx.principal, "create_table", LAYER_KIND, within=workspace, limit=MAX_TARGETS).items
    return {item.name: item.uid for item in found}


def qualified_names(ctx: RequestContext, found: Sequence[ListedResource]) -> list[tuple[str, str]]:
    """Return ids with names that include the layer: `raw.orders`."""
    eyes = VisibleRefs(ctx)
    pairs = [
        (item.uid, f"{above.name}.{item.name}" if (above := eyes.parent(item.uid)) else item.name) for item in found
    ]
    return sorted(pairs, key=lambda pair: pair[1].casefold())


QUERY, HISTORY, NOTEBOOK, INTEGRATION = (
    f"lakehouse.{word}" for word in ("query", "history", "notebook", "integration")
)
NEW, THERE, NOWHERE = "new", "there", "nowhere"
CORRECTABLE_ERRORS = (InvalidInputError, ConflictError, HiddenError, DeniedError, VersionConflictError)
"""Refusals that whoever fills a form in can do something about: it is shown again, with all that was filled in."""
_MAX_OPTIONS = 300
_SEPARATORS = re.compile(r"[,\n]")
_INTEGER = re.compile(r"[0-9]{1,9}")
_BY_KEY = frozenset({"merge", "mirror"})


@dataclass(frozen=True, slots=True)
class PipelineFormOptions:
    """The tables and layers that the form offers to the caller."""

    reads: list[tuple[str, str, bool]]
    """Tables that they may read, and whether they may edit it too, which a pipeline asks for."""
    layers: list[tuple[str, str]]
    tables: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PipelineForm:
    """The values of the form of a query, history, notebook or integration."""

    name: str = ""
    description: str = ""
    sql: str = ""
    reads: Sequence[str] = ()
    output: str = NEW
    layer: str = ""
    table: str = ""
    there: str = ""
    mode: str = "overwrite"
    keys: str = ""
    cursor: str = ""
    at: str = ""
    closes_missing: bool = True
    version: str = ""

    def edges(self, kind: str) -> EdgeTargets:
        """Return what it reads and where it writes: a table, or the layer in which one is created."""
        if kind == INTEGRATION or self.output == NOWHERE:
            return {"reads": list(self.reads), "writes": [], "into": []}
        if self.output == THERE:
            return {"reads": list(self.reads), "writes": [self.there]}
        return {"reads": list(self.reads), "writes": [self.layer], "into": self.layer}

    def settings(self, kind: str, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged."""
        keys = split_names(self.keys)
        if kind == INTEGRATION:
            return dict(before or {})
        settings: dict[str, object] = {"table": self.table} if self.output == NEW else {}
        if kind == NOTEBOOK:
            return {**(before or {}), **settings}
        if kind == QUERY:
            settings |= {"sql": self.sql, "mode": self.mode, "keys": keys} | (
                {"cursor": self.cursor} if self.cursor else {}
            )
        else:
            settings |= {"keys": keys, "at": self.at, "closes_missing": self.closes_missing}
        asked = {name: value for name, value in (before or {}).items() if name != "cursor"}
        return {**asked, **settings}

    def errors(self, kind: str) -> dict[str, str]:
        """Return the errors by field."""
        found: dict[str, str] = {}
        if not self.name:
            found["name"] = "Give it a name."
        if kind == QUERY and not self.sql.strip():
            found["sql"] = "Write the query whose rows are kept."
        if kind == HISTORY and len(self.reads) != 1:
            found["reads"] = "Choose the table whose history is kept."
        if kind == INTEGRATION:
            return found if self.reads else {**found, "reads": "Choose at least one table that it lets others read."}
        if kind == NOTEBOOK and self.output == NOWHERE:
            return found if self.reads else {**found, "reads": "Choose what it reads, or where it writes."}
        found |= self._output_errors()
        if kind == NOTEBOOK:
            return found
        if not split_names(self.keys) and (kind == HISTORY or self.mode in _BY_KEY):
            found["keys"] = "Name the fields by which a row is known."
        if kind == QUERY and self.mode not in WRITE_MODES:
            found["mode"] = "Choose one of these."
        return found

    def _output_errors(self) -> dict[str, str]:
        if self.output == THERE:
            if not self.there:
                return {"there": "Choose the table that it writes."}
            return {"there": "A table cannot be kept in itself."} if self.there in self.reads else {}
        if not self.layer:
            return {"layer": "Choose the layer in which the table is made."}
        try:
            SettingsReader({"table": self.table}, "table").table_name()
        except InvalidInputError as error:
            return {"table": str(error) if self.table else "Name the table that is made."}
        return {}


def parse_pipeline_form(form: FormData) -> PipelineForm:
    """Parse a submitted form."""

    def text(name: str, default: str = "") -> str:
        return str(form.get(name, default)).strip()

    return PipelineForm(
        name=text("name"),
        description=text("description"),
        sql=str(form.get("sql", "")).replace("\r\n", "\n").strip(),
        reads=[str(each) for each in form.getlist("reads") if each],
        output=text("output") if text("output") in {THERE, NOWHERE} else NEW,
        layer=text("layer"),
        table=text("table"),
        there=text("there"),
        mode=text("mode", "overwrite"),
        keys=text("keys"),
        cursor=text("cursor"),
        at=text("at"),
        closes_missing=bool(form.get("closes_missing")),
        version=text("version"),
    )


def pipeline_form_from_resource(found: ResourceView) -> PipelineForm:
    """Return the form for an existing pipeline."""
    settings = found.settings or {}
    writes = [*found.edges.get("writes", ()), *found.edges.get("into", ())]
    end = writes[0] if writes else None
    layer = next((each for each in writes if each.kind == LAYER_KIND), None)
    keys = settings.get("keys")
    return PipelineForm(
        name=found.name,
        description=found.description,
        sql=str(settings.get("sql", "")),
        reads=[end.uid for end in found.edges.get("reads", ())],
        output=_output(found.kind, end),
        layer=layer.uid if layer else "",
        table=str(settings.get("table", "")),
        there=end.uid if end is not None and end.kind == TABLE_KIND else "",
        mode=str(settings.get("mode", "overwrite")),
        keys=", ".join(map(str, keys)) if isinstance(keys, list) else "",
        cursor=str(settings.get("cursor", "")),
        at=str(settings.get("at", "")),
        closes_missing=settings.get("closes_missing") is not False,
        version=str(found.version),
    )


def _output(kind: str, end: ResourceRef | None) -> str:
    if end is None and kind in {NOTEBOOK, INTEGRATION}:
        return NOWHERE
    return THERE if end is not None and end.kind == TABLE_KIND else NEW


def pipeline_form_options(ctx: RequestContext, workspace: str) -> PipelineFormOptions:
    """Return the tables and layers of a lakehouse to choose from."""
    writable = _table_options(ctx, "write", TABLE_KIND, workspace)
    return PipelineFormOptions(
        readable_tables(ctx, workspace), _table_options(ctx, "create_table", LAYER_KIND, workspace), writable
    )


def readable_tables(ctx: RequestContext, workspace: str) -> list[tuple[str, str, bool]]:
    """Return the tables that the caller may read, each with whether a pipeline of theirs may read it too."""
    found = _table_options(ctx, "read", TABLE_KIND, workspace)
    may = ctx.session.check_many([(ctx.principal, "write", uid) for uid, _ in found])
    return [(uid, name, each) for (uid, name), each in zip(found, may, strict=True)]


def parse_integer(text: str) -> int | None:
    """Parse a non-negative integer; return None if the text is not one or is too long."""
    return int(text) if _INTEGER.fullmatch(text) else None


def split_names(text: str) -> list[str]:
    """Split names at commas and line breaks."""
    return [part.strip() for part in _SEPARATORS.split(text) if part.strip()]


def _table_options(ctx: RequestContext, action: str, kind: str, workspace: str) -> list[tuple[str, str]]:
    found = ctx.session.list(ctx.principal, action, kind, within=workspace, limit=_MAX_OPTIONS).items
    if kind == LAYER_KIND:
        return [(item.uid, item.name) for item in found]
    return qualified_names(ctx, found)
