"""A member's name and e-mail address."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.directory import members
from lakehold.directory.errors import DeniedError
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.people.one import trail
from lakehold.web.routing import SubmittedForm, router

routes = router("/people")


@routes.get("/{uid:path}/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """What they are called now."""
    members.need_rename(ctx, uid)
    return _form(request, ctx, members.get(ctx, uid))


@routes.post("/{uid:path}/edit")
def edit(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Both are looked at before either is changed."""
    members.need_rename(ctx, uid)
    member = members.get(ctx, uid)
    name, email = str(sent.get("name", "")).strip(), str(sent.get("email", member.email or "")).strip()
    changes_email = email != (member.email or "")
    errors: dict[str, str] = {}
    try:
        valid_name(name)
    except InvalidInputError as error:
        errors["name"] = str(error)
    try:
        if changes_email and not errors:
            members.set_email(ctx, uid, email)
    except (InvalidInputError, ConflictError) as error:
        errors["email"] = str(error)
    if errors:
        return _form(request, ctx, member, filled=(name, email), errors=errors)
    members.rename(ctx, uid, name)
    return pages.redirect(request, urls.member(uid), Flash("Saved."))


def _form(
    request: Request,
    ctx: RequestContext,
    member: Member,
    *,
    filled: tuple[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    name, email = filled or (member.name, member.email or "")
    values: dict[str, object] = {
        "crumbs": trail(ctx, member, "Edit"),
        "member": member,
        "name": name,
        "email": email,
        "may_set_email": _may_set_email(ctx, member),
        "errors": errors or {},
    }
    return pages.render(request, "people/edit.html", values, status=422 if errors else 200)


def _may_set_email(ctx: RequestContext, member: Member) -> bool:
    if member.service:
        return False
    try:
        members.need_set_email(ctx, member.uid)
    except DeniedError:
        return False
    return True
