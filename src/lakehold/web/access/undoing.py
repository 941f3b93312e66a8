"""Taking back what was just done with a grant. Nothing is asked: it becomes as it was a moment ago."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Grant, Remove
from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import grants
from lakehold.catalog.grants import GrantedRole
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses, pages
from lakehold.web.flashes import Flash
from lakehold.web.routes import router

routes = router("/resources/{uid:path}/access/undo")

_DONE = Flash("It is as it was.")


def given(ctx: RequestContext, grant: Grant) -> str:
    """Where something new is taken back."""
    return _address("give", grant) if may(ctx, Remove(grant)) else ""


def changed(ctx: RequestContext, now: Grant, before: GrantedRole) -> str:
    """Where the role and the end of before come back."""
    back = Grant(now.subject, before.role, now.resource)
    return _address("change", now, to=before.role, until=before.until) if may(ctx, Add(back), Remove(now)) else ""


def revoked(ctx: RequestContext, held: GrantedRole) -> str:
    """Where it is given again."""
    grant = Grant(held.subject.uid, held.role, held.resource.uid)
    since = held.since if held.since > ctx.at else 0
    return _address("revoke", grant, since=since, until=held.until) if may(ctx, Add(grant)) else ""


def may(ctx: RequestContext, *changes: Add | Remove) -> bool:
    """Whether the caller can still take it back: somebody may have given their own right away."""
    try:
        return all(ctx.session.check_change(ctx.asker, change) for change in changes)
    except LakeholdError:
        return False


@routes.post("/give")
def undo_give(request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str) -> Response:
    """Take away what was just given."""
    grants.revoke(ctx, Grant(subject, role, uid))
    return _back(request, uid)


@routes.post("/revoke")
def undo_revoke(
    request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str, until: int = FOREVER, since: int = 0
) -> Response:
    """Give what was just taken away."""
    grants.give(ctx, Grant(subject, role, uid), since=since or None, until=_end(until))
    return _back(request, uid)


@routes.post("/change")
def undo_change(
    request: Request, ctx: WriteContext, uid: str, *, subject: str, role: str, to: str, until: int = FOREVER
) -> Response:
    """Give the role back that was there before."""
    grants.change_role(ctx, Grant(subject, role, uid), to, until=_end(until))
    return _back(request, uid)


def _end(until: Moment) -> Moment | None:
    return None if until >= FOREVER else until


def _back(request: Request, uid: str) -> Response:
    return pages.go(request, addresses.resource(uid, "access"), _DONE)


def _address(what: str, grant: Grant, **more: object) -> str:
    asked = {"subject": grant.subject, "role": grant.role, **{key: value for key, value in more.items() if value}}
    return f"{addresses.resource(grant.resource, 'access/undo')}/{what}?{urlencode(asked)}"
