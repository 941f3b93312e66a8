"""What a campaign asks about, row by row, and what is decided: it stays, or it is taken away at once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from lakehold.access import Remove
from lakehold.catalog import campaign_table, campaigns, grants, kinds
from lakehold.catalog.campaign_sight import REMOVED, Look, Row
from lakehold.catalog.campaign_table import KEEP, OPEN, REMOVE, Campaign, Kept
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import ConflictError, ForbiddenError, LakeholdError, NotFoundError
from lakehold.ledger.audit import DENIED


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of some rows."""

    done: list[int]
    refused: list[tuple[int, LakeholdError]]


def rows(ctx: RequestContext, uid: str) -> list[Row]:
    """All that a campaign asks about, of what the caller may know of, by resource and holder."""
    campaign = campaigns.found(ctx, uid)
    look = Look(ctx, campaign)
    found = [row for kept in campaign_table.rows(ctx, campaign) if (row := look.row(kept)) is not None]
    return sorted(found, key=lambda row: (row.resource.name, row.resource.uid, row.title, row.subject.name, row.n))


def keep(ctx: RequestContext, uid: str, numbers: Collection[int]) -> Outcome:
    """These stay as they are."""
    return _decide(ctx, uid, numbers, lambda campaign, row: _keep(ctx, campaign, row))


def remove(ctx: RequestContext, uid: str, numbers: Collection[int]) -> Outcome:
    """Take these away, now. What the caller may not take away stays, and the others are taken away all the same."""
    return _decide(ctx, uid, numbers, lambda campaign, row: _remove(ctx, campaign, row))


def reopen(ctx: RequestContext, uid: str, numbers: Collection[int]) -> Outcome:
    """Take back what was decided: what was taken away is given back, for as long as it was given."""
    return _decide(ctx, uid, numbers, lambda campaign, row: _reopen(ctx, campaign, row))


def _decide(
    ctx: RequestContext, uid: str, numbers: Collection[int], do: Callable[[Campaign, tuple[Kept, Row]], None]
) -> Outcome:
    ctx.writing()
    campaign = campaigns.found(ctx, uid)
    campaigns.refuse_closed(ctx, campaign)
    look = Look(ctx, campaign)
    asked = [(kept, row) for kept in campaign_table.rows(ctx, campaign, numbers) if (row := look.row(kept))]
    if len(asked) != len(set(numbers)):
        raise NotFoundError("Some of these rows are not in this campaign.", "Read it anew.")
    outcome = Outcome([], [])
    for kept, row in asked:
        try:
            do(campaign, (kept, row))
            outcome.done.append(row.n)
        except (ConflictError, ForbiddenError, NotFoundError) as error:
            # Refused before anything was written, so the others can go on.
            outcome.refused.append((row.n, error))
            if isinstance(error, DeniedError):
                ctx.note(error.action, error.resource, reason=error.message, outcome=DENIED)
    return outcome


def _keep(ctx: RequestContext, campaign: Campaign, asked: tuple[Kept, Row]) -> None:
    kept, row = asked
    if row.state == REMOVED:
        raise ConflictError("It has been taken away.", "Give it back first.")
    campaign_table.decide(ctx, campaign, kept, KEEP)
    ctx.note("keep role", row.resource.uid, after=_said(campaign, row))


def _remove(ctx: RequestContext, campaign: Campaign, asked: tuple[Kept, Row]) -> None:
    kept, row = asked
    if row.state == REMOVED:
        return
    ctx.need_change(Remove(row.grant))
    grants.revoke(ctx, row.grant)
    campaign_table.decide(ctx, campaign, kept, REMOVE)
    ctx.note("remove role", row.resource.uid, before=_said(campaign, row))


def _reopen(ctx: RequestContext, campaign: Campaign, asked: tuple[Kept, Row]) -> None:
    kept, row = asked
    if row.state == REMOVED and row.until > ctx.at:
        _refuse_displacing(ctx, row)
        since = row.since if row.since > ctx.at else None
        grants.give(ctx, row.grant, since=since, until=None if row.until >= FOREVER else row.until)
    if kept.decision != OPEN:
        campaign_table.decide(ctx, campaign, kept, OPEN)
        ctx.note("reopen decision", row.resource.uid, before=_said(campaign, row))


def _refuse_displacing(ctx: RequestContext, row: Row) -> None:
    """A role of which there is one may be somebody else's by now."""
    single = kinds.schema_of(ctx.view, row.resource.uid).roles[row.role].single
    if single and any(grant.role == row.role for grant in ctx.grants(row.resource.uid)):
        raise ConflictError(f"Somebody else is {row.title} by now.", "Take it away from them first.")


def _said(campaign: Campaign, row: Row) -> dict[str, object]:
    return {"campaign": campaign.uid, "role": row.role, "subject": row.subject.uid}
