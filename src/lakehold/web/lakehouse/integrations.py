"""An integration on its own page: what it lets others read and where, and the tokens with which they do."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext, get_platform
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory import tokens
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import ApiToken
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import addresses, once, pages
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.confirming import unsure
from lakehold.web.flashes import Flash
from lakehold.web.once import Secret
from lakehold.web.routes import Sent, router
from lakehold.workspaces.lakehouse import integrations
from lakehold.workspaces.lakehouse.integrations import INTEGRATION_KIND

routes = router("/resources")

__all__ = ["INTEGRATION_KIND", "TEMPLATE", "about", "routes"]

TEMPLATE = "lakehouse/integration.html"
_DAYS = {"30": "30 days", "90": "90 days", "365": "1 year", "never": "No end"}
_DEFAULT = "90"


@routes.post("/{uid:path}/integration/token")
def make_token(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Let a tool in, as the caller. What it shows is shown once."""
    days = str(sent.get("days", _DEFAULT))
    if days not in _DAYS:
        raise InvalidInputError("That is no time that a token lasts.", "Choose one from the list.")
    try:
        made = integrations.create_token(ctx, uid, None if days == "never" else int(days))
    except ConflictError as error:
        return pages.go(request, acting.home_of(ctx, uid), Flash(str(error), tone="bad"))
    secret = Secret(
        f"{made.token.name} is open",
        "Token",
        made.secret,
        "Give it to the tool. It reads the tables of the integration as you, for as long as you may.",
        made.token.until,
        acting.home_of(ctx, uid),
    )
    return once.show(request, ctx.caller, secret)


@routes.post("/{uid:path}/integration/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """End a token of it, once they are sure."""
    back, wanted = acting.home_of(ctx, uid), str(sent.get("token", ""))
    if wanted not in {each.id for each in tokens.list_of_integration(ctx, uid)}:
        raise NotFoundError("There is no such token here.", "Reload the page.")
    said = "The tool that has it is let in no more."
    if asked := unsure(request, sent, "Revoke this token?", said, do="Revoke", back=back):
        return asked
    tokens.revoke(ctx, wanted)
    return pages.go(request, back, Flash("The token was revoked."))


def about(request: Request, ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> dict[str, object]:
    """For the page."""
    opening = Action("Make a token", addresses.resource(found.uid, "integration/token"), "post", "key-round")
    base = get_platform(request).settings.base_url
    return {
        "is_open": integrations.is_active(ctx, found.uid),
        "opening": acting.actions_of(ctx, found.uid, {"edit": opening})[0],
        "days": list(_DAYS.items()),
        "default_days": _DEFAULT,
        "rows_at": lambda uid: f"{base}/api/v1/tables/{uid}/rows",
        "tokens": [(each, eyes.ref(each.member)) for each in _tokens(ctx, found.uid)],
        "now": ctx.at,
    }


def _tokens(ctx: RequestContext, uid: str) -> list[ApiToken]:
    try:
        return tokens.list_of_integration(ctx, uid)
    except DeniedError:
        # Who looks with another's eyes sees none of their tokens.
        return []
