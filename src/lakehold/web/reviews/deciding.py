"""What is decided in a campaign: keep, remove, take back, close."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import WriteContext
from lakehold.catalog import campaign_decisions, campaigns
from lakehold.catalog.campaign_decisions import DecisionResult
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.web import confirmation, pages
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router

routes = router("/reviews")

_AGAIN = "undecided again"
_DEEDS = {
    "keep": (campaign_decisions.keep, "kept"),
    "remove": (campaign_decisions.remove, "removed"),
    "reopen": (campaign_decisions.reopen, _AGAIN),
}


@routes.post("/{uid}/decide")
def decide(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Decide about one row, or about all that were chosen."""
    campaigns.find(ctx, uid)
    deed, numbers = _asked(sent)
    back = _back(request, sent, uid)
    if not numbers:
        return pages.redirect(request, back, Flash("Choose some roles first.", tone="warn"))
    many = deed == "remove" and len(numbers) > 1
    question = f"Remove {format_count(len(numbers), 'role')}?"
    text = "Their holders lose them at once. You can undo it."
    if many and (page := confirmation.confirm(request, _with_back(sent, back), question, text, do="Remove", back=back)):
        return page
    do, words = _DEEDS[deed]
    return _told(request, ctx, uid, do(ctx, uid, numbers), words=words, back=back)


@routes.post("/{uid}/reopen")
def reopen(request: Request, ctx: WriteContext, uid: str, rows: str = "") -> Response:
    """Undo: what was taken away is given back."""
    campaigns.find(ctx, uid)
    outcome = campaign_decisions.reopen(ctx, uid, _numbers(rows.split(",")))
    return _told(request, ctx, uid, outcome, words=_AGAIN, back=f"/reviews/{uid}")


@routes.post("/{uid}/close")
def close(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """End it, once sure."""
    told = campaigns.get(ctx, uid)
    left = told.progress.undecided
    text = "Nothing more can be decided in it."
    if left:
        text = f"{format_count(left, 'role')} nobody has decided about will stay as they are. {text}"
    question = f"Close {told.campaign.name}?"
    if page := confirmation.confirm(request, sent, question, text, do="Close", back=f"/reviews/{uid}"):
        return page
    campaigns.close(ctx, uid)
    return pages.redirect(request, f"/reviews/{uid}", Flash(f"{told.campaign.name} is closed."))


def _asked(sent: FormData) -> tuple[str, list[int]]:
    """A row's own button says which row; the others are about the chosen rows."""
    for deed in _DEEDS:
        if sent.get(deed):
            return deed, _numbers([str(sent[deed])])
    deed = str(sent.get("do", ""))
    if deed not in _DEEDS:
        raise InvalidInputError("It is not said what was decided.", "Use one of the buttons.")
    chosen = [str(each) for each in sent.getlist("rows")]
    if "all" in chosen:
        chosen = [str(each) for each in sent.getlist("shown")]
    return deed, _numbers(chosen)


def _numbers(texts: list[str]) -> list[int]:
    if not all(text.isascii() and text.isdigit() and len(text) < 9 for text in texts):  # noqa: PLR2004 - a row's number is short
        raise InvalidInputError("This is no row of a campaign.", "Use the boxes of the list.")
    return sorted({int(text) for text in texts})


def _told(
    request: Request, ctx: RequestContext, uid: str, outcome: DecisionResult, *, words: str, back: str
) -> Response:
    done = f"{format_count(len(outcome.done), 'role')} {words}." if outcome.done else ""
    refused = ""
    if outcome.refused:
        reasons = dict.fromkeys(error.message for _, error in outcome.refused)
        left = "left as it was" if len(outcome.refused) == 1 else "left as they were"
        refused = f"{format_count(len(outcome.refused), 'role')} {left}: {' '.join(list(reasons)[:2])}"
    undo = ""
    if outcome.done and words != _AGAIN:
        undo = f"/reviews/{uid}/reopen?{urlencode({'rows': ','.join(str(n) for n in outcome.done)}, safe=',')}"
    return pages.redirect(
        request,
        back if _takes_part(ctx, uid) else "/reviews",
        Flash(f"{done} {refused}".strip(), tone="warn" if refused else "good", undo=undo),
    )


def _takes_part(ctx: RequestContext, uid: str) -> bool:
    """Who has taken away their own right does not any more."""
    try:
        campaigns.find(ctx, uid)
    except NotFoundError:
        return False
    return True


def _back(request: Request, sent: FormData, uid: str) -> str:
    """The list as it was: searched, filtered and paged."""
    parts = urlsplit(str(sent.get("back", "")) or request.headers.get("referer", ""))
    here = f"/reviews/{uid}"
    return f"{here}?{parts.query}" if parts.path == here and parts.query else here


def _with_back(sent: FormData, back: str) -> FormData:
    return FormData([*sent.multi_items(), ("back", back)])
