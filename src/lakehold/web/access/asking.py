"""Asking for access: what exactly is asked for, who will be told, and why one needs it.

What the asker may not see is asked for by its id, and the page is the same whether or not there is such a thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request, Response

from lakehold.access.decisions.evaluator import Explanation
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.catalog import discovery, kinds, request_table, requests
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.web import addresses, pages
from lakehold.web.access.missing import Missing
from lakehold.web.access.nearness import nearest_first
from lakehold.web.access.requests import thing
from lakehold.web.flashes import Flash
from lakehold.web.navigation import Crumb
from lakehold.web.routes import Sent, router
from lakehold.web.words import spoken

routes = router("/requests/new")

_UNSEEN = ("see", "read", "use", "edit", "run")
"""What one can ask for of something that one knows by its id alone: the same for whatever it is."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to ask for, and what can be told of it."""

    uid: str
    name: str
    thing: ResourceRef | None
    """What it is, if one may know that."""
    seen: bool
    action: str
    actions: list[tuple[str, str]]
    found: Explanation | None = None
    ways: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    """What could be given, by its number: as it is sent, in words, and by whom. The nearest comes first."""


@routes.get("")
def new_page(request: Request, ctx: ReadContext, *, resource: str = "", action: str = "", way: int = -1) -> Response:
    """What, and why."""
    wish = _wish(ctx, resource, action)
    first = next(iter(wish.ways.values()), ("",))
    return _form(request, wish, {"way": wish.ways.get(way, first)[0]})


@routes.post("")
def ask(request: Request, ctx: WriteContext, platform: CurrentPlatform, sent: Sent) -> Response:
    """Ask. Who can give it is told."""
    filled = {name: str(sent.get(name) or "") for name in ("resource", "action", "way", "reason")}
    if not filled["resource"].strip() or not filled["action"]:
        return _again(request, ctx, filled, "action", "Choose what you want to do.")
    try:
        facts = request_table.load_facts(filled["way"]) if filled["way"] else None
        told = requests.create(
            ctx,
            filled["action"],
            filled["resource"],
            reason=filled["reason"],
            facts=facts,
            settings=platform.settings,
        )
    except (InvalidInputError, ConflictError, NotFoundError) as error:
        return _again(request, ctx, filled, "reason", str(error))
    except (ValueError, TypeError, KeyError, AttributeError):
        return _again(request, ctx, filled, "way", "Choose one of these.")
    said = f"You asked to {spoken(told.request.action).lower()} {thing(told)}."
    return pages.go(
        request, f"/requests/{told.request.uid}", Flash(said, undo=f"/requests/{told.request.uid}/withdraw")
    )


def _again(request: Request, ctx: RequestContext, filled: dict[str, str], name: str, error: str) -> Response:
    return _form(request, _wish(ctx, filled["resource"], filled["action"]), filled, {name: error})


def _form(request: Request, wish: Wish, filled: dict[str, str], errors: dict[str, str] | None = None) -> Response:
    values: dict[str, object] = {
        "wish": wish,
        "filled": filled,
        "errors": errors or {},
        "why": addresses.why(wish.uid, wish.action) if wish.seen and wish.action else "",
        "back": addresses.of(wish.uid, wish.thing.kind) if wish.seen and wish.thing else "/",
        "crumbs": [Crumb("Requests", "/requests"), Crumb("Request access")],
    }
    return pages.page(request, "access/ask.html", values, status=422 if errors else 200)


def _wish(ctx: RequestContext, uid: str, action: str) -> Wish:
    seen = VisibleRefs(ctx).ref(uid)
    if seen is not None:
        return _of_seen(ctx, seen, action)
    if uid and discovery.is_discoverable(ctx, uid):
        here = discovery.load_ref(ctx, uid)
        known = ctx.session.read_view(lambda view: view.policy.kind(here.kind).schema.actions)
        return Wish(uid, here.name, here, False, action if action in known else "", _options(known))
    known = _UNSEEN if not action or action in _UNSEEN else (*_UNSEEN, action)
    return Wish(uid, uid, None, False, action, _options(known))


def _of_seen(ctx: RequestContext, here: ResourceRef, action: str) -> Wish:
    known = ctx.session.read_view(lambda view: kinds.schema_of(view, here.uid).actions)
    may = set(ctx.session.actions(ctx.asker, here.uid))
    options = _options(tuple(each for each in known if each not in may or each == action))
    if action not in known:
        return Wish(here.uid, here.name, here, True, "", options)
    found = ctx.session.explain(ctx.asker, action, here.uid)
    missing = Missing(ctx, ctx.caller.member, here.uid)
    ways = {}
    for n, way in nearest_first(ctx, here.uid, found.ways):
        facts = request_table.way_facts(way)
        words = " and ".join(missing.words(fact) for fact in facts)
        givers = missing.givers(way)
        told = f"{' or '.join(givers)} could give it" if givers else ""
        ways[n] = (request_table.dump_facts(facts), words[:1].upper() + words[1:], told)
    return Wish(here.uid, here.name, here, True, action, options, found, ways)


def _options(actions: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(each, spoken(each)) for each in actions]
