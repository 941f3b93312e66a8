"""A storage by itself: what it is, whether it can be reached, and the marts that draw from it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import credentials, kinds
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.lakehouse.sources import looking
from lakehold.web.marts import copying, framing
from lakehold.web.marts.looking import Looked, look
from lakehold.web.marts.storages import form
from lakehold.web.marts.storages.routes import need_storage
from lakehold.web.routing import router
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import StorageType
from lakehold.workspaces.marts.storages import StorageProbeTarget

routes = router("/resources")

_WORDS = {word: label for word, label, _, _ in form.KINDS}


@routes.get("/{uid:path}/storage")
def storage_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """It, as the caller may see it."""
    found = need_storage(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    return _page(request, ctx, found)


@routes.post("/{uid:path}/storage/test")
def test(request: Request, uid: str) -> Response:
    """Connect to it, and say how that went."""
    reading = looking.reading(request)
    found = reading.run(lambda ctx: need_storage(ctx, uid))
    looked = look(request, StorageProbeTarget(uid))
    return reading.run(lambda ctx: _page(request, ctx, found, looked))


def _page(request: Request, ctx: RequestContext, found: ResourceView, looked: Looked | None = None) -> Response:
    told, uid = storages.storage_settings(ctx, found.uid), found.uid
    kind = str(told.raw.get("kind", ""))
    marts, more = storages.marts_of(ctx, uid)
    (set_up,) = resource_header.actions_of(
        ctx, uid, {"edit": PageAction("Set up", kind_pages.edit_form_url(uid, found.kind), icon="pencil")}
    )
    values: dict[str, object] = {
        **framing.frame(ctx, found, "storage"),
        "kind": kind,
        "kind_said": _WORDS.get(kind, ""),
        "facts": None if found.settings is None else _facts(ctx, found),
        "set_up": set_up,
        "acts": _acts(ctx, found, kind),
        "looked": looked,
        "marts": marts,
        "more_marts": more,
        "new_mart": _new_mart(found),
        "may": resource_header.actions_of(ctx, uid),
    }
    return pages.render(request, "marts/storage.html", values, status=422 if looked and looked.error else 200)


def _facts(ctx: RequestContext, found: ResourceView) -> list[tuple[str, str]]:
    """How it is set, without its secrets."""
    filled, told = form.present(found), found.settings or {}
    match filled.kind:
        case "lake":
            lakehouse = VisibleRefs(ctx).ref(filled.text("lakehouse"))
            return [("Lakehouse", lakehouse.name if lakehouse else "Not visible to you")]
        case "database":
            kept = credentials.list_names(ctx, found.uid)
            place = [("Address", str(told.get("address", ""))), ("User name", filled.text("user"))]
            place.append(("Schemas", filled.text("schemas") or "That of the connection"))
            return [*place, *((name.capitalize(), "Kept, and not shown") for name in kept)]
        case "files":
            return [("Folder", filled.text("folder") or "The top")]
        case _:
            return []


def _acts(ctx: RequestContext, found: ResourceView, kind: str) -> list[PageAction]:
    if not kind:
        return []
    tested = PageAction("Test connection", urls.resource(found.uid, "storage/test"), "post", "zap")
    copied = [copying.action(ctx, found.uid)] if kind == StorageType.DATABASE else []
    return [*copied, *resource_header.actions_of(ctx, found.uid, {"use": tested})]


def _new_mart(found: ResourceView) -> str:
    """Where a data mart is made that draws from it; empty for who may not use it."""
    if "use" not in found.actions or found.workspace is None:
        return ""
    return f"{kind_pages.create_form_url(found.workspace.uid, 'marts.data_mart')}?storage={found.uid}"
