"""Where a member is signed in, and links that let them in: made by who keeps members, shown once."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, WriteContext
from lakehold.directory import links, members, sign_ins
from lakehold.kit.errors import ConflictError
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")


@routes.post("/{uid:path}/links")
def make_link(
    request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: SubmittedForm
) -> Response:
    """A link to sign in with, or to set a password with. Older ones end."""
    member = members.get(ctx, uid)
    try:
        made = links.create(ctx, platform.settings, uid, str(sent.get("purpose", "")), mail=bool(sent.get("mail")))
    except ConflictError as error:
        return pages.redirect(request, urls.member(uid), Flash(str(error), "bad"))
    if made.mailed:
        return pages.redirect(request, urls.member(uid), Flash(f"The link was mailed to {member.name}."))
    signs_in = made.purpose == links.SIGN_IN
    told = OneTimeSecret(
        title=f"A sign-in link for {member.name}" if signs_in else f"A password link for {member.name}",
        label="Link",
        secret=made.link,
        text="Whoever opens it is signed in as them, once."
        if signs_in
        else "Whoever opens it sets their password, once. All their sign-ins end then.",
        until=made.until,
        back=urls.member(uid),
        mail=[urls.member(uid, "links"), made.purpose] if links.can_send_mail(platform.settings) else (),
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, told)


@routes.post("/{uid:path}/sign-out")
def sign_out(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End one sign-in, or all."""
    name = members.get(ctx, uid).name
    one = str(sent.get("sign_in", ""))
    back = urls.member(uid)
    question = f"End this sign-in of {name}?" if one else f"Sign {name} out everywhere?"
    if asked := confirm(request, sent, question, "They can sign in again.", do="Sign out", back=back):
        return asked
    if one:
        sign_ins.end(ctx, uid, one)
        return pages.redirect(request, back, Flash("The sign-in has ended."))
    sign_ins.end_all(ctx, uid, but=ctx.caller.sign_in_id if uid == ctx.caller.member else "")
    return pages.redirect(request, back, Flash(f"{name} is signed out everywhere."))
