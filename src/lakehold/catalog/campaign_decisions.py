"""Decisions of an access review, row by row: a role is kept, or removed at once."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from lakehold.access import Remove
from lakehold.catalog import campaign_table, campaigns, grants, kinds
from lakehold.catalog.campaign_table import KEEP, KEPT, OPEN, REMOVE, REMOVED, Campaign, CampaignRow
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError, NotFoundError
from lakehold.ledger.audit import DENIED


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The rows that were decided, and those that were refused with their errors."""

    done: list[int]
    refused: list[tuple[int, LakeholdError]]


def list_rows(ctx: RequestContext, uid: str) -> list[CampaignRow]:
    """Return the rows of a campaign that the caller may see, by resource and holder."""
    found = campaign_table.visible_rows(ctx, campaigns.find(ctx, uid))
    return sorted(found, key=lambda row: (row.resource.name, row.resource.uid, row.title, row.subject.name, row.n))


def keep(ctx: RequestContext, uid: str, numbers: Collection[int]) -> DecisionResult:
    """Decide that these roles are kept."""
    return _decide(ctx, uid, numbers, _keep)


def remove(ctx: RequestContext, uid: str, numbers: Collection[int]) -> DecisionResult:
    """Remove these roles now. Those that the caller may not remove are refused, and the others removed all the same."""
    return _decide(ctx, uid, numbers, _remove)


def reopen(ctx: RequestContext, uid: str, numbers: Collection[int]) -> DecisionResult:
    """Undo decisions. Removed roles are given back for the times that were taken."""
    return _decide(ctx, uid, numbers, _reopen)


def _decide(
    ctx: RequestContext,
    uid: str,
    numbers: Collection[int],
    decide_row: Callable[[RequestContext, Campaign, CampaignRow], None],
) -> DecisionResult:
    ctx.need_writable()
    campaign = campaigns.find(ctx, uid)
    campaigns.refuse_closed(ctx, campaign)
    rows = campaign_table.visible_rows(ctx, campaign, numbers)
    if len(rows) != len(set(numbers)):
        raise NotFoundError("Some of these rows are not in this campaign.", "Reload the review.")
    result = DecisionResult([], [])
    for row in rows:
        try:
            decide_row(ctx, campaign, row)
            result.done.append(row.n)
        except (ConflictError, ForbiddenError, NotFoundError) as error:
            # Refused before anything was written, so the others can go on.
            result.refused.append((row.n, error))
            if isinstance(error, DeniedError):
                ctx.note(error.action, error.resource, reason=error.message, outcome=DENIED)
    return result


def _keep(ctx: RequestContext, campaign: Campaign, row: CampaignRow) -> None:
    if row.state == REMOVED:
        raise ConflictError("The role was removed.", "Undo the removal first.")
    campaign_table.save_decision(ctx, campaign, row, KEEP)
    ctx.note("keep role", row.resource.uid, after=_audit_details(campaign, row))


def _remove(ctx: RequestContext, campaign: Campaign, row: CampaignRow) -> None:
    if row.state == REMOVED:
        return
    ctx.need_change(Remove(row.grant))
    removed = grants.revoke(ctx, row.grant)
    campaign_table.save_decision(ctx, campaign, row, REMOVE, removed)
    ctx.note("remove role", row.resource.uid, before=_audit_details(campaign, row))


def _reopen(ctx: RequestContext, campaign: Campaign, row: CampaignRow) -> None:
    left = [(max(since, ctx.at), until) for since, until in row.removed if until > ctx.at]
    if row.state == REMOVED and left:
        single = kinds.schema_of(ctx.view, row.resource.uid).roles[row.role].single
        if single and any(grant.role == row.role for grant in ctx.grants(row.resource.uid)):
            raise ConflictError(f"Somebody else is {row.title} now.", "Revoke it from them first.")
        for since, until in left:
            grants.give(ctx, row.grant, since=since, until=until)
    if row.state in {KEPT, REMOVED}:
        campaign_table.save_decision(ctx, campaign, row, OPEN)
        ctx.note("reopen decision", row.resource.uid, before=_audit_details(campaign, row))


def _audit_details(campaign: Campaign, row: CampaignRow) -> dict[str, object]:
    return {"campaign": campaign.uid, "role": row.role, "subject": row.subject.uid}
