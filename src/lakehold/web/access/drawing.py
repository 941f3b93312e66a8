"""Explanations as drawn paths: person → group → grant → layer → table. What the viewer may not see is not named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lakehold.access import Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import HIDDEN
from lakehold.access.decisions.explanation import RulePath as Rule
from lakehold.access.model.policy import GROUP, MEMBER
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web.access import acting, saying
from lakehold.web.access.strands import Alternative, Strand, alternatives
from lakehold.web.icons import icon_of
from lakehold.web.paths import Node, Path
from lakehold.web.words import spoken

MOST_WAYS = 8
_EVERYBODY = "tenant.all_members"

_LEADS = {
    "reads": "read by",
    "writes": "written by",
    "into": "filled by",
    "contexts": "context of",
    "joins": "joined by",
    "uses": "used by",
    "sources": "source of",
    "targets": "target of",
    "gateways": "used by",
    "gateway": "used by",
    "storage": "stores",
    "destination": "receives",
}
"""What a thing is to the one that points at it."""


class Drawing:
    """Draws for one viewer what is about one member and one thing."""

    def __init__(self, ctx: RequestContext, member: str, uid: str) -> None:
        self._ctx = ctx
        self._member = member
        self._here = uid
        self._eyes = VisibleRefs(ctx)

    def held(self, found: Explanation) -> list[Path]:
        """Every way by which it is allowed, as many as can be read."""
        drawn = [path for rule in found.paths for path in self._ways(rule)]
        return list(dict.fromkeys(drawn))[:MOST_WAYS]

    def _ways(self, rule: Rule) -> Iterator[Path]:
        for way in alternatives(rule.reason)[:MOST_WAYS]:
            yield Path(self._nodes(way), rule=f"Rule: {rule.rule}" if rule.rule else "Rule", place=rule.place)

    def _nodes(self, way: Alternative) -> tuple[Node, ...]:
        """Grants from far away first, then what is nearer, then conditions, and the thing itself last."""
        nodes: list[Node] = [self.person(self._member)]
        last = ""
        for strand in sorted(way, key=lambda strand: (strand.grant is None, -len(strand.steps))):
            last = self._append(nodes, *self._strand(strand, nodes))
        return (*nodes, self.thing(self._here, note=last))

    @staticmethod
    def _append(nodes: list[Node], some: list[Node], last: str) -> str:
        """Add what is not there yet. After a gap, what follows is another condition and hangs on nothing before it."""
        gap = False
        for node in some:
            if any(_same(node, other) for other in nodes):
                gap = True
            else:
                nodes.append(replace(node, note="and") if gap else node)
                gap = False
        return "for" if gap else last

    def _strand(self, strand: Strand, before: list[Node]) -> tuple[list[Node], str]:
        """The nodes of one strand without the thing itself, and how the last of them hangs together with it."""
        first = len(before) == 1
        stations = list(self._stations(strand.steps))
        if strand.grant:
            shown = any(_same(self.thing(strand.grant.resource), node) for node in before)
            nodes = [*self._holder(strand, first=first), self._grant(strand.grant, first=first, alone=shown)]
            on = "on"
        else:
            nodes, on = [self._condition(strand, first=first)], "of"
        for uid, onward in reversed(stations):
            nodes.append(self.thing(uid, note=on))
            on = onward
        return nodes, on

    def _stations(self, steps: Sequence[Edge]) -> Iterator[tuple[str, str]]:
        """Where the steps lead to from here, each with what it is to the station before it."""
        at = self._here
        for step in steps:
            ahead = step.source == at
            yield (step.target, self._leads(step)) if ahead else (step.source, "in" if self._is_parent(step) else "to")
            at = step.target if ahead else step.source

    def _leads(self, step: Edge) -> str:
        return "has" if self._is_parent(step) else _LEADS.get(step.name) or f"{saying.humanize(step.name)} of"

    def _is_parent(self, step: Edge) -> bool:
        return self._ctx.session.read_view(lambda view: kinds.schema_of(view, step.source).parent) == step.name

    def _holder(self, strand: Strand, *, first: bool) -> list[Node]:
        """Who holds the grant, where it is not the member themself."""
        if strand.grant is None or strand.grant.subject == self._member:
            return []
        nodes = []
        if strand.group and strand.group.source != self._member:
            nodes.append(self.person(strand.group.source, note="with"))
        kind = self._kind(strand.grant.subject)
        note = "is in" if kind in {GROUP, _EVERYBODY} else "with"
        return [*nodes, self._subject(strand.grant.subject, kind, note if first else "and is in")]

    def _subject(self, uid: str, kind: str, note: str) -> Node:
        if kind in {GROUP, _EVERYBODY}:
            return self.thing(uid, note=note)
        return self.person(uid, note="with")

    def _grant(self, grant: Grant, *, first: bool, alone: bool) -> Node:
        view = self._ctx.view
        title = saying.role_of(view, grant.role, grant.resource)
        label = f"{title} on {saying.name_of(view, grant.resource)}" if alone else title
        return Node("Role", label, "key-round", note="holds" if first or grant.subject != self._member else "and")

    def _condition(self, strand: Strand, *, first: bool) -> Node:
        note = "with" if first else "and"
        if strand.words == HIDDEN:
            return Node("Hidden", HIDDEN.capitalize(), "eye-off", note=note)
        if strand.attribute is None:
            return Node("Condition", self._without_here(strand.words), "check", note=note)
        told = strand.attribute
        return Node("Setting", f"{spoken(told.name)}: {saying.value_of(told.value)}", "sliders-horizontal", note=note)

    def _without_here(self, words: str) -> str:
        named = self._ctx.session.read_view(lambda view: saying.describe_resource(view, self._here))
        return words.removesuffix(f" on {named}")

    def _kind(self, uid: str) -> str:
        return self._ctx.session.read_view(lambda view: view.kind(view.resource(uid)))

    # Single nodes

    def person(self, uid: str, *, note: str = "", held: bool = True) -> Node:
        """A member."""
        seen = self._eyes.ref(uid)
        if seen is None:
            return Node("Hidden", "Somebody", "eye-off", note=note, held=held)
        you = "You" if uid == self._ctx.caller.member else "Person"
        return Node(you, seen.name, icon_of(MEMBER), acting.home_of(self._ctx, uid), note=note, held=held)

    def thing(self, uid: str, *, note: str = "", held: bool = True) -> Node:
        """A resource, or a group."""
        seen = self._eyes.ref(uid)
        if seen is None:
            return Node("Hidden", HIDDEN.capitalize(), "eye-off", note=note, held=held)
        title = self._ctx.session.read_view(lambda view: saying.title_of(view, uid))
        title = "Group" if seen.kind == _EVERYBODY else title
        return Node(title, seen.name, icon_of(seen.kind), acting.home_of(self._ctx, uid), held, note)


def _same(node: Node, other: Node) -> bool:
    return (node.kind, node.label, node.href) == (other.kind, other.label, other.href)
