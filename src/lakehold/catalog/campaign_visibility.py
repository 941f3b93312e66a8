"""Rows of a campaign as a caller may see them, and the progress over these rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lakehold.access import Grant
from lakehold.access.facts import tables
from lakehold.catalog import campaign_table, change_preview, kinds
from lakehold.catalog.campaign_table import KEEP, REMOVE, Campaign, StoredDecision
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment

UNDECIDED, KEPT, REMOVED, ENDED = "undecided", "kept", "removed", "ended"
STATES = (UNDECIDED, KEPT, REMOVED, ENDED)

_STATE_OF_DECISION = {KEEP: KEPT, REMOVE: REMOVED}

RoleKey = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A role that was held when the campaign began, as the caller may see it."""

    n: int
    subject: ResourceRef
    role: str
    title: str
    resource: ResourceRef
    since: Moment
    until: Moment
    state: str
    """One of `STATES`: ended is what nobody decided about, and is no longer held."""
    decided_by: ResourceRef | None
    decided_at: Moment | None

    @property
    def grant(self) -> Grant:
        """The grant under review."""
        return Grant(self.subject.uid, self.role, self.resource.uid)


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Numbers of a campaign's rows by state, of those that the caller may see."""

    undecided: int = 0
    kept: int = 0
    removed: int = 0
    ended: int = 0

    @property
    def total(self) -> int:
        """The number of all rows."""
        return self.undecided + self.done

    @property
    def done(self) -> int:
        """The number of rows that need no decision any more."""
        return self.kept + self.removed + self.ended


def load_progress(ctx: RequestContext, campaign: Campaign) -> CampaignProgress:
    """Return the progress. Whether the caller takes part in the campaign has been checked before."""
    visibility = CampaignVisibility(ctx, campaign)
    states = Counter(
        visibility.state(stored)
        for stored in campaign_table.list_decisions(ctx, campaign)
        if visibility.is_visible(stored)
    )
    return CampaignProgress(**states)


class CampaignVisibility:
    """The rows of a campaign that one caller may see, with one check for each resource."""

    def __init__(self, ctx: RequestContext, campaign: Campaign) -> None:
        self._ctx = ctx
        self._visible_refs = VisibleRefs(ctx)
        self._refs: dict[int, ResourceRef | None] = {}
        self._gives: dict[str, bool] = {}
        self._knows_all = change_preview.may_ask_about_others(ctx)
        self._own_subjects = ctx.session.read_view(
            lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all
        )
        transaction, tenant = ctx.session.transaction, ctx.session.tenant
        self._held: set[RoleKey] = {
            (span.subject, span.role, span.resource)
            for span in tables.grants_inside(transaction, tenant, campaign.workspace_id, ctx.at)
        }

    def state(self, stored: StoredDecision) -> str:
        """Return the decision, or whether there is anything left to decide."""
        decided = _STATE_OF_DECISION.get(stored.decision)
        return decided or (UNDECIDED if (stored.subject_id, stored.role, stored.resource_id) in self._held else ENDED)

    def is_visible(self, stored: StoredDecision) -> bool:
        """Whether the caller may know who holds the role: the rule of `grants.list_direct`."""
        who, what = self._ref(stored.subject_id), self._ref(stored.resource_id)
        if who is None or what is None:
            return False
        if self._knows_all or stored.subject_id in self._own_subjects or self._gives_roles_on(what.uid):
            return True
        role = kinds.schema_of(self._ctx.view, what.uid).roles.get(stored.role)
        return role is not None and role.person_only

    def to_row(self, stored: StoredDecision) -> CampaignRow | None:
        """Return the row as the caller may see it; None if they may not."""
        if not self.is_visible(stored):
            return None
        who, what = self._ref(stored.subject_id), self._ref(stored.resource_id)
        assert who is not None  # noqa: S101 - `shows` has checked
        assert what is not None  # noqa: S101 - as above
        role = kinds.schema_of(self._ctx.view, what.uid).roles.get(stored.role)
        return CampaignRow(
            n=stored.n,
            subject=who,
            role=stored.role,
            title=role.title if role else stored.role,
            resource=what,
            since=stored.since,
            until=stored.until,
            state=self.state(stored),
            decided_by=self._visible_refs.ref(stored.decided_by),
            decided_at=stored.decided_at,
        )

    def _ref(self, number: int) -> ResourceRef | None:
        if number not in self._refs:
            self._refs[number] = self._visible_refs.by_number(number)
        return self._refs[number]

    def _gives_roles_on(self, uid: str) -> bool:
        known = self._gives.get(uid)
        if known is None:
            known = self._gives[uid] = change_preview.gives_roles_on(self._ctx, uid)
        return known
