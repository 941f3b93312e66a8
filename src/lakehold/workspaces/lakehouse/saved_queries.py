"""Saved queries and saved results, stored with the tables that they read.

The worker finds these outside of any transaction; they are then stored as edges.
"""

from collections.abc import Collection, Mapping

from lakehold import workspaces
from lakehold.catalog import kinds, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import make_ref
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LimitExceededError, UnavailableError
from lakehold.kit.ids import valid_table_name
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.runs import queries
from lakehold.runs.service import Run, Runs
from lakehold.runs.sql_definitions import EdgeEnds, SqlDefinition
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND


def save_result_as_table(
    ctx: RequestContext, layer: str, name: str, sql: str, reads: Collection[str]
) -> tuple[str, Run]:
    """Create the table and start the run that fills it. `reads` are the tables that the worker found in the query."""
    edges = {"layer": layer, "saved_from": sorted(reads)}
    uid = resources.create(ctx, TABLE_KIND, valid_table_name(name), edges=edges, settings={"sql": sql})
    return uid, Runs(workspaces.runnables()).start(ctx, uid)


SAVED_QUERY = "lakehouse.saved_query"
_KINDS = (SAVED_QUERY, "lakehouse.query")


def query_scope(ctx: RequestContext, uid: str) -> queries.QueryScope:
    """Return the scope of a query; refuse unless the caller may edit it and run queries there."""
    need_kind(ctx, uid, "edit", _KINDS, refusal="A {} has no SQL.", hint="Choose a query.")
    return queries.open_scope(ctx, kinds.workspace_of(ctx.view, uid) or uid)


def tables_read(platform: Platform, scope: queries.QueryScope, sql: str) -> list[str]:
    """Return the tables that the SQL reads, of those that the caller may read."""
    return queries.describe_query(platform, scope, sql).reads


def tables_read_if_known(platform: Platform, scope: queries.QueryScope, sql: str) -> list[str] | None:
    """Return the tables that the SQL reads, or None if it cannot be analysed: a draft, or no worker is running."""
    try:
        return tables_read(platform, scope, sql)
    except (UnavailableError, QueryError, RefusedQueryError, LimitExceededError):
        return None


def create_saved_query(ctx: RequestContext, lakehouse: str, name: str, sql: str, tables: Collection[str] | None) -> str:
    """Create a saved query of the caller and return its id."""
    if not sql.strip():
        raise InvalidInputError("The query is empty.", "Write a SELECT first.")
    edges = {"lakehouse": lakehouse, "reads": sorted(tables or ())}
    return resources.create(ctx, SAVED_QUERY, name, edges=edges, settings={"sql": sql})


def update_sql(ctx: RequestContext, uid: str, sql: str, tables: Collection[str] | None) -> None:
    """Change the SQL. If the tables that it reads are not known, the stored ones stay."""
    settings = {**resource_metadata.load(ctx, uid).settings, "sql": sql}
    resource_edit.apply_edit(
        ctx, uid, ResourceEdit(settings=settings, edges=None if tables is None else {"reads": sorted(tables)})
    )


def _find_sql(ctx: RequestContext, settings: Mapping[str, object], ends: EdgeEnds) -> SqlDefinition | None:
    """Return the query of a pipeline or a saved table, for those who may run queries in its lakehouse."""
    inside = next(iter(ends("lakehouse") or ends("layer") or ends("into") or ()), "")
    lakehouse = kinds.workspace_of(ctx.view, inside) if ctx.view.ids.get(inside) is not None else None
    if lakehouse is None or not queries.may_query(ctx, lakehouse):
        return None
    text = str(settings.get("sql", ""))
    return SqlDefinition(make_ref(ctx.view, lakehouse).name, text) if text.strip() else None


SQL_DEFINITIONS = {"query": _find_sql, "table": _find_sql}
