"""What the form of a data mart offers: storages and marts that one may use, and the tables of a storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request

from lakehold.access import Draft
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs, load_summaries
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import kind_pages
from lakehold.web.lakehouse.sources.looking import reading
from lakehold.web.marts.looking import look
from lakehold.workspaces.marts import storages as kept
from lakehold.workspaces.marts.definitions import StorageType
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, STORAGE_KIND
from lakehold.workspaces.marts.storages import StorageProbeTarget

_MOST = 200
_EXECUTE = "execute_query"


@dataclass(frozen=True, slots=True)
class Offered:
    """What a storage offers."""

    storage: ResourceRef | None = None
    kind: str = ""
    tables: Sequence[str] = ()
    lakehouse: str = ""
    """The one whose names the editor completes; empty if there is none that the caller may ask."""
    error: LakeholdError | None = None
    """Why its tables are not known."""

    @property
    def sql(self) -> bool:
        """Whether it can be asked in SQL."""
        return self.kind != StorageType.FILES


def of_storage(request: Request, uid: str) -> Offered:
    """Its tables and more, if the caller may use it."""
    storage, kind, lakehouse = reading(request).run(lambda ctx: _about(ctx, uid))
    if not kind:
        return Offered(storage)
    try:
        looked = look(request, StorageProbeTarget(uid, search=""))
    except LakeholdError as error:
        return Offered(storage, kind, error=error)
    tables = [str(each["name"]) for each in looked.seen.tables]
    return Offered(storage, kind, tables, lakehouse, looked.error)


def storages(ctx: RequestContext, project: str) -> list[ResourceSummary]:
    """Those that the caller may use."""
    return load_summaries(ctx, ctx.session.list(ctx.asker, "use", STORAGE_KIND, within=project, limit=_MOST).items)


def new_storage(ctx: RequestContext, project: str) -> str:
    """Where one is made; empty for who may not."""
    may = ctx.session.check(ctx.asker, "create", Draft(STORAGE_KIND, {"project": project}))
    return kind_pages.create_form_url(project, STORAGE_KIND) if may else ""


def marts(ctx: RequestContext, project: str, but: str) -> list[tuple[str, str]]:
    """Those that the caller may use, by name, but for one."""
    found = ctx.session.list(ctx.asker, "use", DATA_MART_KIND, within=project, limit=_MOST).items
    return [(item.uid, item.name) for item in found if item.uid != but]


def _about(ctx: RequestContext, uid: str) -> tuple[ResourceRef | None, str, str]:
    ctx.need_visible(uid)
    ctx.need("use", uid)
    told, eyes = kept.storage_settings(ctx, uid), VisibleRefs(ctx)
    kind, lakehouse = str(told.raw.get("kind", "")), eyes.ref(str(told.raw.get("lakehouse", "")))
    may_ask = kind == StorageType.LAKE and lakehouse and ctx.session.check(ctx.asker, _EXECUTE, lakehouse.uid)
    return eyes.ref(uid), kind, lakehouse.uid if lakehouse and may_ask else ""
