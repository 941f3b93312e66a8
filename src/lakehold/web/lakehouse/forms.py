"""What the forms of queries, histories, notebooks and integrations have in them, and what is kept of it: edges and
settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceRef, ResourceView
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web.lakehouse.sources import tables
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND, WRITE_MODES
from lakehold.workspaces.settings_reader import SettingsReader

QUERY, HISTORY, NOTEBOOK, INTEGRATION = (
    f"lakehouse.{word}" for word in ("query", "history", "notebook", "integration")
)
NEW, THERE, NOWHERE = "new", "there", "nowhere"
MENDED = (InvalidInputError, ConflictError, HiddenError, DeniedError, VersionConflictError)
"""Refusals that whoever fills a form in can do something about: it is shown again, with all that was filled in."""
_MOST = 300
_COMMAS = re.compile(r"[,\n]")
_WHOLE = re.compile(r"[0-9]{1,9}")
_BY_KEY = frozenset({"merge", "mirror"})


@dataclass(frozen=True, slots=True)
class Options:
    """What there is to choose from, of what the caller may do."""

    reads: list[tuple[str, str, bool]]
    """Tables that they may read, and whether they may edit it too, which a pipeline asks for."""
    layers: list[tuple[str, str]]
    tables: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Filled:
    """A form as it is filled in."""

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
        """What it reads and where it writes: a table, or the layer in which one is made."""
        if kind == INTEGRATION or self.output == NOWHERE:
            return {"reads": list(self.reads), "writes": [], "into": []}
        if self.output == THERE:
            return {"reads": list(self.reads), "writes": [self.there]}
        return {"reads": list(self.reads), "writes": [self.layer], "into": self.layer}

    def settings(self, kind: str, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it beside the edges. What the form does not ask for stays as it was."""
        keys = parts(self.keys)
        if kind == INTEGRATION:
            return dict(before or {})
        told: dict[str, object] = {"table": self.table} if self.output == NEW else {}
        if kind == NOTEBOOK:
            return {**(before or {}), **told}
        if kind == QUERY:
            told |= {"sql": self.sql, "mode": self.mode, "keys": keys} | (
                {"cursor": self.cursor} if self.cursor else {}
            )
        else:
            told |= {"keys": keys, "at": self.at, "closes_missing": self.closes_missing}
        asked = {name: value for name, value in (before or {}).items() if name != "cursor"}
        return {**asked, **told}

    def errors(self, kind: str) -> dict[str, str]:
        """What is wrong with it, by field."""
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
        found |= self._errors_of_output()
        if kind == NOTEBOOK:
            return found
        if not parts(self.keys) and (kind == HISTORY or self.mode in _BY_KEY):
            found["keys"] = "Name the fields by which a row is known."
        if kind == QUERY and self.mode not in WRITE_MODES:
            found["mode"] = "Choose one of these."
        return found

    def _errors_of_output(self) -> dict[str, str]:
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


def sent(form: FormData) -> Filled:
    """What came in."""

    def text(name: str, default: str = "") -> str:
        return str(form.get(name, default)).strip()

    return Filled(
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


def present(found: ResourceView) -> Filled:
    """What it says now."""
    told = found.settings or {}
    writes = [*found.edges.get("writes", ()), *found.edges.get("into", ())]
    end = writes[0] if writes else None
    layer = next((each for each in writes if each.kind == LAYER_KIND), None)
    keys = told.get("keys")
    return Filled(
        name=found.name,
        description=found.description,
        sql=str(told.get("sql", "")),
        reads=[end.uid for end in found.edges.get("reads", ())],
        output=_output(found.kind, end),
        layer=layer.uid if layer else "",
        table=str(told.get("table", "")),
        there=end.uid if end is not None and end.kind == TABLE_KIND else "",
        mode=str(told.get("mode", "overwrite")),
        keys=", ".join(map(str, keys)) if isinstance(keys, list) else "",
        cursor=str(told.get("cursor", "")),
        at=str(told.get("at", "")),
        closes_missing=told.get("closes_missing") is not False,
        version=str(found.version),
    )


def _output(kind: str, end: ResourceRef | None) -> str:
    if end is None and kind in {NOTEBOOK, INTEGRATION}:
        return NOWHERE
    return THERE if end is not None and end.kind == TABLE_KIND else NEW


def options(ctx: RequestContext, workspace: str) -> Options:
    """What there is to choose from in a lakehouse."""
    writable = _listed(ctx, "write", TABLE_KIND, workspace)
    return Options(readable(ctx, workspace), _listed(ctx, "create_table", LAYER_KIND, workspace), writable)


def readable(ctx: RequestContext, workspace: str) -> list[tuple[str, str, bool]]:
    """Tables that one may read, each with whether a pipeline of one's own may."""
    found = _listed(ctx, "read", TABLE_KIND, workspace)
    may = ctx.session.check_many([(ctx.asker, "write", uid) for uid, _ in found])
    return [(uid, name, each) for (uid, name), each in zip(found, may, strict=True)]


def whole(text: str) -> int | None:
    """A number that somebody wrote; None if it is none, or longer than any that is asked for."""
    return int(text) if _WHOLE.fullmatch(text) else None


def parts(text: str) -> list[str]:
    """Names that are written with commas between them."""
    return [part.strip() for part in _COMMAS.split(text) if part.strip()]


def _listed(ctx: RequestContext, action: str, kind: str, workspace: str) -> list[tuple[str, str]]:
    found = ctx.session.list(ctx.asker, action, kind, within=workspace, limit=_MOST).items
    if kind == LAYER_KIND:
        return [(item.uid, item.name) for item in found]
    return tables.named(ctx, found)
