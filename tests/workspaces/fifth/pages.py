"""The pages of a bed: its overview, and the form of a new one."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import resources
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")
new = router("/workspaces")


@routes.get("/{uid:path}/bed")
def bed_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the overview of a bed."""
    found = resources.get(ctx, uid)
    values = {
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "found": found,
        "litres": (found.settings or {}).get("litres"),
        "tabs": kind_pages.resource_tabs(uid, found.kind),
    }
    return pages.render(request, "gardens/bed.html", values)


@new.get("/{uid:path}/beds/new")
def new_bed(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form."""
    return _form(request, ctx, uid, {})


def _form(request: Request, ctx: RequestContext, uid: str, values: dict[str, str], error: str = "") -> Response:
    template_values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "New bed"),
        "to": urls.workspace(uid, "beds/new"),
        "values": values,
    }
    return pages.render_form(request, "gardens/new_bed.html", template_values, {"litres": error} if error else None)


@new.post("/{uid:path}/beds/new")
def create_bed(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Create a bed."""
    name, litres = (str(sent.get(field, "")) for field in ("name", "litres"))
    settings = {"litres": int(litres) if litres.isdecimal() else litres}
    try:
        made = resources.create(ctx, "gardens.bed", name, edges={"garden": uid}, settings=settings)
    except InvalidSettingError as error:
        return _form(request, ctx, uid, {"name": name, "litres": litres}, str(error))
    return pages.redirect(request, urls.resource(made, "bed"), Flash("The bed was created."))


ROUTERS = [routes, new]
