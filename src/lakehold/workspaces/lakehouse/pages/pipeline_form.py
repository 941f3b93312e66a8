"""The form of queries, histories, notebooks and integrations: its values, their errors, and the settings that are
saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceRef, ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_table_name
from lakehold.web.form_values import split_names
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.lakehouse.settings import WriteMode

QUERY, HISTORY, NOTEBOOK, INTEGRATION = (
    f"lakehouse.{word}" for word in ("query", "history", "notebook", "integration")
)
NEW, THERE, NOWHERE = "new", "there", "nowhere"
_BY_KEY = frozenset({"merge", "mirror"})


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
            found["name"] = "Enter a name."
        if kind == QUERY and not self.sql.strip():
            found["sql"] = "Enter a query."
        if kind == HISTORY and len(self.reads) != 1:
            found["reads"] = "Select a table."
        if kind == INTEGRATION:
            return found if self.reads else {**found, "reads": "Select at least one table."}
        if kind == NOTEBOOK and self.output == NOWHERE:
            return found if self.reads else {**found, "reads": "Select what it reads or writes."}
        found |= self._output_errors()
        if kind == NOTEBOOK:
            return found
        if not split_names(self.keys) and (kind == HISTORY or self.mode in _BY_KEY):
            found["keys"] = "Enter the key fields."
        if kind == QUERY and self.mode not in get_args(WriteMode):
            found["mode"] = "Select an option."
        return found

    def _output_errors(self) -> dict[str, str]:
        if self.output == THERE:
            if not self.there:
                return {"there": "Select a table."}
            return {"there": "The history needs another table."} if self.there in self.reads else {}
        if not self.layer:
            return {"layer": "Select a layer."}
        try:
            valid_table_name(self.table)
        except InvalidInputError as error:
            return {"table": str(error) if self.table else "Enter a table name."}
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
