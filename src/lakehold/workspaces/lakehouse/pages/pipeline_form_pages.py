"""The form pages of queries, histories, notebooks and integrations. A worker checks a query before it is saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction, write_transaction
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, UnavailableError
from lakehold.lake.errors import LimitExceededError, QueryError, RefusedQueryError
from lakehold.runs import queries, worker_client
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse.pages import pipeline_form, table_options
from lakehold.workspaces.lakehouse.pages.page_frame import need_lakehouse
from lakehold.workspaces.lakehouse.pages.pipeline_form import PipelineForm
from lakehold.workspaces.lakehouse.pages.pipeline_graph import FORM_KINDS, need_pipeline


def check_query(
    request: Request, platform: Platform, workspace: str, kind: str, filled: PipelineForm
) -> tuple[PipelineForm, dict[str, str]]:
    """Return the form with all tables selected that the query reads, and the errors by field. Without a worker, the
    query is not checked before its first run.
    """
    errors = filled.errors(kind)
    if kind != pipeline_form.QUERY or "sql" in errors:
        return filled, errors
    reading = read_transaction(request)
    place = reading.run(lambda ctx: queries.open_scope(ctx, workspace))
    try:
        found = worker_client.describe_query(platform, place.caller, workspace=place.name, text=filled.sql)
    except UnavailableError:
        return filled, errors
    except (QueryError, RefusedQueryError, LimitExceededError) as error:
        return filled, {"sql": str(error), **errors}
    missed = [uid for uid in found.reads if uid not in filled.reads]
    if not missed:
        return filled, errors
    names = ", ".join(reading.run(lambda ctx: _names(ctx, missed)))
    said = f"It also reads {names}, now selected. Save again."
    return replace(filled, reads=[*filled.reads, *missed]), {"reads": said, **errors}


def _names(ctx: RequestContext, uids: list[str]) -> list[str]:
    return [found.name for found in VisibleRefs(ctx).refs(uids)]


new = router("/workspaces")
routes = router("/resources")

_NEXT_STEPS = {
    **dict.fromkeys((pipeline_form.QUERY, pipeline_form.HISTORY), " Run it to fill the table."),
    pipeline_form.INTEGRATION: " Create a token to connect a tool.",
}
PipelineNoun = Literal["query", "history", "notebook", "integration"]


@new.get("/{uid:path}/pipelines/new/{word}")
def new_form(
    request: Request, ctx: ReadContext, uid: str, word: PipelineNoun, *, table: str = "", sql: str = ""
) -> Response:
    """Render the form for a new one. The address may name a table to read, and the query."""
    need_lakehouse(ctx, uid)
    output = pipeline_form.NOWHERE if word in {"notebook", "integration"} else pipeline_form.NEW
    filled = pipeline_form.PipelineForm(reads=[table] if table else [], sql=sql, output=output)
    return _render_form(request, ctx, uid, f"lakehouse.{word}", filled)


@new.post("/{uid:path}/pipelines/new/{word}")
def make(request: Request, platform: CurrentPlatform, uid: str, word: PipelineNoun, sent: SubmittedForm) -> Response:
    """Create it. A query is checked first, outside of any transaction."""
    kind, filled, reading = f"lakehouse.{word}", pipeline_form.parse_pipeline_form(sent), read_transaction(request)
    reading.run(lambda ctx: need_lakehouse(ctx, uid))
    filled, errors = check_query(request, platform, uid, kind, filled)
    if errors:
        return reading.run(lambda ctx: _render_form(request, ctx, uid, kind, filled, errors=errors))
    edges = {"lakehouse": uid, **filled.edges(kind)}
    settings, words = filled.settings(kind), filled.description
    try:
        made = write_transaction(request).run(
            lambda ctx: resources.create(ctx, kind, filled.name, edges=edges, settings=settings, description=words)
        )
    except CORRECTABLE_ERRORS as refused:
        error = refused
        return reading.run(lambda ctx: _render_form(request, ctx, uid, kind, filled, error=error))
    return pages.redirect(
        request,
        kind_pages.resource_overview_url(made, kind),
        Flash(f"{filled.name} was created.{_NEXT_STEPS.get(kind, '')}"),
    )


@routes.get("/{uid:path}/pipeline/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of an existing one."""
    found = _need_edit(ctx, uid)
    return _render_form(
        request, ctx, _workspace_id(found), found.kind, pipeline_form.pipeline_form_from_resource(found), found=found
    )


@routes.post("/{uid:path}/pipeline/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Save the form, unless the resource has changed since it was rendered."""
    reading = read_transaction(request)
    found = reading.run(lambda ctx: _need_edit(ctx, uid))
    within = _workspace_id(found)
    filled, errors = check_query(request, platform, within, found.kind, pipeline_form.parse_pipeline_form(sent))
    if errors:
        return reading.run(
            lambda ctx: _render_form(request, ctx, within, found.kind, filled, found=found, errors=errors)
        )
    edit_request = ResourceEdit(
        name=filled.name,
        description=filled.description,
        settings=filled.settings(found.kind, found.settings),
        edges=filled.edges(found.kind),
    )
    version = parse_integer(filled.version)
    try:
        write_transaction(request).run(
            lambda ctx: resource_edit.apply_edit(ctx, uid, edit_request, expect_version=version)
        )
    except CORRECTABLE_ERRORS as refused:
        error = refused
        return reading.run(lambda ctx: _render_form(request, ctx, within, found.kind, filled, found=found, error=error))
    return pages.redirect(
        request, kind_pages.resource_overview_url(uid, found.kind), Flash("Saved. Applies from the next run.")
    )


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_pipeline(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    if found.kind not in FORM_KINDS:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} has no such form.", "Edit it from its page.")
    return found


def _workspace_id(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""


def _render_form(
    request: Request,
    ctx: RequestContext,
    within: str,
    kind: str,
    filled: pipeline_form.PipelineForm,
    *,
    found: ResourceView | None = None,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    title = kinds.catalog_kind(ctx.view.policy, kind).title
    word = kind.rpartition(".")[2]
    there = urls.resource(found.uid, "pipeline/edit") if found else ""
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Edit")
        if found
        else resource_header.breadcrumbs(ctx, within, f"New {title.lower()}"),
        "title": f"Edit {found.name}" if found else f"New {title.lower()}",
        "to": there or urls.workspace(within, f"pipelines/new/{word}"),
        "back": resource_header.overview_url(ctx, found.uid) if found else urls.workspace(within, "pipelines"),
        "word": word,
        "lakehouse": within,
        "is_new": found is None,
        "filled": filled,
        "options": table_options.pipeline_form_options(ctx, within),
        "errors": errors or {},
        "error": error,
    }
    return pages.render(request, "lakehouse/making.html", values, status=422 if errors or error else 200)
