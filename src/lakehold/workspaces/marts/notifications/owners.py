"""Technical Owners of data marts whose role is Business User: they see and use the mart, and cannot keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.access.facts.view import FactView, role_bit
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.notifications import receivers, sides
from lakehold.workspaces.marts.notifications.receivers import MANAGE
from lakehold.workspaces.marts.notifications.sides import BUSINESS_USER


@dataclass(frozen=True, slots=True)
class TooLow:
    """A data mart, and who owns it without the role for it."""

    mart: ResourceRef
    owner: ResourceRef


def too_low(ctx: RequestContext, project: str) -> list[TooLow]:
    """Those of marts that the caller sees: all for who keeps the project's settings, for others themself."""
    receivers.need_project(ctx, project)
    marts = ctx.session.ids(ctx.asker, "see", nouns.DATA_MART, within=project)
    found = ctx.session.read_view(lambda view: _pairs(view, project, marts))
    if not receivers.manages(ctx, project):
        found = [(mart, owner) for mart, owner in found if owner == ctx.caller.member]
    eyes = VisibleRefs(ctx)
    # Who is an admin by their role in the tenant is no Business User, whatever else they hold.
    admins = frozenset(ctx.session.who(MANAGE, project)) if found else frozenset()
    seen = [(eyes.ref(mart), eyes.ref(owner)) for mart, owner in found if owner not in admins]
    named = [TooLow(mart, owner) for mart, owner in seen if mart and owner]
    return sorted(named, key=lambda each: (fold_name(each.mart.name), each.mart.uid, fold_name(each.owner.name)))


def _pairs(view: FactView, project: str, marts: Sequence[int]) -> list[tuple[str, str]]:
    held, bit = sides.roles(view, project), role_bit("technical_owner")
    return [
        (view.uid(mart), view.uid(owner))
        for mart in marts
        for owner, mask in (view.grants.get(mart) or {}).items()
        if mask & bit and held.get(owner) == BUSINESS_USER
    ]
