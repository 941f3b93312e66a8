"""Saved queries: save, open, rename and delete; and saving the result of a query as a table."""

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access.query.listing import ListedResource
from lakehold.api.http.dependencies import (
    CurrentPlatform,
    FormContext,
    WriteContext,
    read_transaction,
    write_transaction,
)
from lakehold.catalog import kinds, resource_edit, resource_view, resources
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.runs import queries
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.confirmation import need_confirmation
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.form_values import text_field
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.workspaces.lakehouse import saved_queries
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse, options_for
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND

routes = router("/workspaces")

_MOST, _MAX_LAYERS = 1_000, 200


def own_saved_queries(ctx: RequestContext, workspace: str) -> list[ListedResource]:
    """Return the caller's saved queries of a workspace, by name."""

    def is_mine(uid: str) -> bool:
        owners = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid))
        return any(ctx.caller.member in held for held in owners.values())

    found = ctx.session.list(ctx.principal, "see", saved_queries.SAVED_QUERY, within=workspace, limit=_MOST).items
    return [each for each in found if is_mine(each.uid)]


def need_saved_query(
    ctx: RequestContext, workspace: str, uid: str, *, with_text: bool = False
) -> resource_view.ResourceView:
    """Return a saved query of the lakehouse that the caller may see; with its text, if they need to see that."""
    need_lakehouse(ctx, workspace)
    found = resources.get(ctx, uid)
    is_here = found.kind == saved_queries.SAVED_QUERY and workspace_id(found) == workspace
    if not is_here or (with_text and found.settings is None):
        raise NotFoundError(f"There is no saved query {quote(uid)}.", "Check the list beside the editor.")
    return found


@routes.post("/{uid:path}/sql/save")
def save(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Save the text in the open saved query, or as a new one after asking for its name."""
    # The worker determines which tables it reads, outside of any transaction.
    sql, kept = str(sent.get("sql", "")), str(sent.get("saved", ""))
    reading, writing = read_transaction(request), write_transaction(request)
    place = reading.run(lambda ctx: queries.open_scope(ctx, uid))
    if kept and not sent.get("anew"):
        found = reading.run(lambda ctx: need_saved_query(ctx, uid, kept, with_text=True))
        read = saved_queries.tables_read_if_known(platform, place, sql)
        writing.run(lambda ctx: saved_queries.update_sql(ctx, kept, sql, read))
        return pages.redirect(request, _editor_url(uid, kept), f"{found.name} was saved.")
    if "name" not in sent:
        return reading.run(lambda ctx: _form(request, ctx, uid, "save", None, sql=sql, name=""))
    name = str(sent["name"]).strip()
    try:
        read = saved_queries.tables_read_if_known(platform, place, sql)
        created = writing.run(lambda ctx: saved_queries.create_saved_query(ctx, uid, name, sql, read))
    except (InvalidInputError, ConflictError) as refused:
        error = refused
        return reading.run(lambda ctx: _form(request, ctx, uid, "save", error, sql=sql, name=name))
    return pages.redirect(request, _editor_url(uid, created), f"{name} was saved.")


@routes.api_route("/{uid:path}/sql/saved/{query:path}/rename", methods=FORM_METHODS)
def rename(request: Request, ctx: FormContext, uid: str, query: str, sent: SubmittedForm) -> Response:
    """Ask for the new name of a saved query; rename it."""
    found, error = need_saved_query(ctx, uid, query), None
    kinds.need_right(ctx, query, "edit")
    name = found.name
    if request.method == "POST":
        name = text_field(sent, "name").strip()
        try:
            resource_edit.apply_edit(ctx, query, resource_edit.ResourceEdit(name=name))
            return pages.redirect(request, _editor_url(uid, query), f"Renamed to {name}.")
        except (InvalidInputError, ConflictError) as refusal:
            error = refusal
    return _form(request, ctx, uid, "rename", error, found=found, name=name)


@routes.post("/{uid:path}/sql/saved/{query:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, query: str, sent: SubmittedForm) -> Response:
    """Delete a saved query, after a confirmation."""
    found = need_saved_query(ctx, uid, query)
    text = "The query text is deleted. Tables do not change."
    need_confirmation(request, sent, f"Delete {found.name}?", text, do="Delete", back=_editor_url(uid, query))
    resources.delete(ctx, query)
    return pages.redirect(request, urls.workspace(uid, "sql"), f"{found.name} was deleted.")


def _form(
    request: Request, ctx: RequestContext, uid: str, part: str, error: LakeholdError | None, **values: object
) -> Response:
    """Render one of the forms behind the editor; with the values that were refused, if there is an error."""
    crumbs = resource_header.breadcrumbs(ctx, uid, "SQL", "Save as table" if part == "table" else part.capitalize())
    values |= {"crumbs": crumbs, "space": need_lakehouse(ctx, uid)}
    return pages.render_form(request, f"lakehouse/sql_{part}.html", values, error=error)


def _editor_url(workspace: str, uid: str) -> str:
    return f"{urls.workspace(workspace, 'sql')}?{urlencode({'open': uid})}"


@routes.post("/{uid:path}/sql/table")
def keep(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Ask for name and layer, then start a run that creates the table. The worker determines what the query reads."""
    reading = read_transaction(request)
    place = reading.run(lambda ctx: queries.open_scope(ctx, uid))
    sql, name, layer = (str(sent.get(field, "")).strip() for field in ("sql", "name", "layer"))

    def form(ctx: RequestContext, error: LakeholdError | None = None) -> Response:
        layers = options_for(ctx, "create_table", LAYER_KIND, uid, _MAX_LAYERS)
        return _form(request, ctx, uid, "table", error, sql=sql, name=name, layer=layer, layers=layers)

    if "name" not in sent:
        return reading.run(form)
    try:
        reads = saved_queries.tables_read(platform, place, sql)
        _, run = write_transaction(request).run(
            lambda ctx: saved_queries.save_result_as_table(ctx, layer, name, sql, reads)
        )
    except (InvalidInputError, ConflictError, DeniedError, QueryError, RefusedQueryError) as error:
        refusal = error
        return reading.run(lambda ctx: form(ctx, refusal))
    return pages.redirect(request, urls.run(run.id), f"{name} is being created.")
