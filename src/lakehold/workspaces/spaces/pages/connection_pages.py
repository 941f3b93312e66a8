"""The pages of a data connection: its form, its overview with where it is used, and its test."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.catalog import credentials, kinds, resource_metadata, resources, workspaces
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.runs import worker_client
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionFormPage, ConnectionTest, form_routers, probe_as_caller
from lakehold.web.labels import format_count
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import connections, owner_context
from lakehold.workspaces.spaces.settings import CONNECTION, CONNECTION_KIND, GATEWAY_KIND, SPACE_KIND

FORMS = Path(__file__).parent.parent / "forms.yaml"
_MAX_OPTIONS = 200


class ConnectionPage(ConnectionFormPage):
    """The form page of a data connection."""

    kind, design = CONNECTION_KIND, load_design(FORMS, "connection", CONNECTION.records)
    new_part, edit_part, list_view = "connections/new", "data-connection/edit", "connections"
    workspace_edge = "space"

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may add connections to the space."""
        workspaces.need_workspace(ctx, uid, SPACE_KIND)
        ctx.need_draft(Draft(CONNECTION_KIND, {"space": uid}))

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the gateways that the caller may use."""
        found = ctx.session.list(ctx.principal, "list", GATEWAY_KIND, limit=_MAX_OPTIONS).items
        usable = [each for each in found if self._may_use(ctx, each.uid)]
        return {"gateway": [(each.uid, each.name) for each in usable]}

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return the ends to save: without a gateway, the connection is direct."""
        return {"gateway": [], **filled.edges()} if self.found else filled.edges()

    @staticmethod
    def _may_use(ctx: RequestContext, gateway: str) -> bool:
        space = kinds.workspace_of(ctx.view, gateway)
        return space is not None and ctx.session.holds(ctx.caller.member, "supplies", space)

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """List the streams."""
        gateway = next(iter(self.edges(filled).get("gateway", ())), "")
        there = {"connection" if self.found else "space": self.uid if self.found else self.within, "gateway": gateway}
        found, error = probe_connection(self.request, {**there, "settings": filled.settings(), "secrets": secrets})
        count = len(found.get("streams", ()))
        return ConnectionTest(f"Connection successful: {format_count(count, 'stream')} found.", error)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the connection."""
        return urls.resource(uid, "data-connection"), "Saved." if self.found else f"{filled.name} was created."


new, routes = form_routers(ConnectionPage)

ConnectionProbe = tuple[Mapping[str, Any], LakeholdError | None]
"""The JSON of what was found, and the error if the other side could not be reached."""


def probe_connection(request: Request, asked: Mapping[str, Any]) -> ConnectionProbe:
    """Probe a data connection through a worker as the caller. Missing rights are raised."""
    found, error = probe_as_caller(
        request,
        lambda ctx: connections.need_probe(ctx, asked),
        lambda platform, caller: worker_client.probe(platform, caller, "spaces.connection", asked),
    )
    return found or {}, error


def _need_connection(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    if found.kind != CONNECTION_KIND:
        raise NotFoundError(f"There is no data connection {quote(uid)}.", "Check the name in the data space.")
    return found


@routes.get("/{uid:path}/data-connection")
def connection_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a data connection."""
    found = _need_connection(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    return _page(request, ctx, found)


@routes.post("/{uid:path}/data-connection/test")
def test_connection(request: Request, uid: str) -> Response:
    """Test the connection as it is saved, and render the result."""
    reading = read_transaction(request)
    stored = reading.run(lambda ctx: resource_metadata.load(ctx, _need_connection(ctx, uid).uid).settings)
    asked = {"connection": uid, "settings": dict(stored)}
    probed = probe_connection(request, asked)
    return reading.run(lambda ctx: _page(request, ctx, _need_connection(ctx, uid), probed))


def _page(
    request: Request, ctx: RequestContext, found: ResourceView, probed: ConnectionProbe | None = None
) -> Response:
    uid, visible = found.uid, VisibleRefs(ctx)
    users, gateway = connections.used_by(ctx, uid), next(iter(edge_targets(ctx, uid, "gateway")), "")
    tasks = sorted(visible.refs(users), key=lambda each: each.name.casefold())
    owner = owner_context.owner_of(ctx, uid)
    edit = PageAction("Edit", kind_pages.edit_form_url(uid, found.kind), icon="pencil")
    test = PageAction("Test connection", urls.resource(uid, "data-connection/test"), "post", "zap")
    delete = PageAction(
        *("Delete", urls.resource(uid, "delete"), "post", "trash-2"), danger=True, confirm=f"Delete {found.name}?"
    )
    move = PageAction("Move", urls.resource(uid, "move"), icon="folder")
    values: dict[str, object] = {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, "data-connection"),
        "menu": resource_header.actions_of(ctx, uid, {"change_space": move, "delete": delete}),
        "edit": _with_reason(ctx, uid, edit),
        "test": _with_reason(ctx, uid, test),
        "facts": None if found.settings is None else _setting_facts(ctx, found),
        "is_set": bool(resource_metadata.load(ctx, uid).settings.get("connector")),
        "owner": visible.ref(owner) if owner else None,
        "gateway": visible.ref(gateway) if gateway else None,
        "has_gateway": bool(gateway),
        "tasks": tasks,
        "more_tasks": len(tasks) < len(set(users)),
        "probe": probed,
    }
    status = 422 if probed and probed[1] else 200
    return pages.render(request, "spaces/connection.html", values, status=status)


def _with_reason(ctx: RequestContext, uid: str, action: PageAction) -> PageAction:
    """Return an action of those who may edit, with the reason if the caller may not."""
    return resource_header.actions_of(ctx, uid, {"edit": action})[0]


def _setting_facts(ctx: RequestContext, found: ResourceView) -> list[tuple[str, str]]:
    """Return the settings as pairs of label and value, without secrets."""
    filled = ConnectionPage.design.from_resource(found)
    return list(filled.describe(credentials.list_names(ctx, found.uid))) if filled.word else []
