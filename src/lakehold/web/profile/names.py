"""One's name and e-mail address."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.directory import accounts, members
from lakehold.directory.accounts import valid_email
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import valid_name
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance.faults import faults, text
from lakehold.web.profile import own
from lakehold.web.profile.page import show
from lakehold.web.routing import SubmittedForm, router

routes = router(own.PROFILE)


@routes.post("")
def save_profile(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Be called by another name, or sign in with another address."""
    me, account = ctx.caller.member, accounts.get(ctx, ctx.caller.member)
    before = ctx.view.names.get(ctx.view.member(me)) or ""
    name, email = text(sent, "name").strip(), text(sent, "email").strip()
    wrong = faults(name=lambda: valid_name(name), email=lambda: email and valid_email(email))
    if not wrong and email and email != (account.email if account else ""):
        # First, for it can be refused: what is refused leaves nothing behind.
        try:
            members.set_email(ctx, me, email)
        except ConflictError as error:
            wrong = {"email": f"{error.message} {error.hint}"}
    if wrong:
        return show(request, ctx, filled={"name": name, "email": email}, faults=wrong)
    if name == before:
        return pages.redirect(request, own.PROFILE, Flash("Saved."))
    members.rename(ctx, me, name)
    undo = f"{own.PROFILE}/name?{urlencode({'to': before})}"
    return pages.redirect(request, own.PROFILE, Flash(f"You are called {name} now.", undo=undo))


@routes.post("/name")
def be_called_again(request: Request, ctx: WriteContext, to: str) -> Response:
    """Take the new name back."""
    members.rename(ctx, ctx.caller.member, to)
    return pages.redirect(request, own.PROFILE, Flash(f"You are called {to} again."))
