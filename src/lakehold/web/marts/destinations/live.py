"""A live destination: its secret, made, rotated and revoked; and where BI tools pull each report."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.web import kind_pages, one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.marts.destinations.routes import need_edit
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts import mart_kinds
from lakehold.workspaces.marts.live import LIVE_TYPE, secrets
from lakehold.workspaces.marts.live.secrets import DestinationSecret

routes = router("/resources")


@dataclass(frozen=True, slots=True)
class Live:
    """What is told of it on its page."""

    secret: DestinationSecret | None
    made_by: ResourceRef | None
    addresses: list[tuple[ResourceRef, str]]
    """Where each report is pulled that the caller sees."""
    example: str
    """A command that pulls one; empty while there is none."""
    make: PageAction
    revoke: PageAction | None


@routes.post("/{uid:path}/destination/secret")
def make(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Make one, or another in place of the one that there is."""
    found, back = need_edit(ctx, uid), kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND)
    if secrets.get_secret(ctx, uid) is not None:
        text = "The one that there is ends at once: whatever pulls with it needs the new one."
        if question := confirm(request, sent, f"Rotate the secret of {found.name}?", text, do="Rotate", back=back):
            return question
    try:
        made = secrets.create_secret(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, back, Flash(str(error), tone="bad"))
    words = "BI tools show it to pull the reports that go here. Keep it where secrets are kept."
    shown = one_time_secret.OneTimeSecret(f"Secret of {found.name}", "Secret", made.text, words, FOREVER, back)
    return one_time_secret.redirect_to_secret(request, ctx.caller, shown)


@routes.post("/{uid:path}/destination/secret/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End it."""
    found, back = need_edit(ctx, uid), kind_pages.resource_overview_url(uid, mart_kinds.DESTINATION_KIND)
    text = "Nothing can be pulled until another one is made."
    if question := confirm(request, sent, f"Revoke the secret of {found.name}?", text, do="Revoke", back=back):
        return question
    try:
        secrets.revoke_secret(ctx, uid)
    except ConflictError as error:
        return pages.redirect(request, back, Flash(str(error), tone="bad"))
    return pages.redirect(request, back, Flash("The secret was revoked. Nothing can be pulled with it any more."))


def about(ctx: RequestContext, settings: Settings, found: ResourceView, reports: list[ResourceRef]) -> Live | None:
    """For the page of a live one, for who may use it or edit it; None otherwise."""
    uid, may_edit = found.uid, "edit" in found.actions
    if resource_metadata.load(ctx, uid).settings.get("to") != LIVE_TYPE or not (may_edit or "use" in found.actions):
        return None
    secret = secrets.get_secret(ctx, uid) if may_edit else None
    base = f"{settings.base_url}/api/v1/live/{urls.segment(uid)}"
    pulled = [(each, f"{base}/{urls.segment(each.uid)}") for each in reports]
    example = f'curl -H "Authorization: Bearer $SECRET" "{pulled[0][1]}?format=csv"' if pulled else ""
    here = urls.resource(uid, "destination/secret")
    asked = "Rotate the secret? The one that there is ends at once."
    fresh = (
        PageAction("Rotate", here, "post", "refresh-cw", confirm=asked)
        if secret
        else PageAction("Make a secret", here, "post", "key-round")
    )
    end = PageAction("Revoke", f"{here}/revoke", "post", "x", confirm="Revoke the secret?", danger=True)
    return Live(
        secret,
        VisibleRefs(ctx).ref(secret.made_by) if secret else None,
        pulled,
        example,
        resource_header.actions_of(ctx, uid, {"edit": fresh})[0],
        end if secret else None,
    )
