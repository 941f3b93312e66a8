"""Access checks, and the base class of form pages, that the pages of a lakehouse share."""

from dataclasses import replace
from pathlib import Path

from lakehold.catalog import credentials, resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.connectors.form_fields import Facts
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import urls
from lakehold.web.connections.form import ResourceForm
from lakehold.web.connections.form_page import ConnectionFormPage
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND

LAKEHOUSE_KIND = "lakehouse.lakehouse"
FORMS = Path(__file__).parent.parent / "forms.yaml"


def need_lakehouse(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return the lakehouse, if the caller may see it."""
    return workspaces.need_workspace(ctx, uid, LAKEHOUSE_KIND)


def need_table(ctx: RequestContext, uid: str, action: str) -> ResourceView:
    """Return the table, if the caller may perform the action on it."""
    found = resources.get(ctx, uid)
    if found.kind != TABLE_KIND:
        raise NotFoundError(f"There is no table {quote(uid)}.", "Check the name in the catalog.")
    ctx.need(action, uid)
    return found


class LakehouseFormPage(ConnectionFormPage):
    """The form page of a pipeline: a source, a destination, a query and so on."""

    workspace_edge, list_view = "lakehouse", "pipelines"
    next_step = ""
    """What is said after it was created."""

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a lakehouse that the caller sees."""
        need_lakehouse(ctx, uid)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the pipeline."""
        made = f"{filled.name} was created.{self.next_step}"
        return urls.resource(uid, "pipeline"), "Saved. Applies from the next run." if self.found else made

    @classmethod
    def describe_connection(cls, ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, title: str) -> Facts:
        """Describe the connection of an existing one, its type under the title."""
        filled = cls.design.from_resource(found)
        volume = eyes.ref(filled.text("volume"))
        named = replace(filled, labels={"volume": volume.name if volume else "Not visible to you"})
        return named.describe(credentials.list_names(ctx, found.uid), title)
