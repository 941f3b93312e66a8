"""New queries and histories, and changing them."""

from __future__ import annotations

from typing import Literal

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import checking, forms
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.lakehouse.pipeline import HAS_FORM, need_pipeline
from lakehold.web.lakehouse.sources import looking
from lakehold.web.routing import SubmittedForm, router

new = router("/workspaces")
routes = router("/resources")

_NEXT = {
    **dict.fromkeys((forms.QUERY, forms.HISTORY), " Run it to fill its table."),
    forms.INTEGRATION: " Make a token to let a tool in.",
}
Word = Literal["query", "history", "notebook", "integration"]


@new.get("/{uid:path}/pipelines/new/{word}")
def new_form(request: Request, ctx: ReadContext, uid: str, word: Word, *, table: str = "", sql: str = "") -> Response:
    """The form for a new one; the address may say what it reads, and the query."""
    need_lakehouse(ctx, uid)
    output = forms.NOWHERE if word in {"notebook", "integration"} else forms.NEW
    filled = forms.Filled(reads=[table] if table else [], sql=sql, output=output)
    return _form(request, ctx, uid, f"lakehouse.{word}", filled)


@new.post("/{uid:path}/pipelines/new/{word}")
def make(request: Request, platform: CurrentPlatform, uid: str, word: Word, sent: SubmittedForm) -> Response:
    """Make it. A query is looked at first, outside of any transaction."""
    kind, filled, reading = f"lakehouse.{word}", forms.sent(sent), looking.reading(request)
    reading.run(lambda ctx: need_lakehouse(ctx, uid))
    filled, errors = checking.checked(request, platform, uid, kind, filled)
    if errors:
        return reading.run(lambda ctx: _form(request, ctx, uid, kind, filled, errors=errors))
    edges = {"lakehouse": uid, **filled.edges(kind)}
    settings, words = filled.settings(kind), filled.description
    try:
        made = looking.writing(request).run(
            lambda ctx: resources.create(ctx, kind, filled.name, edges=edges, settings=settings, description=words)
        )
    except forms.MENDED as refused:
        error = refused
        return reading.run(lambda ctx: _form(request, ctx, uid, kind, filled, error=error))
    return pages.redirect(
        request, kind_pages.resource_overview_url(made, kind), Flash(f"{filled.name} was made.{_NEXT.get(kind, '')}")
    )


@routes.get("/{uid:path}/pipeline/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The form with what it says now."""
    found = _need_edit(ctx, uid)
    return _form(request, ctx, _workspace(found), found.kind, forms.present(found), found=found)


@routes.post("/{uid:path}/pipeline/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Change it, unless somebody else has since the form was opened."""
    reading = looking.reading(request)
    found = reading.run(lambda ctx: _need_edit(ctx, uid))
    within = _workspace(found)
    filled, errors = checking.checked(request, platform, within, found.kind, forms.sent(sent))
    if errors:
        return reading.run(lambda ctx: _form(request, ctx, within, found.kind, filled, found=found, errors=errors))
    wanted = ResourceEdit(
        name=filled.name,
        description=filled.description,
        settings=filled.settings(found.kind, found.settings),
        edges=filled.edges(found.kind),
    )
    version = forms.whole(filled.version)
    try:
        looking.writing(request).run(lambda ctx: resource_edit.apply_edit(ctx, uid, wanted, expect_version=version))
    except forms.MENDED as refused:
        error = refused
        return reading.run(lambda ctx: _form(request, ctx, within, found.kind, filled, found=found, error=error))
    return pages.redirect(
        request, kind_pages.resource_overview_url(uid, found.kind), Flash("Saved. It is so from the next run on.")
    )


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_pipeline(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    if found.kind not in HAS_FORM:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} has no such form.", "Edit it from its page.")
    return found


def _workspace(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""


def _form(
    request: Request,
    ctx: RequestContext,
    within: str,
    kind: str,
    filled: forms.Filled,
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
        "options": forms.options(ctx, within),
        "errors": errors or {},
        "error": error,
    }
    return pages.render(request, "lakehouse/making.html", values, status=422 if errors or error else 200)
