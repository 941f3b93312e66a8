"""Access reviews: campaigns over a workspace, in which those who give roles there decide which roles are kept.

A campaign is about the roles that were held when it began. Members who give roles in the workspace, or may ask about
others, take part; each sees and counts only what they may know of.
"""

import secrets
from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.access import Grant
from lakehold.access.facts import tables
from lakehold.access.facts.records import require_moment, require_text
from lakehold.catalog import campaign_table, change_preview, kinds, request_table, workspaces
from lakehold.catalog.campaign_table import KEEP, OPEN, REMOVE, Campaign, CampaignProgress, StoredDecision
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import accounts
from lakehold.directory.request_context import MomentLike, RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError, at_field
from lakehold.kit.ids import quote, valid_id, valid_name
from lakehold.kit.settings import Settings

EVERYTHING, WORKSPACE = "everything", "workspace"
ASKS = (EVERYTHING, WORKSPACE)
"""About every role held in the workspace, or only about those on the workspace itself."""
MOST_ROWS = 10_000
_MOST_WORKSPACES = 200
_MOST_DUE = 1_000


@dataclass(frozen=True, slots=True)
class CampaignView:
    """A campaign as the caller may see it."""

    campaign: Campaign
    workspace: ResourceRef
    starter: ResourceRef | None
    progress: CampaignProgress


@dataclass(frozen=True, slots=True)
class CampaignPage:
    """A page of campaigns, with the number before which the next ones are; None after the last."""

    items: list[CampaignView]
    before: int | None


def may_review(ctx: RequestContext, workspace: str) -> bool:
    """Whether the caller may run campaigns there: they give roles in it, or may ask about others."""
    return VisibleRefs(ctx).sees(workspace) and change_preview.may_know_holders(ctx, workspace)


def reviewable_workspaces(ctx: RequestContext) -> list[ResourceRef]:
    """Return the workspaces over which the caller may run a campaign, by name."""
    found = workspaces.page(ctx, limit=_MOST_WORKSPACES).items
    return [ResourceRef(one.uid, one.kind, one.name) for one in found if may_review(ctx, one.uid)]


def reviewers(ctx: RequestContext, workspace: str) -> list[ResourceRef]:
    """Return the members nearest to giving roles there, of those that the caller may see."""
    need_review(ctx, workspace)
    roles = kinds.schema_of(ctx.view, workspace).roles.values()
    given = [Grant(ctx.caller.member, role.name, workspace) for role in roles if role.given_with]
    return VisibleRefs(ctx).refs(ctx.session.read_view(lambda view: request_table.find_givers(view, given)))


def start(
    ctx: RequestContext,
    workspace: str,
    name: str,
    *,
    asks: str = EVERYTHING,
    due: MomentLike | None = None,
    settings: Settings | None = None,
) -> CampaignView:
    """Start a campaign over a workspace, and notify the others who give roles there."""
    ctx.need_writable()
    need_review(ctx, require_text(workspace, "workspace"))
    if asks not in ASKS:
        raise InvalidInputError(
            f"A campaign cannot review {quote(str(asks))}.", f"Use {' or '.join(ASKS)}.", field="asks"
        )
    due_at = None if due is None else require_moment(due)
    if due_at is not None and due_at <= ctx.at:
        raise InvalidInputError("The due date must be in the future.", "Choose a later day, or none.", field="due")
    here = ctx.view.resource(workspace)
    with at_field("name"):
        name = valid_name(name)
    campaign = Campaign(
        n=0,
        uid=secrets.token_hex(8),
        workspace_id=here,
        name=name,
        asks=asks,
        started_at=ctx.at,
        started_by=ctx.caller.member,
        due_at=due_at,
    )
    started = campaign_table.insert(ctx, campaign, _rows_to_review(ctx, here, asks))
    ctx.note("start campaign", workspace, after={"campaign": started.uid, "name": started.name, "asks": asks})
    if settings is not None:
        others = [one.uid for one in reviewers(ctx, workspace) if one.uid != ctx.caller.member]
        body = f"An access review has started: {name}\n\n{settings.base_url}/reviews/{started.uid}\n"
        accounts.queue_mails(ctx, settings, others, "Access review", body)
    return _to_view(ctx, started)


def page(
    ctx: RequestContext, *, closed: bool | None = None, before: int | None = None, limit: int = 50
) -> CampaignPage:
    """Return the campaigns in which the caller takes part, newest first; of both states, or of one."""
    state, due = campaign_table.campaign_table.c.closed_at, campaign_table.campaign_table.c.due_at
    over = sa.or_(state.is_not(None), sa.func.coalesce(due, FOREVER) <= ctx.at)
    which = sa.true() if closed is None else over if closed else sa.not_(over)
    found: list[CampaignView] = []
    while True:
        some = campaign_table.list_campaigns(ctx, which, before=before, limit=limit + 1)
        for campaign in some:
            if len(found) == limit:
                return CampaignPage(found, found[-1].campaign.n)
            if is_participant(ctx, campaign):
                found.append(_to_view(ctx, campaign))
        if len(some) <= limit:
            return CampaignPage(found, None)
        before = some[-1].n


def get(ctx: RequestContext, uid: str) -> CampaignView:
    """Return one campaign, for those who take part in it."""
    return _to_view(ctx, find(ctx, uid))


def close(ctx: RequestContext, uid: str) -> CampaignView:
    """Close a campaign. Undecided roles stay as they are."""
    ctx.need_writable()
    campaign = find(ctx, uid)
    refuse_closed(ctx, campaign)
    closed = _to_view(ctx, campaign_table.mark_closed(ctx, campaign))
    counts = closed.progress
    after = {"campaign": uid, "kept": counts.kept, "removed": counts.removed, "undecided": counts.undecided}
    ctx.note("close campaign", closed.workspace.uid, after=after)
    return closed


def close_due(ctx: RequestContext, settings: Settings | None = None) -> int:
    """Close the campaigns that are due, notify their starters, and return their number. Called by the worker."""
    state, due = campaign_table.campaign_table.c.closed_at, campaign_table.campaign_table.c.due_at
    ended = campaign_table.list_campaigns(ctx, sa.and_(state.is_(None), due <= ctx.at), limit=_MOST_DUE)
    for campaign in ended:
        campaign_table.mark_closed(ctx, campaign)
        decided = Counter(row.decision for row in campaign_table.list_decisions(ctx, campaign))
        counts = {"kept": decided[KEEP], "removed": decided[REMOVE], "undecided": decided[OPEN]}
        workspace = ctx.view.uids.get(campaign.workspace_id) or ""
        ctx.note("close campaign", workspace, after={"campaign": campaign.uid, **counts})
        if settings is not None:
            left = f"{decided[OPEN]:,} of {decided.total():,} roles have no decision and are kept."
            body = f"An access review was due and is closed: {campaign.name}\n\n{left}\n\n"
            where = f"{settings.base_url}/reviews/{campaign.uid}\n"
            accounts.queue_mails(ctx, settings, [campaign.started_by], "Access review closed", body + where)
    return len(ended)


# What those who decide need too


def find(ctx: RequestContext, uid: str) -> Campaign:
    """Return the campaign with this id, if the caller takes part in it."""
    campaign = campaign_table.get(ctx, valid_id(uid))
    if campaign is None or not is_participant(ctx, campaign):
        raise NotFoundError(f"There is no campaign {quote(uid)}.", "Check the ID in the list of campaigns.")
    return campaign


def is_participant(ctx: RequestContext, campaign: Campaign) -> bool:
    """Whether the caller takes part in the campaign."""
    workspace = ctx.session.read_view(lambda view: view.uids.get(campaign.workspace_id))
    return workspace is not None and may_review(ctx, workspace)


def is_open(ctx: RequestContext, campaign: Campaign) -> bool:
    """Whether decisions can still be made. After the due day they cannot, also before the worker has closed it."""
    return campaign.closed_at is None and (campaign.due_at is None or ctx.at < campaign.due_at)


def refuse_closed(ctx: RequestContext, campaign: Campaign) -> None:
    """Refuse changes of a closed campaign."""
    if not is_open(ctx, campaign):
        raise ConflictError("This campaign is closed.", "Begin a new one.")


def need_review(ctx: RequestContext, workspace: str) -> None:
    """Refuse unless the caller may run a campaign there."""
    workspaces.need_workspace(ctx, workspace)
    if not change_preview.gives_roles_on(ctx, workspace):
        ctx.need(change_preview.ASK, ctx.caller.tenant)


def _to_view(ctx: RequestContext, campaign: Campaign) -> CampaignView:
    visible_refs = VisibleRefs(ctx)
    workspace = visible_refs.by_number(campaign.workspace_id)
    assert workspace is not None  # noqa: S101 - checked before, see `is_participant`
    starter = visible_refs.ref(campaign.started_by)
    return CampaignView(campaign, workspace, starter, campaign_table.load_progress(ctx, campaign))


def _rows_to_review(ctx: RequestContext, here: int, asks: str) -> list[StoredDecision]:
    """Return one row for each role that somebody holds or will hold, over all its spans."""
    transaction, tenant = ctx.session.transaction, ctx.session.tenant
    load_spans = tables.grants_inside if asks == EVERYTHING else tables.grants_on
    times: dict[tuple[int, str, int], tuple[Moment, Moment]] = {}
    for span in load_spans(transaction, tenant, here, ctx.at):
        key = (span.subject, span.role, span.resource)
        since, until = times.get(key, (span.since, span.until))
        times[key] = min(since, span.since), max(until, span.until)
    if len(times) > MOST_ROWS:
        raise ConflictError(
            "This workspace has too many roles to review one by one.",
            "Review the roles on the workspace itself, or export effective access with Spark.",
            field="asks",
        )
    return [StoredDecision(n, *key, *span) for n, (key, span) in enumerate(times.items(), start=1)]
