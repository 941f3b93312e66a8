"""The home of data integration: the data spaces that one can see, one's own personal space, and a section of the home
page that leads there.
"""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.facts.view import FactView
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED
from lakehold.web import pages, urls
from lakehold.web.components import PageAction
from lakehold.web.list_view import ListState
from lakehold.web.routing import router
from lakehold.web.workspaces.workspace_list import own_roles
from lakehold.workspaces.descriptor import HomeSection
from lakehold.workspaces.spaces import monitor, owner_context, personal
from lakehold.workspaces.spaces.monitor import LACKS_ROLE
from lakehold.workspaces.spaces.settings import CONNECTION_KIND, PROJECT_KIND, SPACE_KIND, TASK_KIND

routes = router("/data-integration")

HOME = "/data-integration"
MONITOR = f"{HOME}/monitor"
_COUNTED = (PROJECT_KIND, TASK_KIND, CONNECTION_KIND)


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A data space in the list."""

    space: ResourceSummary
    owner: ResourceRef | None
    is_personal: bool
    roles: list[str]
    counts: tuple[int, ...]
    """How many projects, tasks and connections the caller may list."""
    failed: int
    lacking: int
    """How many tasks would be refused, because the owner of their project lacks a role."""


@routes.get("")
def data_integration_page(request: Request, ctx: ReadContext) -> Response:
    """Render the data spaces that the caller may see."""
    listing = ListState.from_request(request, ("name", "created"))
    found = resources.find(ctx, among=[SPACE_KIND], **listing.query)
    values: dict[str, object] = {
        **listing.cursor_values(_space_rows(ctx, found.items), found.after),
        "own": VisibleRefs(ctx).ref(personal.find(ctx)),
        "new": _create_action(ctx),
        "monitor": MONITOR,
        "failed_href": f"{MONITOR}?{urlencode({'state': FAILED})}",
        "lacking_href": f"{MONITOR}?{urlencode({'state': LACKS_ROLE})}",
    }
    return pages.render(request, "spaces/home.html", values)


@routes.post("/my-space")
def open_own_space(request: Request, ctx: WriteContext) -> Response:
    """Lead to the caller's personal space, which is made by the first use."""
    uid, is_new = personal.ensure(ctx)
    return pages.redirect(request, urls.workspace(uid), "Your personal data space was created." if is_new else None)


def load_home_section(ctx: RequestContext) -> HomeSection:
    """Load the section of the home page."""
    own = VisibleRefs(ctx).ref(personal.find(ctx))
    spaces = len(ctx.session.ids(ctx.principal, "see", SPACE_KIND))
    return HomeSection("spaces/home_section.html", {"own": own, "spaces": spaces, "home": HOME, "monitor": MONITOR})


def _create_action(ctx: RequestContext) -> PageAction:
    new = PageAction("New data space", "/workspaces/new?model=spaces", icon="plus")
    if ctx.session.check(ctx.principal, "create", Draft(SPACE_KIND, {"tenant": ctx.caller.tenant})):
        return new
    reason = "Tenant admins, data admins and data space creators create data spaces."
    return PageAction(new.label, icon="plus", why_not=reason, request=urls.request(ctx.caller.tenant, "create_space"))


def _space_rows(ctx: RequestContext, found: list[ResourceSummary]) -> list[SpaceRow]:
    statuses, visible = monitor.load(ctx, [each.uid for each in found]), VisibleRefs(ctx)
    failed = Counter(each.space.uid for each in statuses if each.state == FAILED)
    lacking = Counter(each.space.uid for each in statuses if each.owner_lacks_role)
    counts = {kind: _count_by_space(ctx, kind) for kind in _COUNTED}
    return [
        SpaceRow(
            space=each,
            owner=visible.ref(owner_context.owner_of(ctx, each.uid)),
            is_personal=is_personal(ctx, each.uid),
            roles=own_roles(ctx, each.uid),
            counts=tuple(counts[kind][each.uid] for kind in _COUNTED),
            failed=failed[each.uid],
            lacking=lacking[each.uid],
        )
        for each in found
    ]


def is_personal(ctx: RequestContext, uid: str) -> bool:
    """Whether a data space is somebody's personal one."""
    return ctx.session.read_view(lambda view: view.attributes[personal.PERSONAL].get(view.resource(uid)) == "true")


def _count_by_space(ctx: RequestContext, kind: str) -> Counter[str | None]:
    """Count the resources of a kind that the caller may list, by data space."""
    numbers = ctx.session.ids(ctx.principal, "list", kind)

    def count(view: FactView) -> Counter[str | None]:
        return Counter(kinds.workspace_of(view, view.uid(number)) for number in numbers)

    return ctx.session.read_view(count)
