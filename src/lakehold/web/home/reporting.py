"""What a Business User comes back to: the data marts that they may report on, and their reports."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.access.query.listing import ListedResource
from lakehold.catalog import resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref, owners_of
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run, Runs
from lakehold.web import addresses, views
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND, PROJECT_KIND, REPORT_KIND

_MOST = 8
_MOST_PROJECTS = 20
_LOOKED_AT = 300


@dataclass(frozen=True, slots=True)
class Reportable:
    """A data mart, and where a report on it is made."""

    mart: ResourceRef
    project: ResourceRef
    new: str


@dataclass(frozen=True, slots=True)
class Own:
    """A report of one's own, and how it went last."""

    report: ResourceRef
    mart: ResourceRef | None
    last: Run | None


@dataclass(frozen=True, slots=True)
class Reporting:
    """Both, and where there are more."""

    marts: list[Reportable]
    reports: list[Own]
    more: str
    """Where all marts are listed; empty if these are all."""
    new: str


def reporting(ctx: RequestContext, runs: Runs) -> Reporting | None:
    """For who reports in a project and makes no data marts there; None for others."""
    projects = [each for each in _projects(ctx) if not ctx.session.check(ctx.asker, "create_data_mart", each.uid)]
    if not projects:
        return None
    marts: list[Reportable] = []
    reports: list[Own] = []
    more = ""
    for each in projects:
        form = views.form(each.uid, REPORT_KIND)
        found = _usable(ctx, each.uid)
        more = more or (addresses.workspace(each.uid, "data_mart") if len(found) > _MOST else "")
        marts += [
            Reportable(
                ResourceRef(item.uid, DATA_MART_KIND, item.name), each, f"{form}?{urlencode({'mart': item.uid})}"
            )
            for item in found[:_MOST]
        ]
        reports += _own(ctx, runs, each.uid)
    return Reporting(marts[:_MOST], reports[:_MOST], more, views.form(projects[0].uid, REPORT_KIND))


def _usable(ctx: RequestContext, project: str) -> list[ListedResource]:
    """Those that can be reported on come before drafts; each by name."""
    found = ctx.session.list(ctx.asker, "use", DATA_MART_KIND, within=project, limit=_LOOKED_AT).items
    told = resource_metadata.load_many(ctx, [item.id for item in found])
    published = {number for number, each in told.items() if each.settings.get("published") is True}
    return sorted(found, key=lambda item: item.id not in published)


def _projects(ctx: RequestContext) -> list[ResourceRef]:
    found = workspaces.page(ctx, limit=_MOST_PROJECTS).items
    return [
        ResourceRef(each.uid, each.kind, each.name)
        for each in found
        if each.kind == PROJECT_KIND and ctx.session.check(ctx.asker, "create_destination", each.uid)
    ]


def _own(ctx: RequestContext, runs: Runs, project: str) -> list[Own]:
    """Reports that they own, by name."""
    seen = ctx.session.list(ctx.asker, "see", REPORT_KIND, within=project, limit=_LOOKED_AT).items
    me = ctx.caller.member
    mine = ctx.session.read_view(
        lambda view: [make_ref(view, item.uid) for item in seen if me in owners_of(view, item.uid)["owner"]]
    )
    eyes = VisibleRefs(ctx)
    return [Own(each, eyes.parent(each.uid), _last(ctx, runs, each.uid)) for each in mine[:_MOST]]


def _last(ctx: RequestContext, runs: Runs, uid: str) -> Run | None:
    return next(iter(runs.page(ctx, resource=uid, limit=1)), None)
