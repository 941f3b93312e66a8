"""Answering a request: for good or for a time, or with a reason why not; and asking no longer."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import approvals, requests
from lakehold.kit.errors import InvalidInputError
from lakehold.web import pages
from lakehold.web.access import choosing
from lakehold.web.access.choosing import FieldError
from lakehold.web.access.requests import one_page, thing
from lakehold.web.flashes import Flash
from lakehold.web.routes import Sent, router
from lakehold.web.words import spoken

routes = router("/requests/{uid}")


@routes.get("")
def request_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """One request."""
    return one_page(request, ctx, uid)


@routes.post("/approve")
def approve(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: Sent) -> Response:
    """Give what was asked for. Its effect was on the page."""
    filled = {name: str(sent.get(name) or "") for name in ("until", "until_date", "answer")}
    try:
        span = choosing.span(sent, ctx.at)
        answer = requests.valid_reason(filled["answer"])
    except InvalidInputError as error:
        field = error.field if isinstance(error, FieldError) else "answer"
        return one_page(request, ctx, uid, filled, {field: str(error)})
    told = approvals.approve(ctx, uid, until=span.until, answer=answer, settings=platform.settings)
    if told.request.state == "pending":
        return pages.go(request, f"/requests/{uid}", Flash("You gave your part of it. Others can give the rest."))
    who = told.asker.name if told.asker else "They"
    return pages.go(request, "/requests", Flash(f"{who} may {spoken(told.request.action).lower()} {thing(told)} now."))


@routes.post("/refuse")
def refuse(request: Request, ctx: WriteContext, platform: CurrentPlatform, uid: str, sent: Sent) -> Response:
    """Say no, and why."""
    words = str(sent.get("reason") or "")
    try:
        if not requests.valid_reason(words).strip():
            return one_page(request, ctx, uid, {"reason": words}, {"reason": "Say in a few words why not."})
    except InvalidInputError as error:
        return one_page(request, ctx, uid, {"reason": words}, {"reason": str(error)})
    told = approvals.refuse(ctx, uid, words, settings=platform.settings)
    who = told.asker.name if told.asker else "Who asked"
    return pages.go(request, "/requests", Flash(f"You said no. {who} is told why.", tone="info"))


@routes.post("/withdraw")
def withdraw(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Ask no longer."""
    told = requests.withdraw(ctx, uid)
    return pages.go(request, "/requests/mine", Flash(f"You no longer ask for {thing(told)}.", tone="info"))
