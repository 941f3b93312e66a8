"""Why? One explanation: may this member do this with this thing, by which paths, or what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from fastapi import Request, Response

from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import Reason
from lakehold.access.decisions.explanation import RulePath as Rule
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.access.drawing import Drawing
from lakehold.web.access.missing import Missing
from lakehold.web.paths import Path
from lakehold.web.routes import router
from lakehold.web.words import spoken

routes = router()

_MOST_MISSING = 4


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that every way has to pass."""

    held: bool
    words: str
    rule: str
    place: str
    missing: list[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An explanation as its page shows it."""

    action: str
    found: Explanation
    sentence: str
    ways: list[Path]
    gates: list[Gate]
    request: str
    """Where to ask without choosing a way."""


@routes.get("/resources/{uid:path}/why")
def why_page(request: Request, ctx: ReadContext, uid: str, action: str = "", member: str = "") -> Response:
    """Why may they, or why not? About oneself unless another member is named."""
    ctx.need_visible(uid)
    who = member or ctx.caller.member
    _need_to_know(ctx, uid, who)
    here = ctx.session.read_view(lambda view: make_ref(view, uid))
    actions = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).actions)
    asked = action if action in actions else actions[0] if actions else ""
    values: dict[str, object] = {
        "it": here,
        "who": VisibleRefs(ctx).ref(who),
        "mine": who == ctx.caller.member,
        "actions": [(each, spoken(each)) for each in actions],
        "answer": _answer(ctx, here, asked, who) if asked else None,
        "knows": change_preview.may_know_holders(ctx, uid),
        "gives": change_preview.gives_roles_on(ctx, uid),
        "crumbs": acting.crumbs(ctx, uid, "Why?"),
        "tabs": acting.tabs(ctx, uid),
        "path": addresses.resource(uid, "why"),
    }
    return pages.page(request, "access/why.html", values)


def _need_to_know(ctx: RequestContext, uid: str, who: str) -> None:
    """About others: who gives roles there, or may ask about others."""
    if who == ctx.caller.member:
        return
    ctx.need_visible(who, "ask about")
    ctx.session.read_view(lambda view: view.member(who))
    if not change_preview.may_know_holders(ctx, uid):
        ctx.need(change_preview.ASK, ctx.caller.tenant)


def _answer(ctx: RequestContext, here: ResourceRef, action: str, who: str) -> Answer:
    mine = who == ctx.caller.member
    found = ctx.session.explain(ctx.asker if mine else who, action, here.uid, viewer=ctx.asker)
    drawn = Drawing(ctx, who, here.uid).held(found) if found.allowed else Missing(ctx, who, here.uid).paths(found)
    seen = VisibleRefs(ctx).ref(who)
    name = "You" if mine else seen.name if seen else who
    sentence = f"{name} may {'' if found.allowed else 'not '}{spoken(action).lower()} {here.name}."
    hidden = not found.allowed and mine and found.hidden_ways
    gates = [_gate(rule) for rule in found.gates]
    return Answer(action, found, sentence, drawn, gates, addresses.request(here.uid, action) if hidden else "")


def _gate(rule: Rule) -> Gate:
    """The gate, and what of it does not hold."""
    missing = [] if rule.held else list(islice(_missing(rule.reason), _MOST_MISSING))
    return Gate(rule.held, _sentence(rule.reason.text), rule.rule, rule.place, missing)


def _missing(reason: Reason) -> Iterator[str]:
    failed = [part for part in reason.parts if not part.held]
    if not failed:
        yield _sentence(reason.text)
    for part in failed:
        yield from _missing(part)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
