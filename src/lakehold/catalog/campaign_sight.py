"""A campaign's rows as one caller may see them, and how far it is of what they see."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lakehold.access import Grant
from lakehold.access.facts import tables
from lakehold.catalog import campaign_table, kinds, sharing
from lakehold.catalog.campaign_table import KEEP, REMOVE, Campaign, Kept
from lakehold.catalog.shapes import Ref, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment

UNDECIDED, KEPT, REMOVED, ENDED = "undecided", "kept", "removed", "ended"
STATES = (UNDECIDED, KEPT, REMOVED, ENDED)

_DECIDED = {KEEP: KEPT, REMOVE: REMOVED}

Key = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A role that was held when the campaign began, as somebody may see it."""

    n: int
    subject: Ref
    role: str
    title: str
    resource: Ref
    since: Moment
    until: Moment
    state: str
    """One of `STATES`: ended is what nobody decided about, and is no longer held."""
    decided_by: Ref | None
    decided_at: Moment | None

    @property
    def grant(self) -> Grant:
        """The role that it is about."""
        return Grant(self.subject.uid, self.role, self.resource.uid)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is, of what the one who looks may see."""

    undecided: int = 0
    kept: int = 0
    removed: int = 0
    ended: int = 0

    @property
    def total(self) -> int:
        """All that it asks about."""
        return self.undecided + self.done

    @property
    def done(self) -> int:
        """What needs no decision any more."""
        return self.kept + self.removed + self.ended


def progress(ctx: RequestContext, campaign: Campaign) -> Progress:
    """How far it is. Who calls has asked whether the campaign concerns the caller."""
    look = Look(ctx, campaign)
    states = Counter(look.state(kept) for kept in campaign_table.rows(ctx, campaign) if look.shows(kept))
    return Progress(**states)


class Look:
    """What one caller sees of a campaign's rows; asked once for each resource."""

    def __init__(self, ctx: RequestContext, campaign: Campaign) -> None:
        self._ctx = ctx
        self._eyes = VisibleRefs(ctx)
        self._refs: dict[int, Ref | None] = {}
        self._gives: dict[str, bool] = {}
        self._knows_all = sharing.may_ask_about_others(ctx)
        self._mine = ctx.session.read_view(lambda view: view.subject(view.member(ctx.caller.member)).ids_with_all)
        transaction, tenant = ctx.session.transaction, ctx.session.tenant
        self._held: set[Key] = {
            (span.subject, span.role, span.resource)
            for span in tables.grants_inside(transaction, tenant, campaign.workspace_id, ctx.at)
        }

    def state(self, kept: Kept) -> str:
        """What was decided, or that there is nothing left to decide about."""
        decided = _DECIDED.get(kept.decision)
        return decided or (UNDECIDED if (kept.subject_id, kept.role, kept.resource_id) in self._held else ENDED)

    def shows(self, kept: Kept) -> bool:
        """Whether the caller may know who holds it: the same rule as for `grants.direct`."""
        who, what = self._ref(kept.subject_id), self._ref(kept.resource_id)
        if who is None or what is None:
            return False
        if self._knows_all or kept.subject_id in self._mine or self._gives_at(what.uid):
            return True
        role = kinds.schema_of(self._ctx.view, what.uid).roles.get(kept.role)
        return role is not None and role.person_only

    def row(self, kept: Kept) -> Row | None:
        """The row for the caller's eyes."""
        if not self.shows(kept):
            return None
        who, what = self._ref(kept.subject_id), self._ref(kept.resource_id)
        assert who is not None  # noqa: S101 - `shows` has asked
        assert what is not None  # noqa: S101 - as above
        role = kinds.schema_of(self._ctx.view, what.uid).roles.get(kept.role)
        return Row(
            n=kept.n,
            subject=who,
            role=kept.role,
            title=role.title if role else kept.role,
            resource=what,
            since=kept.since,
            until=kept.until,
            state=self.state(kept),
            decided_by=self._eyes.ref(kept.decided_by),
            decided_at=kept.decided_at,
        )

    def _ref(self, number: int) -> Ref | None:
        if number not in self._refs:
            self._refs[number] = self._eyes.numbered(number)
        return self._refs[number]

    def _gives_at(self, uid: str) -> bool:
        known = self._gives.get(uid)
        if known is None:
            known = self._gives[uid] = sharing.gives_here(self._ctx, uid)
        return known
