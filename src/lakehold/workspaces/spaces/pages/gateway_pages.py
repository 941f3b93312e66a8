"""The page of a gateway: its state, what it has moved, its log, the connections that use it, and its keys."""

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_sources
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.gateways import registration, status
from lakehold.workspaces.spaces.gateways.status import GatewayState, GatewayStatus

routes = router("/resources")

PART = "data-gateway"
_REVOKING = (
    "It stops within a second, also in the middle of a transfer. To use it again, it has to be registered again."
)


@routes.get("/{uid:path}/data-gateway")
def gateway_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a gateway."""
    registration.need_gateway(ctx, uid)
    kind = ctx.view.kind(ctx.view.resource(uid))
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, kind).visible, uid)
    return pages.render(
        request, "spaces/gateway.html", _page_values(ctx, uid, served=bool(platform.settings.gateway_port))
    )


def _page_values(ctx: RequestContext, uid: str, *, served: bool) -> dict[str, object]:
    current, visible = status.load_status(ctx, uid), VisibleRefs(ctx)
    users, owner = edge_sources(ctx, uid, "gateway"), owner_context.owner_of(ctx, uid)
    used_by = sorted(visible.refs(users), key=lambda each: each.name.casefold())
    may_edit = ctx.session.check(ctx.principal, "edit", uid)
    menu = {"delete": PageAction("Delete", urls.resource(uid, "delete"), "post", "trash-2", danger=True)}
    return {
        "found": resources.get(ctx, uid),
        "crumbs": resource_header.breadcrumbs(ctx, uid),
        "tabs": resource_header.tabs(ctx, uid),
        "tab": urls.resource(uid, PART),
        "menu": [*_key_actions(ctx, uid, current), *resource_header.actions_of(ctx, uid, menu)],
        "register": _registration_action(ctx, uid, current),
        "status": current,
        "served": served,
        "owner": visible.ref(owner) if owner else None,
        "connections": used_by,
        "more_connections": len(used_by) < len(set(users)),
        "transfers": status.list_transfers(ctx, uid),
        "log": status.list_log(ctx, uid) if may_edit else None,
    }


def _registration_action(ctx: RequestContext, uid: str, current: GatewayStatus) -> PageAction:
    registered = current.state in {GatewayState.ONLINE, GatewayState.OFFLINE}
    label = "Register again" if registered else "Create registration code"
    return _of_editors(ctx, uid, PageAction(label, urls.resource(uid, f"{PART}/code"), "post", "key-round"))


def _key_actions(ctx: RequestContext, uid: str, current: GatewayStatus) -> list[PageAction]:
    """Return what can be done with the keys of a gateway that is registered."""
    if current.state not in {GatewayState.ONLINE, GatewayState.OFFLINE}:
        return []
    revoke = PageAction(
        *("Revoke", urls.resource(uid, f"{PART}/revoke"), "post", "lock"), confirm="Revoke this gateway?", danger=True
    )
    rotate = PageAction("Rotate keys", urls.resource(uid, f"{PART}/rotate"), "post", "rotate-ccw")
    return [_of_editors(ctx, uid, each) for each in (rotate, revoke)]


def _of_editors(ctx: RequestContext, uid: str, action: PageAction) -> PageAction:
    return resource_header.actions_of(ctx, uid, {"edit": action})[0]


@routes.post("/{uid:path}/data-gateway/code")
def create_code(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Create a registration code, and show it once."""
    created, back = registration.create_code(ctx, uid), urls.resource(uid, PART)
    name = ctx.view.names.get(ctx.view.resource(uid)) or uid
    text = "Use it near the data, with: lakehold gateway register --server … --code … It works once."
    secret = one_time_secret.OneTimeSecret(
        *(f"Registration code of {name}", "Registration code", created.text, text, created.until, back)
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


@routes.post("/{uid:path}/data-gateway/rotate")
def rotate_keys(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Ask the gateway for new keys."""
    try:
        registration.request_rotation(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, urls.resource(uid, PART), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.resource(uid, PART), Flash("The gateway makes new keys when it is online."))


@routes.post("/{uid:path}/data-gateway/revoke")
def revoke_gateway(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke the gateway, after a confirmation."""
    registration.need_gateway(ctx, uid, "edit")
    back = urls.resource(uid, PART)
    need_confirmation(request, sent, "Revoke this gateway?", _REVOKING, do="Revoke", back=back)
    try:
        registration.revoke(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, back, Flash(str(error), tone="bad"))
    return pages.redirect(request, back, Flash("The gateway was revoked."))
