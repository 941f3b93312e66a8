"""Giving a role on a thing, giving another in its place, and taking it away."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import grants, kinds
from lakehold.catalog.grants import GrantedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import addresses, pages
from lakehold.web.access import choosing, previewing, saying, undoing
from lakehold.web.access.choosing import ENDS, FieldError, Span
from lakehold.web.access.routes import frame
from lakehold.web.effects import Asking, ask_first
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router

routes = router("/resources/{uid:path}/access")

_MENDED = (InvalidInputError, ConflictError, NotFoundError)


@routes.get("/give")
def give_page(
    request: Request, ctx: ReadContext, uid: str, *, q: str = "", subject: str = "", role: str = ""
) -> Response:
    """Whom, what, and until when."""
    return _give_form(request, ctx, uid, {"q": q, "subject": subject, "role": role})


@routes.post("/give")
def give(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Give a role, once its effect has been seen."""
    filled = _filled(sent)
    try:
        who = choosing.subject(ctx, filled["subject"])
        wanted = Grant(who.uid, filled["role"], uid)
        span = choosing.span(sent, ctx.at)
        ctx.need_change(Add(wanted))
    except _MENDED as error:
        return _give_form(request, ctx, uid, filled, error)
    title = _title(ctx, wanted)
    back = f"{_access(uid)}/give?{urlencode({'subject': who.uid, 'role': wanted.role})}"
    asking = Asking(f"Give {title} to {who.name}?", _when(span), do=f"Give {title}", back=back)
    if question := ask_first(request, sent, asking, lambda: previewing.told(ctx, uid, [Add(wanted)])):
        return question
    before = next((each for each in grants.list_direct(ctx, uid) if _is(each, wanted)), None)
    grants.give(ctx, wanted, since=span.since, until=span.until)
    told = f"{who.name} is now {title} on {_name(ctx, uid)}{_after(span)}."
    undo = undoing.given(ctx, wanted) if before is None else undoing.changed(ctx, wanted, before)
    return pages.go(request, _access(uid), Flash(told, undo=undo))


@routes.get("/change")
def change_page(request: Request, ctx: ReadContext, uid: str, subject: str, role: str) -> Response:
    """Another role, or another end."""
    return _change_form(request, ctx, _held(ctx, Grant(subject, role, uid)), {"new_role": role})


@routes.post("/change")
def change(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Give another role in place of this one, once its effect has been seen."""
    filled = _filled(sent)
    old = Grant(filled["subject"], filled["role"], uid)
    held = _held(ctx, old)
    wanted = Grant(old.subject, filled["new_role"], uid)
    changes: list[Add | Remove] = [] if wanted == old else [Remove(old), Add(wanted)]
    try:
        span = choosing.span(sent, ctx.at)
        ctx.need_change(Add(wanted))
    except _MENDED as error:
        return _change_form(request, ctx, held, filled, error)
    title = _title(ctx, wanted)
    asking = Asking(
        f"Let {held.subject.name} be {title}?",
        _when(span),
        back=f"{_access(uid)}/change?{urlencode({'subject': old.subject, 'role': old.role})}",
    )
    if question := ask_first(request, sent, asking, lambda: previewing.told(ctx, uid, changes)):
        return question
    grants.change_role(ctx, old, wanted.role, until=span.until)
    told = f"{held.subject.name} is now {title} on {_name(ctx, uid)}{_after(span)}."
    return pages.go(request, _access(uid), Flash(told, undo=undoing.changed(ctx, wanted, held)))


@routes.post("/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Take a role away, once its effect has been seen."""
    filled = _filled(sent)
    grant = Grant(filled["subject"], filled["role"], uid)
    held = _held(ctx, grant)
    asking = Asking(
        f"Revoke {held.title} from {held.subject.name}?",
        f"On {_name(ctx, uid)}, from this moment on.",
        do=f"Revoke {held.title}",
        back=_access(uid),
        danger=True,
    )
    if question := ask_first(request, sent, asking, lambda: previewing.told(ctx, uid, [Remove(grant)])):
        return question
    grants.revoke(ctx, grant)
    told = f"{held.subject.name} is no longer {held.title} on {held.resource.name}."
    there = _access(uid) if ctx.session.can_see(ctx.asker, uid) else "/"
    return pages.go(request, there, Flash(told, undo=undoing.revoked(ctx, held)))


def _give_form(
    request: Request, ctx: RequestContext, uid: str, filled: dict[str, str], error: Exception | None = None
) -> Response:
    roles = _roles(ctx, uid)
    found = choosing.subjects(ctx, filled.get("q", ""), chosen=filled.get("subject", ""))
    values: dict[str, object] = {
        **frame(ctx, uid, "Give access"),
        "roles": roles,
        "subjects": found,
        "filled": filled,
        "ends": ENDS,
        **_told(error, "subject"),
    }
    return pages.page(request, "access/give.html", values, status=422 if error else 200)


def _change_form(
    request: Request, ctx: RequestContext, held: GrantedRole, filled: dict[str, str], error: Exception | None = None
) -> Response:
    uid = held.resource.uid
    values: dict[str, object] = {
        **frame(ctx, uid, "Change access"),
        "held": held,
        "roles": _roles(ctx, uid, held),
        "filled": filled,
        "ends": ENDS,
        "until": choosing.last_day(held.until),
        **_told(error, "new_role"),
    }
    return pages.page(request, "access/change.html", values, status=422 if error else 200)


def _told(error: Exception | None, field: str) -> dict[str, object]:
    if error is None:
        return {"errors": {}}
    return {"errors": {error.field if isinstance(error, FieldError) else field: str(error)}}


def _roles(ctx: RequestContext, uid: str, held: GrantedRole | None = None) -> list[tuple[str, str]]:
    """The roles that the caller may give there, most first; refused if there is none."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    may = [role for role in schema.roles.values() if ctx.session.check(ctx.asker, "give", uid, role=role.name)]
    if held and schema.roles[held.role].person_only:
        may = [role for role in may if role.name == held.role]
    if not may:
        for role in reversed(list(schema.roles.values())):
            ctx.need("give", uid, role=role.name)
        raise NotFoundError("Nothing can be given there.", "Its model has no roles for it.")
    return [(role.name, role.title) for role in may]


def _held(ctx: RequestContext, grant: Grant) -> GrantedRole:
    for held in grants.list_direct(ctx, grant.resource):
        if _is(held, grant):
            return held
    raise NotFoundError("Nobody holds that there.", "Look at who does; it may have been taken away already.")


def _is(held: GrantedRole, grant: Grant) -> bool:
    return (held.subject.uid, held.role) == (grant.subject, grant.role)


def _filled(sent: FormData) -> dict[str, str]:
    names = ("q", "subject", "role", "new_role", "until", "until_date", "since_date")
    return {name: str(sent.get(name) or "") for name in names}


def _access(uid: str) -> str:
    return addresses.resource(uid, "access")


def _title(ctx: RequestContext, grant: Grant) -> str:
    return ctx.session.read_view(lambda view: saying.role_of(view, grant.role, grant.resource))


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.session.read_view(lambda view: saying.name_of(view, uid))


def _when(span: Span) -> str:
    return f"{span.words[:1].upper()}{span.words[1:]}." if span.words else "From now on, with no end."


def _after(span: Span) -> str:
    return f", {span.words}" if span.words else ""
