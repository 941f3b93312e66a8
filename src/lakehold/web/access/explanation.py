"""The page that explains one decision: by which paths a member may do something, or what is missing."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from fastapi import Request, Response

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import Reason, RulePath
from lakehold.access.decisions.ways import MissingFact, Way, rank_ways
from lakehold.access.facts.descriptions import describe_fact, role_title
from lakehold.access.facts.records import Fact
from lakehold.access.model.policy import MEMBER_OF
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.access.access_page import page_frame
from lakehold.web.access.explain_paths import PathDrawing
from lakehold.web.components import AccessPath, AccessPathNode
from lakehold.web.labels import capitalize, format_count, humanize
from lakehold.web.routing import router


class MissingAccess(PathDrawing):
    """The paths to a right that a member does not have, with what is missing and who could give it."""

    def draw_paths(self, found: Explanation) -> list[AccessPath]:
        """Draw each way to the right that somebody can grant; the member themself can request it."""
        ways = rank_ways(self._ctx.view, self._here, found.ways)
        return [self._draw_path(found, way, n) for n, way in ways if way.is_grantable]

    def describe_givers(self, way: Way) -> tuple[str, ...]:
        """Name those who could give everything that is missing; where nobody could alone, who could give which part."""
        names = [self._giver_names(needed) for needed in way.needed]
        common = [name for name in names[0] if all(name in others for others in names[1:])]
        if common or len(way.needed) == 1:
            return tuple(common)
        return tuple(
            f"{' or '.join(some)} ({describe_fact(self._ctx.view, needed.fact, self._member)})"
            for needed, some in zip(way.needed, names, strict=True)
            if some
        )

    def _draw_path(self, found: Explanation, way: Way, n: int) -> AccessPath:
        mine = self._member == self._ctx.caller.member
        request_url = f"{urls.request(self._here, found.action)}&way={n}" if mine else ""
        return AccessPath(tuple(self._draw_nodes(way)), givers=self.describe_givers(way), request=request_url)

    def _draw_nodes(self, way: Way) -> Iterator[AccessPathNode]:
        yield self.person_node(self._member)
        drawn: set[str] = {self._here}
        note = "of"
        for needed in sorted(way.needed, key=lambda each: -len(self._chain(each.fact))):
            again = len(drawn) > 1
            node = self._missing_node(needed.fact)
            yield replace(node, note=f"and {node.note}") if again else node
            note = "on" if isinstance(needed.fact, Grant) else "to" if isinstance(needed.fact, Edge) else "of"
            for uid in self._chain(needed.fact):
                if uid not in drawn:
                    drawn.add(uid)
                    yield self.resource_node(uid, note=note)
                    note = "has"
        yield self.resource_node(self._here, note=note)

    def _missing_node(self, fact: Fact) -> AccessPathNode:
        match fact:
            case Grant(subject, role, resource):
                title = role_title(self._ctx.view, role, resource)
                whose = "" if subject == self._member else f" for {self._name(subject)}"
                return AccessPathNode("Role", f"{title}{whose}", "key-round", held=False, note="needs")
            case Edge(name, source, target) if name == MEMBER_OF:
                whose = "requires membership in" if source == self._member else f"{self._name(source)} in"
                return self.resource_node(target, note=whose, held=False)
            case Edge(name, _, target):
                return AccessPathNode(humanize(name), self._name(target), "link", held=False, note="needs")
            case Attribute():
                return self.setting_node(fact, "needs", held=False)

    def _chain(self, fact: Fact) -> list[str]:
        """Return the resources from the one that the fact is about down to the explained one."""
        if isinstance(fact, Edge):
            return [] if fact.name == MEMBER_OF else [fact.source]
        above = [self._here, *resource_header.ancestors(self._ctx.view, self._here)]
        return list(reversed(above[: above.index(fact.resource) + 1])) if fact.resource in above else [fact.resource]

    def _giver_names(self, needed: MissingFact) -> list[str]:
        seen = [self._visible.ref(giver) for giver in needed.givers]
        me = self._ctx.caller.member
        names = [each.name for each in seen if each and each.uid != me]
        names = ["You", *names] if any(each and each.uid == me for each in seen) else names
        # Whom one may not see is not counted either.
        more = needed.more_givers if len(names) == len(needed.givers) else 0
        return [*names, format_count(more, "other")] if more else names

    def _name(self, uid: str) -> str:
        seen = self._visible.ref(uid)
        return seen.name if seen else "somebody"


routes = router()

_MAX_UNMET = 4

ExplanationGate = tuple[RulePath, str, list[str]]
"""A condition that every path has to pass, as text, with its own conditions that do not hold."""


@routes.get("/resources/{uid:path}/why")
def why_page(request: Request, ctx: ReadContext, uid: str, action: str = "", member: str = "") -> Response:
    """Render the explanation for the caller, or for another member."""
    ctx.need_visible(uid)
    who = member or ctx.caller.member
    _check_may_explain(ctx, uid, who)
    actions = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).actions)
    chosen_action = action if action in actions else actions[0] if actions else ""
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Why?"),
        "who": VisibleRefs(ctx).ref(who),
        "mine": who == ctx.caller.member,
        "actions": actions,
        "answer": _explain(ctx, uid, chosen_action, who) if chosen_action else None,
        "knows": change_preview.may_know_holders(ctx, uid),
        "gives": change_preview.gives_roles_on(ctx, uid),
        "path": urls.resource(uid, "why"),
    }
    return pages.render(request, "access/why.html", values)


def _check_may_explain(ctx: RequestContext, uid: str, who: str) -> None:
    """Check that the caller may ask about another member: they give roles there, or may ask about others."""
    if who == ctx.caller.member:
        return
    ctx.need_visible(who, "ask about")
    ctx.session.read_view(lambda view: view.member(who))
    if not change_preview.may_know_holders(ctx, uid):
        ctx.need(change_preview.ASK, ctx.caller.tenant)


def _explain(ctx: RequestContext, uid: str, action: str, who: str) -> dict[str, object]:
    """Return an explanation with everything that its page displays."""
    principal = ctx.principal if who == ctx.caller.member else who
    found = ctx.session.explain(principal, action, uid, viewer=ctx.principal)
    drawing = MissingAccess(ctx, who, uid)
    return {
        "action": action,
        "found": found,
        "ways": drawing.draw_allowed(found) if found.allowed else drawing.draw_paths(found),
        "gates": [_explain_gate(rule) for rule in found.gates],
    }


def _explain_gate(rule: RulePath) -> ExplanationGate:
    """Return the gate with its conditions that do not hold."""
    missing = [] if rule.held else list(islice(_unmet_conditions(rule.reason), _MAX_UNMET))
    return rule, capitalize(rule.reason.text), missing


def _unmet_conditions(reason: Reason) -> Iterator[str]:
    failed = [part for part in reason.parts if not part.held]
    if not failed:
        yield capitalize(reason.text)
    for part in failed:
        yield from _unmet_conditions(part)
