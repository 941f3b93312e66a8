"""The streams of a source: which of them are brought in, how, and into which table."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request, Response

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking, steps, streams, tables
from lakehold.web.lakehouse.sources.connecting import need_source
from lakehold.web.lakehouse.sources.looking import Seen
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")


@routes.get("/{uid:path}/streams")
def streams_page(request: Request, uid: str) -> Response:
    """Those that the source has, as the worker finds them, and those that are kept."""
    found = looking.reading(request).run(lambda ctx: need_source(ctx, uid))
    seen = looking.look(request, {"source": uid, "settings": dict(found.settings or {})})

    def page(ctx: RequestContext) -> Response:
        layer = next((end.name for end in found.edges.get("into", ())), "")
        rows = streams.merged(streams.present(ctx, uid), seen.streams, layer)
        return _page(request, ctx, found, rows, seen=seen)

    return looking.reading(request).run(page)


@routes.post("/{uid:path}/streams")
def choose(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Keep what was chosen, all of it or nothing."""
    reading, rows = looking.reading(request), streams.sent(sent)
    found = reading.run(lambda ctx: need_source(ctx, uid))
    if str(sent.get("do", "")) == "more":
        named = _more(found, rows, str(sent.get("more", "")).strip())
        return reading.run(lambda ctx: _page(request, ctx, found, named))
    errors = reading.run(lambda ctx: _errors(ctx, found, rows))
    if errors:
        return reading.run(lambda ctx: _page(request, ctx, found, rows, errors=errors))
    try:
        count = looking.writing(request).run(lambda ctx: streams.save(ctx, uid, rows, _targets(ctx, found)))
    except forms.MENDED as refusal:
        told = refusal
        return reading.run(lambda ctx: _page(request, ctx, found, rows, error=told))
    setup = _is_setup(request)
    to = steps.at(uid, steps.PREVIEW) if setup else reading.run(lambda ctx: resource_header.overview_url(ctx, uid))
    return pages.redirect(request, to, Flash(f"{format_count(count, 'stream')} on."))


def _more(found: ResourceView, rows: Sequence[streams.Row], name: str) -> list[streams.Row]:
    layer = next((end.name for end in found.edges.get("into", ())), "")
    known = {row.stream for row in rows}
    return [*rows, streams.named(name, layer)] if name and name not in known else list(rows)


def _errors(ctx: RequestContext, found: ResourceView, rows: Sequence[streams.Row]) -> dict[str, str]:
    targets, errors = _targets(ctx, found), dict[str, str]()
    for n, row in enumerate(rows):
        if row.on:
            errors |= row.errors(n, targets)
    if not any(row.on for row in rows) and not any(row.uid for row in rows):
        errors["streams"] = "Choose at least one stream."
    return errors


def _targets(ctx: RequestContext, found: ResourceView) -> tables.Targets:
    return tables.targets(ctx, found.workspace.uid if found.workspace else "")


def _is_setup(request: Request) -> bool:
    return bool(request.query_params.get("setup"))


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    rows: Sequence[streams.Row],
    *,
    seen: Seen | None = None,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    setup, targets = _is_setup(request), _targets(ctx, found)
    settings = found.settings or {}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Streams"),
        "found": found,
        "steps": steps.steps(steps.STREAMS, found.uid) if setup else [],
        "setup": setup,
        "to": steps.page(found.uid, steps.STREAMS, setup=setup),
        "back": resource_header.overview_url(ctx, found.uid),
        "connection": steps.page(found.uid, steps.CONNECT, setup=setup),
        "rows": list(enumerate(rows)),
        "modes": streams.MODES,
        "cut": len(rows) == streams.MOST,
        "tables": sorted([*targets.tables, *(f"{layer}." for layer in targets.layers)], key=str.casefold),
        "unseen": seen.error if seen else None,
        "is_files": settings.get("connector") == "files",
        "errors": errors or {},
        "error": error,
    }
    return pages.render(request, "lakehouse/streams.html", values, status=422 if errors or error else 200)
