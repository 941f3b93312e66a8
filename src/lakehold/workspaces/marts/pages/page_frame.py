"""Template values, access checks and the copy of credentials that the pages of a project's resources share."""

from pathlib import Path

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import credentials, kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import kind_pages, one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.connections.form_page import ConnectionFormPage
from lakehold.web.cookies import Flash
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.marts.settings import PROJECT_KIND


def resource_frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """Return the template values that all views of a resource share."""
    uid, label = found.uid, kind_pages.page_label(found.kind, part)
    delete, asks = urls.resource(uid, "delete"), f"Delete {found.name}?"
    menu = {
        "edit": PageAction("Edit", kind_pages.edit_form_url(uid, found.kind), icon="pencil"),
        "delete": PageAction("Delete", delete, "post", "trash-2", danger=True, confirm=asks),
    }
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid, *([label] if label else [])),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, part),
        "menu": resource_header.actions_of(ctx, uid, menu),
    }


def action_of(ctx: RequestContext, uid: str, right: str, action: PageAction) -> PageAction:
    """Return the action, with the reason if the caller does not have the right."""
    return resource_header.actions_of(ctx, uid, {right: action})[0]


credential_routes = router("/resources")


@credential_routes.post("/{uid:path}/credentials/copy")
def copy(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the credentials once to a caller who may copy them, after a confirmation. The copy is audited."""
    found, back = resources.get(ctx, uid), resource_header.overview_url(ctx, uid)
    ctx.need(credentials.COPY, uid)
    text = "They are shown once. This is recorded in the audit log."
    need_confirmation(request, sent, f"Copy the credentials of {found.name}?", text, do="Copy", back=back)
    copied = credentials.copy(ctx, uid)
    if not copied:
        return pages.redirect(request, back, Flash("It has no credentials.", tone="warn"))
    label, secret = "Credentials", "; ".join(f"{name}: {each}" for name, each in copied.items())
    if len(copied) == 1:
        [(name, secret)] = copied.items()
        label = name.capitalize()
    title, hint = f"Credentials of {found.name}", "This was recorded in the audit log."
    one_time = OneTimeSecret(title, label, secret, "Keep it secret.", FOREVER, back, hint)
    return one_time_secret.redirect_to_secret(request, ctx.caller, one_time)


def copy_credentials_action(ctx: RequestContext, uid: str) -> PageAction:
    """Return the action that copies the credentials."""
    here = urls.resource(uid, "credentials/copy")
    question = "Copy the credentials? This is recorded in the audit log."
    return action_of(ctx, uid, credentials.COPY, PageAction("Copy credentials", here, "post", "copy", confirm=question))


FORMS = Path(__file__).parent.parent / "forms.yaml"


class ProjectFormPage(ConnectionFormPage):
    """Base class of the form pages of a project's resources."""

    workspace_edge = "project"

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the resource, if it is of this kind and the caller may edit it."""
        return need_edit(ctx, uid, cls.kind)


def need_project(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the project, if the caller may see it."""
    return workspaces.need_workspace(ctx, uid, PROJECT_KIND)


def need_resource(ctx: RequestContext, uid: str, kind: str) -> ResourceView:
    """Return the resource, if it is of the kind and the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != kind:
        noun = kind.rpartition(".")[2].replace("_", " ")
        raise NotFoundError(f"There is no {noun} {quote(uid)}.", "Check the name in the project.")
    return found


def need_edit(ctx: RequestContext, uid: str, kind: str) -> ResourceView:
    """Return the resource, if it is of the kind and the caller may edit it."""
    found = need_resource(ctx, uid, kind)
    kinds.need_right(ctx, uid, "edit")
    return found


def visible_sources(ctx: RequestContext, uid: str, edge: str) -> list[ResourceRef]:
    """Return the resources that the caller may see and whose edges of this name lead here, by name."""
    return sorted(VisibleRefs(ctx).refs(edge_sources(ctx, uid, edge)), key=lambda ref: ref.name.casefold())
