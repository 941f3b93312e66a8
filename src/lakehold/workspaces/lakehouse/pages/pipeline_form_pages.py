"""The form pages of queries, histories, notebooks and integrations. A worker checks a query before it is saved."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from fastapi import Request

from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LimitExceededError, NotFoundError, UnavailableError
from lakehold.kit.ids import quote, valid_table_name
from lakehold.kit.settings_schema import NoSettings
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.runs import queries
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import form_routers
from lakehold.workspaces.lakehouse import saved_queries
from lakehold.workspaces.lakehouse.pages.page_frame import FORMS, LakehouseFormPage, options_for, readable_tables
from lakehold.workspaces.lakehouse.pages.pipeline_list import need_pipeline
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.lakehouse.settings import HistorySettings, NotebookSettings, QuerySettings

_NEXT_STEPS = {
    **dict.fromkeys(("query", "history"), " Run it to fill the table."),
    "integration": " Create a token to connect a tool.",
}
RECORDS = {"query": QuerySettings, "history": HistorySettings, "notebook": NotebookSettings, "integration": NoSettings}


class PipelineFormPage(LakehouseFormPage):
    """The form page of a query, history, notebook or integration."""

    design, template = load_design(FORMS, "pipeline", RECORDS), "lakehouse/pipeline_form.html"
    new_part, edit_part = "pipelines/new/{word}", "pipeline/edit"
    carried: ClassVar[Mapping[str, str]] = {"table": "reads", "sql": "sql"}

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        super().__init__(request, within, found)
        word = found.kind.rpartition(".")[2] if found else str(request.path_params["word"])
        if word not in self.design.types:
            raise NotFoundError(f"There is no form for {quote(word)}.", "Open the list of pipelines.")
        self.kind, self.new_part = f"lakehouse.{word}", f"pipelines/new/{word}"
        self.next_step = _NEXT_STEPS.get(word, "")

    @property
    def word(self) -> str:
        """The noun of the kind."""
        return self.kind.rpartition(".")[2]

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the pipeline, if the caller may edit it and it has this form."""
        found = need_pipeline(ctx, uid)
        kinds.need_right(ctx, uid, "edit")
        if found.kind.rpartition(".")[2] not in cls.design.types:
            title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
            raise InvalidInputError(f"A {title} has no such form.", "Edit it from its page.")
        return found

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the tables and layers that the caller may read or write."""
        return {
            "reads": readable_tables(ctx, self.within),
            "layer": options_for(ctx, "create_table", LAYER_KIND, self.within),
            "there": options_for(ctx, "write", TABLE_KIND, self.within),
        }

    def extra_values(self) -> dict[str, object]:
        """Return the lakehouse whose names the editor completes."""
        return {"lakehouse": self.within}

    def load(self, found: ResourceView) -> ResourceForm:
        """Return the form of an existing pipeline, with the table that it writes or the layer of a new one."""
        filled = super().load(found)
        writes = [*found.edges.get("writes", ()), *found.edges.get("into", ())]
        layer = next((each.uid for each in writes if each.kind == LAYER_KIND), "")
        there = writes[0].uid if writes and writes[0].kind == TABLE_KIND else ""
        nowhere = not writes and self.word in {"notebook", "integration"}
        output = "nowhere" if nowhere else "there" if there else "new"
        return replace(filled, texts={**filled.texts, "output": output, "layer": layer, "there": there})

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return the edges to what it reads and writes: a table, or the layer in which one is created."""
        reads, layer = list(filled.ends.get("reads", ())), [filled.text("layer")]
        match filled.text("output"):
            case "new":
                return {"reads": reads, "writes": layer, "into": layer}
            case "there":
                return {"reads": reads, "writes": [filled.text("there")]}
            case _:
                return {"reads": reads, "writes": [], "into": []}

    def check(self, filled: ResourceForm, *, has_secret: bool) -> tuple[ResourceForm, dict[str, str]]:
        """Return the form with all tables selected that the query reads, and the errors by field.

        Without a worker, the query is not checked before its first run.
        """
        errors = {**filled.errors(has_secret=has_secret), **_table_errors(filled)}
        if self.word != "query" or "sql" in errors:
            return filled, errors
        reading, reads = read_transaction(self.request), list(filled.ends.get("reads", ()))
        place = reading.run(lambda ctx: queries.open_scope(ctx, self.within))
        try:
            found = saved_queries.tables_read(get_platform(self.request), place, filled.text("sql"))
        except UnavailableError:
            return filled, errors
        except (QueryError, RefusedQueryError, LimitExceededError) as error:
            return filled, {"sql": str(error), **errors}
        missed = [uid for uid in found if uid not in reads]
        if not missed:
            return filled, errors
        names = ", ".join(reading.run(lambda ctx: [each.name for each in VisibleRefs(ctx).refs(missed)]))
        said = f"It also reads {names}, now selected. Save again."
        return replace(filled, ends={**filled.ends, "reads": [*reads, *missed]}), {"reads": said, **errors}


def _table_errors(filled: ResourceForm) -> dict[str, str]:
    """Return the errors of the tables that it reads and writes, as far as they depend on each other."""
    found, reads, there = dict[str, str](), filled.ends.get("reads", ()), filled.text("there")
    if filled.word == "history" and len(reads) != 1:
        found["reads"] = "Select a table."
    if filled.text("output") == "there" and there in reads:
        found["there"] = "The history needs another table."
    if filled.text("output") == "new" and filled.text("layer") and filled.text("table"):
        try:
            valid_table_name(filled.text("table"))
        except InvalidInputError as error:
            found["table"] = str(error)
    return found


new, routes = form_routers(PipelineFormPage)
