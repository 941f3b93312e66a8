"""Draws explanations as paths: member → group → grant → layer → table.

A reason is a tree. It is first split into alternatives, each a few conditions that hold together; then each alternative
is drawn as one path. What the viewer may not see is not named.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import HIDDEN, Reason
from lakehold.access.facts.descriptions import describe_attribute, describe_resource, role_title
from lakehold.access.model.policy import GROUP, MEMBER_OF
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web.access import fact_labels, resource_header
from lakehold.web.components import AccessPath, AccessPathNode
from lakehold.web.labels import capitalize, icon_of
from lakehold.workspaces.registry import find_workspace

_MAX_ALTERNATIVES = 200
_NONE_OF = re.compile(r"not: any of the (.+) of .+")


@dataclass(frozen=True, slots=True)
class PathCondition:
    """One condition of a path: a grant, an attribute, or a condition described as text."""

    steps: tuple[Edge, ...]
    """From the resource in question to the one on which the grant or attribute is set."""
    grant: Grant | None = None
    group: Edge | None = None
    """The place in the group that holds the grant."""
    attribute: Attribute | None = None
    words: str = ""


PathAlternative = tuple[PathCondition, ...]


def list_alternatives(reason: Reason) -> list[PathAlternative]:
    """Return the alternatives of a reason that held, shortest first, without those that contain a cycle."""
    found = dict.fromkeys(islice(_walk_reason(reason, ()), _MAX_ALTERNATIVES))
    straight = [way for way in found if not any(_has_cycle(strand) for strand in way)]
    return sorted(straight or found, key=_alternative_length)


def _walk_reason(reason: Reason, way: tuple[Edge, ...]) -> Iterator[PathAlternative]:
    steps = (*way, *(fact for fact in reason.facts if isinstance(fact, Edge) and fact.name != MEMBER_OF))
    held = [part for part in reason.parts if part.held]
    own = list(_own_conditions(reason, steps))
    if own:
        yield from ((strand,) for strand in own)
    elif not held:
        yield (PathCondition(steps, words=_condition_label(reason.text)),)
    elif reason.together:
        for chosen in product(*(list(islice(_walk_reason(part, steps), _MAX_ALTERNATIVES)) for part in held)):
            yield tuple(dict.fromkeys(strand for some in chosen for strand in some))
    else:
        for part in held:
            yield from _walk_reason(part, steps)


def _own_conditions(reason: Reason, steps: tuple[Edge, ...]) -> Iterator[PathCondition]:
    """Yield a condition for each grant of the reason, any of which suffices, or for its attribute."""
    place: Edge | None = None
    for fact in reason.facts:
        match fact:
            case Edge(name) if name == MEMBER_OF:
                place = fact
            case Grant(subject):
                yield PathCondition(steps, fact, place if place and place.target == subject else None)
            case Attribute():
                yield PathCondition(steps, attribute=fact)
            case _:
                pass


def _condition_label(text: str) -> str:
    if none_of := _NONE_OF.fullmatch(text):
        return f"No {none_of[1]}"
    return capitalize(text.removeprefix("not: ")) if text != HIDDEN else HIDDEN


def _has_cycle(strand: PathCondition) -> bool:
    been = [uid for step in strand.steps for uid in (step.source, step.target)]
    # A way of n steps that goes straight on has n + 1 stations.
    return bool(strand.steps) and len(set(been)) <= len(strand.steps)


def _alternative_length(way: PathAlternative) -> int:
    return sum(len(strand.steps) + 1 + (strand.group is not None) for strand in way)


MAX_PATHS = 8
_EVERYBODY = "tenant.all_members"


class PathDrawing:
    """Draws the paths between one member and one resource for one viewer."""

    def __init__(self, ctx: RequestContext, member: str, uid: str) -> None:
        self._ctx = ctx
        self._member = member
        self._here = uid
        self._visible = VisibleRefs(ctx)

    def draw_allowed(self, found: Explanation) -> list[AccessPath]:
        """Draw the paths by which the action is allowed, up to a limit."""
        drawn = [
            AccessPath(self._nodes(way), rule=f"Rule: {rule.rule}" if rule.rule else "Rule", place=rule.place)
            for rule in found.paths
            for way in list_alternatives(rule.reason)[:MAX_PATHS]
        ]
        return list(dict.fromkeys(drawn))[:MAX_PATHS]

    def _nodes(self, way: PathAlternative) -> tuple[AccessPathNode, ...]:
        """Return the nodes of a path: distant grants, then nearer ones, then conditions, and the resource last."""
        nodes: list[AccessPathNode] = [self.person_node(self._member)]
        last = ""
        for strand in sorted(way, key=lambda strand: (strand.grant is None, -len(strand.steps))):
            last = self._append(nodes, *self._condition_nodes(strand, nodes))
        return (*nodes, self.resource_node(self._here, note=last))

    @staticmethod
    def _append(nodes: list[AccessPathNode], some: list[AccessPathNode], last: str) -> str:
        """Append the nodes that are not there yet. After a gap, the next node begins another condition."""
        gap = False
        for node in some:
            if any(_is_same_node(node, other) for other in nodes):
                gap = True
            else:
                nodes.append(replace(node, note="and") if gap else node)
                gap = False
        return "for" if gap else last

    def _condition_nodes(self, strand: PathCondition, before: list[AccessPathNode]) -> tuple[list[AccessPathNode], str]:
        """Return the nodes of one condition without the resource, and how the last of them relates to it."""
        first = len(before) == 1
        if strand.grant:
            is_drawn = any(_is_same_node(self.resource_node(strand.grant.resource), node) for node in before)
            last = self._grant_node(strand.grant, first=first, alone=is_drawn)
            nodes, on = [*self._holder_nodes(strand, first=first), last], "on"
        else:
            nodes, on = [self._attribute_node(strand, first=first)], "of"
        for uid, onward in reversed(list(self._step_resources(strand.steps))):
            nodes.append(self.resource_node(uid, note=on))
            on = onward
        return nodes, on

    def _step_resources(self, steps: Sequence[Edge]) -> Iterator[tuple[str, str]]:
        """Yield the resources that the steps lead to, each with its relation to the one before."""
        at = self._here
        for step in steps:
            ahead = step.source == at
            is_parent = kinds.schema_of(self._ctx.view, step.source).parent == step.name
            if ahead:
                yield step.target, "has" if is_parent else self._edge_label(step)
            else:
                yield step.source, "in" if is_parent else "to"
            at = step.target if ahead else step.source

    def _edge_label(self, step: Edge) -> str:
        """Return what the end of an edge is to the resource that points at it: read by, source of."""
        workspace = find_workspace(self._ctx.view.kind(self._ctx.view.resource(step.source)))
        known = workspace.edge_labels.get(step.name) if workspace else None
        return known or f"{step.name.replace('_', ' ')} of"

    def _holder_nodes(self, strand: PathCondition, *, first: bool) -> list[AccessPathNode]:
        """Return the nodes of the grant's holder, if it is not the member."""
        if strand.grant is None or strand.grant.subject == self._member:
            return []
        nodes = []
        if strand.group and strand.group.source != self._member:
            nodes.append(self.person_node(strand.group.source, note="with"))
        holder = strand.grant.subject
        if self._ctx.view.kind(self._ctx.view.resource(holder)) in {GROUP, _EVERYBODY}:
            return [*nodes, self.resource_node(holder, note="is in" if first else "and is in")]
        return [*nodes, self.person_node(holder, note="with")]

    def _grant_node(self, grant: Grant, *, first: bool, alone: bool) -> AccessPathNode:
        title = role_title(self._ctx.view, grant.role, grant.resource)
        label = f"{title} on {fact_labels.resource_name(self._ctx, grant.resource)}" if alone else title
        note = "holds" if first or grant.subject != self._member else "and"
        return AccessPathNode("Role", label, "key-round", note=note)

    def _attribute_node(self, strand: PathCondition, *, first: bool) -> AccessPathNode:
        note = "with" if first else "and"
        if strand.words == HIDDEN:
            return AccessPathNode("Hidden", HIDDEN.capitalize(), "eye-off", note=note)
        if strand.attribute is None:
            named = self._ctx.session.read_view(lambda view: describe_resource(view, self._here))
            return AccessPathNode("Condition", strand.words.removesuffix(f" on {named}"), "check", note=note)
        return self.setting_node(strand.attribute, note)

    # Single nodes

    @staticmethod
    def setting_node(attribute: Attribute, note: str, *, held: bool = True) -> AccessPathNode:
        """Return the node of a setting with its value."""
        label = capitalize(describe_attribute(attribute))
        return AccessPathNode("Setting", label, "sliders-horizontal", held=held, note=note)

    def person_node(self, uid: str, *, note: str = "") -> AccessPathNode:
        """Return the node of a member."""
        you = "You" if uid == self._ctx.caller.member else "Person"
        return self._visible_node(uid, "Somebody", note, title=you)

    def resource_node(self, uid: str, *, note: str = "", held: bool = True) -> AccessPathNode:
        """Return the node of a resource or group."""
        return self._visible_node(uid, HIDDEN.capitalize(), note, held=held)

    def _visible_node(self, uid: str, hidden: str, note: str, *, title: str = "", held: bool = True) -> AccessPathNode:
        """Return the node of a resource; if the viewer may not see it, a node with the text `hidden`."""
        seen = self._visible.ref(uid)
        if seen is None:
            return AccessPathNode("Hidden", hidden, "eye-off", note=note, held=held)
        kind = "Group" if seen.kind == _EVERYBODY else self._ctx.view.policy.kinds[seen.kind].schema.title
        href = resource_header.overview_url(self._ctx, uid)
        return AccessPathNode(title or kind, seen.name, icon_of(seen.kind), href, held, note)


def _is_same_node(node: AccessPathNode, other: AccessPathNode) -> bool:
    return (node.kind, node.label, node.href) == (other.kind, other.label, other.href)
