"""Access reviews: a campaign over a workspace, in which those who give roles there say of each one whether it stays.

A campaign asks about what was held when it began. Who gives roles in the workspace, or may ask about others, takes
part; each sees and counts only what they may know of, as everywhere.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access import Grant
from lakehold.access.facts import spans
from lakehold.access.facts.inputs import text, when
from lakehold.access.facts.view import View
from lakehold.catalog import campaign_sight, campaign_table, kinds, proposals, sharing, telling, workspaces
from lakehold.catalog.campaign_sight import Progress
from lakehold.catalog.campaign_table import KEEP, OPEN, REMOVE, Campaign, Kept
from lakehold.catalog.shapes import Eyes, Ref
from lakehold.directory.work import When, Work
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import shown, valid_id, valid_name
from lakehold.kit.settings import Settings

EVERYTHING, WORKSPACE = "everything", "workspace"
ASKS = (EVERYTHING, WORKSPACE)
"""About every role held in the workspace, or only about those on the workspace itself."""
MOST_ROWS = 10_000
_MOST_WORKSPACES = 200
_MOST_DUE = 1_000


@dataclass(frozen=True, slots=True)
class Told:
    """A campaign as somebody may see it."""

    campaign: Campaign
    workspace: Ref
    starter: Ref | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Campaigns:
    """Some campaigns, and the number before which the next ones are; None after the last."""

    items: list[Told]
    before: int | None


def may_review(work: Work, workspace: str) -> bool:
    """Whether the caller runs campaigns there: they give roles in it, or may ask about others."""
    eyes = Eyes(work)
    return eyes.sees(workspace) and (sharing.gives_here(work, workspace) or sharing.may_ask_about_others(work))


def reviewable(work: Work) -> list[Ref]:
    """The workspaces over which the caller may run a campaign, by name."""
    found = workspaces.page(work, limit=_MOST_WORKSPACES).items
    return [Ref(one.uid, one.kind, one.name) for one in found if may_review(work, one.uid)]


def reviewers(work: Work, workspace: str) -> list[Ref]:
    """The members nearest to giving roles there, of those that the caller may see."""
    need_review(work, workspace)
    return Eyes(work).refs(work.session.asking(lambda view: _givers(view, work.caller.member, workspace)))


def start(
    work: Work,
    workspace: str,
    name: str,
    *,
    asks: str = EVERYTHING,
    due: When | None = None,
    settings: Settings | None = None,
) -> Told:
    """Begin a campaign over a workspace, and let the others who give roles there know."""
    work.writing()
    need_review(work, text(workspace, "workspace"))
    if asks not in ASKS:
        raise InvalidInputError(f"A campaign does not ask about {shown(str(asks))}.", f"Use {' or '.join(ASKS)}.")
    due_at = None if due is None else when(due)
    if due_at is not None and due_at <= work.at:
        raise InvalidInputError("A campaign is due in the future.", "Choose a later day, or none.")
    here = work.view.resource(workspace)
    campaign = Campaign(
        n=0,
        uid=secrets.token_hex(8),
        workspace_id=here,
        name=valid_name(name),
        asks=asks,
        started_at=work.at,
        started_by=work.caller.member,
        due_at=due_at,
    )
    made = campaign_table.insert(work, campaign, _asked(work, here, asks))
    work.note("start campaign", workspace, after={"campaign": made.uid, "name": made.name, "asks": asks})
    _tell(work, made, workspace, settings)
    return _told(work, made)


def page(work: Work, *, closed: bool | None = None, before: int | None = None, limit: int = 50) -> Campaigns:
    """The campaigns in which the caller takes part, newest first; of both states, or of one."""
    state, due = campaign_table.table.c.closed_at, campaign_table.table.c.due_at
    over = sa.or_(state.is_not(None), sa.func.coalesce(due, FOREVER) <= work.at)
    which = sa.true() if closed is None else over if closed else sa.not_(over)
    found: list[Told] = []
    while True:
        some = campaign_table.campaigns(work, which, before=before, limit=limit + 1)
        for campaign in some:
            if len(found) == limit:
                return Campaigns(found, found[-1].campaign.n)
            if concerns(work, campaign):
                found.append(_told(work, campaign))
        if len(some) <= limit:
            return Campaigns(found, None)
        before = some[-1].n


def get(work: Work, uid: str) -> Told:
    """One campaign, for those who take part in it."""
    return _told(work, found(work, uid))


def close(work: Work, uid: str) -> Told:
    """End it: nothing more is decided. What nobody decided about stays as it is."""
    work.writing()
    campaign = found(work, uid)
    refuse_closed(work, campaign)
    closed = _told(work, campaign_table.close(work, campaign))
    counts = closed.progress
    after = {"campaign": uid, "kept": counts.kept, "removed": counts.removed, "undecided": counts.undecided}
    work.note("close campaign", closed.workspace.uid, after=after)
    return closed


def close_due(work: Work, settings: Settings | None = None) -> int:
    """End those that were due, let their starters know, and tell how many. For the worker."""
    state, due = campaign_table.table.c.closed_at, campaign_table.table.c.due_at
    ended = campaign_table.campaigns(work, sa.and_(state.is_(None), due <= work.at), limit=_MOST_DUE)
    for campaign in ended:
        campaign_table.close(work, campaign)
        made = Counter(row.decision for row in campaign_table.rows(work, campaign))
        counts = {"kept": made[KEEP], "removed": made[REMOVE], "undecided": made[OPEN]}
        workspace = work.view.uids.get(campaign.workspace_id) or ""
        work.note("close campaign", workspace, after={"campaign": campaign.uid, **counts})
        if settings is not None:
            left = f"Nobody decided about {made[OPEN]:,} of {made.total():,} roles; they stay as they are."
            body = f"Its day is over, and it is closed: {campaign.name}\n\n{left}\n\n"
            where = f"{settings.base}/reviews/{campaign.uid}\n"
            telling.tell(work, settings, [campaign.started_by], "A review has ended", body + where)
    return len(ended)


# What those who decide need too


def found(work: Work, uid: str) -> Campaign:
    """The campaign of this id, if the caller takes part in it."""
    campaign = campaign_table.read(work, valid_id(uid))
    if campaign is None or not concerns(work, campaign):
        raise NotFoundError(f"There is no campaign {shown(uid)}.", "Look the id up in the list of campaigns.")
    return campaign


def concerns(work: Work, campaign: Campaign) -> bool:
    """Whether the campaign is the caller's to know of."""
    workspace = work.session.asking(lambda view: view.uids.get(campaign.workspace_id))
    return workspace is not None and may_review(work, workspace)


def is_open(work: Work, campaign: Campaign) -> bool:
    """Whether something can still be decided: after its day nothing can, also before the worker has closed it."""
    return campaign.closed_at is None and (campaign.due_at is None or work.at < campaign.due_at)


def refuse_closed(work: Work, campaign: Campaign) -> None:
    """What is closed stays as it is."""
    if not is_open(work, campaign):
        raise ConflictError("This campaign is closed.", "Begin a new one.")


def need_review(work: Work, workspace: str) -> None:
    """Refuse whoever may not run a campaign there."""
    workspaces.need_workspace(work, workspace)
    if not sharing.gives_here(work, workspace):
        work.need(sharing.ASK, work.caller.tenant)


def _told(work: Work, campaign: Campaign) -> Told:
    eyes = Eyes(work)
    workspace = eyes.numbered(campaign.workspace_id)
    assert workspace is not None  # noqa: S101 - asked before, see `concerns`
    return Told(campaign, workspace, eyes.ref(campaign.started_by), campaign_sight.progress(work, campaign))


def _asked(work: Work, here: int, asks: str) -> list[Kept]:
    """One row for each role that somebody holds or will hold, whatever the times for which it was given."""
    transaction, tenant = work.session.transaction, work.session.tenant
    look = spans.inside if asks == EVERYTHING else spans.on
    times: dict[tuple[int, str, int], tuple[Moment, Moment]] = {}
    for span in look(transaction, tenant, here, work.at):
        key = (span.subject, span.role, span.resource)
        since, until = times.get(key, (span.since, span.until))
        times[key] = min(since, span.since), max(until, span.until)
    if len(times) > MOST_ROWS:
        raise ConflictError(
            "More roles are held in this workspace than people could decide about one by one.",
            "Ask about those on the workspace itself, or let Spark work out who could do what.",
        )
    return [Kept(n, *key, *span) for n, (key, span) in enumerate(times.items(), start=1)]


def _givers(view: View, asker: str, workspace: str) -> Iterable[str]:
    roles = kinds.schema_of(view, workspace).roles.values()
    return proposals.givers(view, [Grant(asker, role.name, workspace) for role in roles if role.given_with])


def _tell(work: Work, campaign: Campaign, workspace: str, settings: Settings | None) -> None:
    if settings is None:
        return
    others = [one.uid for one in reviewers(work, workspace) if one.uid != work.caller.member]
    body = f"A review of who holds what has begun: {campaign.name}\n\n{settings.base}/reviews/{campaign.uid}\n"
    telling.tell(work, settings, others, "Look through who holds what", body)
