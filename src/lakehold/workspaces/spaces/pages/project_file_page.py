"""The page of a data project's file: it is read, downloaded, edited, and applied to the project."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi import Request, Response

from lakehold.access_as_code.export import slug
from lakehold.api.http.dependencies import FormContext, ReadContext
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.form_values import text_field
from lakehold.web.labels import format_count
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.workspaces.spaces.pages.project_page import need_project
from lakehold.workspaces.spaces.project_files import file_format
from lakehold.workspaces.spaces.project_files.export import export_project
from lakehold.workspaces.spaces.project_files.project_import import ImportOptions, ProjectChange, ProjectImport
from lakehold.workspaces.spaces.settings import PROJECT_KIND

routes = router("/resources")

_PART = "project-file"


@routes.get(f"/{{uid:path}}/{_PART}/download")
def download_project(ctx: ReadContext, uid: str) -> Response:
    """Send the file of a project."""
    found = need_project(ctx, uid)
    named = f'attachment; filename="{slug(found.name) or "project"}.yaml"'
    return Response(export_project(ctx, uid), media_type="application/yaml", headers={"Content-Disposition": named})


@routes.api_route(f"/{{uid:path}}/{_PART}", methods=FORM_METHODS)
def project_file_page(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Render the file of a project; plan what another text changes, or apply it."""
    found = need_project(ctx, uid)
    ctx.need("open", uid)
    text, refusal, changes, error = text_field(sent, "file"), None, None, None
    if request.method == "POST":
        try:
            changes, done = _import(ctx, found, sent)
            if done:
                flash = f"{format_count(len(changes), 'change')} made. Prepare the tasks that changed."
                return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)
        except (InvalidInputError, NotFoundError, ConflictError) as found_error:
            error = found_error
    else:
        text, refusal = _export(ctx, uid)
    values = {**_values(ctx, found, text, refusal, changes), "remove": bool(sent.get("remove"))}
    return pages.render_form(request, "spaces/project_file.html", values, {}, error)


def _import(ctx: RequestContext, found: ResourceView, sent: SubmittedForm) -> tuple[list[ProjectChange], bool]:
    """Return what the text changes, and whether that was done."""
    ctx.need("update", found.uid)
    text, space = text_field(sent, "file"), found.workspace.uid if found.workspace else ""
    if len(text) > file_format.MAX_LENGTH:
        raise InvalidInputError("The file is too long.", f"Use {file_format.MAX_LENGTH:,} characters at most.")
    # Whatever the file calls it, it is applied to this project.
    parsed = replace(file_format.parse(text), name=found.name)
    planned = ProjectImport(ctx, parsed, ImportOptions(space, keep=not sent.get("remove")))
    applies = sent.get("do") == "apply"
    return (planned.apply() if applies else planned.plan()), applies


def _export(ctx: RequestContext, uid: str) -> tuple[str, LakeholdError | None]:
    try:
        return export_project(ctx, uid), None
    except ConflictError as error:
        return "", error


def _values(
    ctx: RequestContext,
    found: ResourceView,
    text: str,
    refusal: LakeholdError | None,
    changes: Sequence[ProjectChange] | None,
) -> dict[str, object]:
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "YAML file"),
        "to": urls.resource(found.uid, _PART),
        "download": urls.resource(found.uid, f"{_PART}/download"),
        "back": resource_header.overview_url(ctx, found.uid),
        "text": text,
        "refusal": refusal,
        "changes": changes,
        "may_update": ctx.session.check(ctx.principal, "update", found.uid),
    }


def menu_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the menu actions that only projects have."""
    if found.kind != PROJECT_KIND:
        return []
    return resource_header.actions_of(
        ctx, found.uid, {"open": PageAction("YAML file", urls.resource(found.uid, _PART), icon="file")}
    )
