"""Probing a storage for pages, and the storages, tables and data marts that the form of a data mart offers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fastapi import Request

from lakehold.access import Draft
from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs, load_summaries
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import queries
from lakehold.web import kind_pages
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, STORAGE_KIND
from lakehold.workspaces.marts.mart_probe import ProbeTarget, StorageProbeResult
from lakehold.workspaces.marts.settings import StorageType


@dataclass(frozen=True, slots=True)
class StorageProbe:
    """The result of probing a storage, or the error."""

    seen: StorageProbeResult = field(default_factory=StorageProbeResult)
    error: LakeholdError | None = None


def probe_storage(request: Request, asked: ProbeTarget) -> StorageProbe:
    """Probe a storage as the caller. Missing rights are raised; other errors are part of the result."""
    try:
        begun = read_transaction(request).run(lambda ctx: mart_probe.prepare_storage_probe(ctx, asked))
        return StorageProbe(mart_probe.probe_storage(get_platform(request), begun))
    except (DeniedError, HiddenError, UnauthorizedError):
        raise
    except LakeholdError as error:
        return StorageProbe(error=error)


_MAX_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """The kind and the tables of a storage, for the form of a data mart."""

    storage: ResourceRef | None = None
    kind: str = ""
    tables: Sequence[str] = ()
    lakehouse: str = ""
    """The one whose names the editor completes; empty if there is none that the caller may ask."""
    error: LakeholdError | None = None
    """Why its tables are not known."""

    @property
    def sql(self) -> bool:
        """Whether it can be queried in SQL."""
        return self.kind != StorageType.FILES


def storage_options(request: Request, uid: str) -> StorageOptions:
    """Return the options of a storage that the caller may use."""
    storage, kind, lakehouse = read_transaction(request).run(lambda ctx: _load_storage(ctx, uid))
    if not kind:
        return StorageOptions(storage)
    try:
        looked = probe_storage(request, ProbeTarget(uid, search=""))
    except LakeholdError as error:
        return StorageOptions(storage, kind, error=error)
    tables = [str(each["name"]) for each in looked.seen.tables]
    return StorageOptions(storage, kind, tables, lakehouse, looked.error)


def usable_storages(ctx: RequestContext, project: str) -> list[ResourceSummary]:
    """Return the storages that the caller may use."""
    return load_summaries(
        ctx, ctx.session.list(ctx.principal, "use", STORAGE_KIND, within=project, limit=_MAX_OPTIONS).items
    )


def new_storage_url(ctx: RequestContext, project: str) -> str:
    """Return the address of the form for a new storage, or an empty string if the caller may not create one."""
    may = ctx.session.check(ctx.principal, "create", Draft(STORAGE_KIND, {"project": project}))
    return kind_pages.create_form_url(project, STORAGE_KIND) if may else ""


def joinable_marts(ctx: RequestContext, project: str, but: str) -> list[tuple[str, str]]:
    """Return the data marts that the caller may use, except one."""
    found = ctx.session.list(ctx.principal, "use", DATA_MART_KIND, within=project, limit=_MAX_OPTIONS).items
    return [(item.uid, item.name) for item in found if item.uid != but]


def _load_storage(ctx: RequestContext, uid: str) -> tuple[ResourceRef | None, str, str]:
    ctx.need_visible(uid)
    ctx.need("use", uid)
    settings, eyes = resource_metadata.load(ctx, uid).settings, VisibleRefs(ctx)
    kind, lakehouse = str(settings.get("kind", "")), eyes.ref(str(settings.get("lakehouse", "")))
    may_ask = kind == StorageType.LAKE and lakehouse and queries.may_query(ctx, lakehouse.uid)
    return eyes.ref(uid), kind, lakehouse.uid if lakehouse and may_ask else ""
