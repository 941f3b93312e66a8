"""Invites that nobody has accepted yet."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import invites, links
from lakehold.directory.invites import CreatedInvite, Invite
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.ids import fold_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.invites import offers
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router

routes = router("/invites")

_COLUMNS = (
    ListColumn("For", "email"),
    ListColumn("To"),
    ListColumn("By", wide=True),
    ListColumn("Sent", "sent", wide=True),
    ListColumn("State", "ends"),
)
_STATES = ListFilter("state", "State", (("open", "Open"), ("over", "Expired")))
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One invite of the list."""

    id: str
    email: str
    places: list[tuple[str, ResourceRef]]
    """Roles by their title, and where; only what the caller may see."""
    by: ResourceRef | None
    sent: Moment
    until: Moment
    over: bool
    actions: list[PageAction]


@routes.get("")
def invites_page(request: Request, ctx: ReadContext, platform: CurrentPlatform) -> Response:
    """Those that the caller made, or could have made."""
    listing = ListState.from_request(request, sorts=("-sent", "email", "ends"), filters=(_STATES,))
    mailing = links.can_send_mail(platform.settings)
    eyes = VisibleRefs(ctx)
    rows = [_row(ctx, eyes, found, mailing=mailing) for found in invites.page(ctx, limit=_MOST)]
    state, searched = listing.chosen["state"], fold_name(listing.search)
    rows = [row for row in rows if searched in fold_name(row.email) and state in {"", "over" if row.over else "open"}]
    keys = {"sent": lambda row: row.sent, "email": lambda row: fold_name(row.email), "ends": lambda row: row.until}
    rows.sort(key=keys[listing.sort], reverse=listing.descending)
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": list(enumerate(listing.slice_page(rows))),
        "total": len(rows),
        "may_invite": offers.may_invite(ctx),
    }
    return pages.render(request, "invites/invites.html", values)


@routes.post("/{id_}/again")
def send_again(request: Request, ctx: WriteContext, platform: CurrentPlatform, id_: str) -> Response:
    """A new link in place of the old one."""
    made = invites.resend(ctx, platform.settings, id_, mail=links.can_send_mail(platform.settings))
    return shown(request, ctx, platform, made)


@routes.post("/{id_}/revoke")
def revoke(request: Request, ctx: WriteContext, id_: str, sent: SubmittedForm) -> Response:
    """The link is good for nothing any more."""
    invite = invites.get(ctx, id_)
    question = f"Revoke the invite for {invite.email}?"
    if asked := confirm(request, sent, question, "Its link ends at once.", do="Revoke", back="/invites"):
        return asked
    invites.revoke(ctx, id_)
    return pages.redirect(request, "/invites", Flash(f"The invite for {invite.email} was revoked."))


def shown(request: Request, ctx: RequestContext, platform: CurrentPlatform, made: CreatedInvite) -> Response:
    """The link, once; or where it was mailed to."""
    if made.mailed:
        return pages.redirect(request, "/invites", Flash(f"The invite was mailed to {made.invite.email}."))
    sends = links.can_send_mail(platform.settings)
    text = "Hand it over yourself." if sends else "Hand it over yourself: this installation sends no mails."
    told = OneTimeSecret(f"An invite for {made.invite.email}", "Link", made.link, text, made.invite.until, "/invites")
    return one_time_secret.redirect_to_secret(request, ctx.caller, told)


def _row(ctx: RequestContext, eyes: VisibleRefs, invite: Invite, *, mailing: bool) -> Row:
    places = [
        (ctx.view.policy.role(there.kind, place.role).title, there)
        for place in invite.grants.roles
        if (there := eyes.ref(place.resource)) is not None
    ]
    tenant = [(title, there) for title, there in places if there.kind == TENANT]
    others = [(title, there) for title, there in places if there.kind != TENANT]
    again = PageAction(
        "Mail it again" if mailing else "Make a new link", f"/invites/{invite.id}/again", "post", "refresh-cw"
    )
    end = PageAction(
        "Revoke",
        f"/invites/{invite.id}/revoke",
        "post",
        "trash-2",
        confirm=f"Revoke the invite for {invite.email}?",
        danger=True,
    )
    by = eyes.ref(invite.made_by)
    over = invite.until <= ctx.at
    return Row(
        invite.id,
        invite.email,
        [*others, *tenant],
        by,
        invite.made_at,
        invite.until,
        over,
        _may(ctx, invite, again, end),
    )


def _may(ctx: RequestContext, invite: Invite, again: PageAction, end: PageAction) -> list[PageAction]:
    """Who has lost the right to invite to it cannot send it again, and may still revoke it."""
    if offers.may(ctx, *invite.grants.roles):
        return [again, end]
    place = next(iter(invite.grants.roles), None)
    asked = urls.request(place.resource if place else ctx.caller.tenant, "")
    return [
        PageAction(again.label, icon=again.icon, why_not="You may not invite to this any more.", request=asked),
        end,
    ]
