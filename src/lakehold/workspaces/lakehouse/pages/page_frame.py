"""Access checks, the base class of form pages, and the tables, layers and volumes that forms offer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lakehold.catalog import credentials, resources, workspaces
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.connectors.form_fields import Facts
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote, valid_table_name
from lakehold.web import urls
from lakehold.web.connections.form import ResourceForm
from lakehold.web.connections.form_page import ConnectionFormPage
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND

LAKEHOUSE_KIND = "lakehouse.lakehouse"
FORMS = Path(__file__).parent.parent / "forms.yaml"
MAX_TARGETS = 500
_MAX_OPTIONS = 300


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
    """The end of the message after it was created."""

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the workspace is a lakehouse that the caller sees."""
        need_lakehouse(ctx, uid)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the pipeline."""
        created = f"{filled.name} was created.{self.next_step}"
        return urls.resource(uid, "pipeline"), "Saved. Applies from the next run." if self.found else created

    @classmethod
    def describe_connection(cls, ctx: RequestContext, visible: VisibleRefs, found: ResourceView, title: str) -> Facts:
        """Describe the connection of an existing one, its type under the title."""
        filled = cls.design.from_resource(found)
        volume = visible.ref(filled.text("volume"))
        named = replace(filled, labels={"volume": volume.name if volume else "Not visible to you"})
        return named.describe(credentials.list_names(ctx, found.uid), title)


@dataclass(frozen=True, slots=True)
class WriteTargets:
    """The tables and layers that the caller may write, by name."""

    layers: Mapping[str, str]
    tables: Mapping[str, str]

    def resolve(self, text: str) -> tuple[str, str]:
        """Return the table that a text names and an empty string, or a layer and the name of a new table in it.

        Raises InvalidInputError if the caller may not write there.
        """
        if text in self.tables:
            return self.tables[text], ""
        layer, dot, table = text.rpartition(".")
        if not dot:
            raise InvalidInputError("Include the layer.", "Such as raw.orders.")
        if layer not in self.layers:
            raise InvalidInputError("No layer of this name where you can create tables.", "Choose another.")
        return self.layers[layer], valid_table_name(table)


def write_targets(ctx: RequestContext, workspace: str) -> WriteTargets:
    """Return the tables and layers of a lakehouse that the caller may write."""
    layers = options_for(ctx, "create_table", LAYER_KIND, workspace, MAX_TARGETS)
    tables = options_for(ctx, "write", TABLE_KIND, workspace, MAX_TARGETS)
    return WriteTargets({name: uid for uid, name in layers}, {name: uid for uid, name in tables})


def options_for(
    ctx: RequestContext, action: str, kind: str, workspace: str, limit: int = _MAX_OPTIONS
) -> list[tuple[str, str]]:
    """Return ids and names of what the caller may perform the action on. A table or volume names its layer."""
    found = ctx.session.list(ctx.principal, action, kind, within=workspace, limit=limit).items
    if kind == LAYER_KIND:
        return [(item.uid, item.name) for item in found]
    visible = VisibleRefs(ctx)
    pairs = [
        (item.uid, f"{above.name}.{item.name}" if (above := visible.parent(item.uid)) else item.name) for item in found
    ]
    return sorted(pairs, key=lambda pair: pair[1].casefold())


def readable_tables(ctx: RequestContext, workspace: str) -> list[tuple[str, str, bool]]:
    """Return the tables that the caller may read, each with whether a pipeline of theirs may read it too."""
    found = options_for(ctx, "read", TABLE_KIND, workspace)
    may = ctx.session.check_many([(ctx.principal, "write", uid) for uid, _ in found])
    return [(uid, name, each) for (uid, name), each in zip(found, may, strict=True)]
