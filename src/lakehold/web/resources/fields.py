"""Form fields of a kind: its parent, its other edges, and its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.access.model.schema import EdgeKind, KindSchema
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.web.labels import humanize

MAX_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class EdgeField:
    """A field for an edge, with one or several ends."""

    name: str
    label: str
    many: bool
    required: bool
    options: list[tuple[str, str]]
    value: Sequence[str]


@dataclass(frozen=True, slots=True)
class ResourceAttributeField:
    """A field for an attribute: a flag, or one of its values."""

    name: str
    label: str
    is_flag: bool
    options: list[tuple[str, str]]
    value: str


def edge_fields(
    ctx: RequestContext, kind: KindSchema, chosen: Mapping[str, Sequence[str]], within: str = ""
) -> list[EdgeField]:
    """Return the edge fields of a kind, its parent first. Without a workspace, they offer all visible resources."""
    edges = sorted(kind.edges.values(), key=lambda edge: edge.name != kind.parent)
    return [_edge_field(ctx, kind, edge, chosen.get(edge.name, ()), within) for edge in edges]


def attribute_fields(kind: KindSchema, chosen: Mapping[str, str]) -> list[ResourceAttributeField]:
    """Return the attribute fields of a kind that can be set."""
    return [
        ResourceAttributeField(
            name,
            humanize(name),
            attribute.is_flag,
            [(value, humanize(value)) for value in attribute.values],
            chosen.get(name, attribute.default),
        )
        for name, attribute in kind.attributes.items()
        if attribute.set_with and name != kinds.DELETED
    ]


def parse_edges(kind: KindSchema, sent: FormData) -> dict[str, str | list[str]]:
    """Parse the chosen ends of each edge from a form: a list for an edge with several ends, a single id otherwise."""
    found: dict[str, str | list[str]] = {}
    for name, edge in kind.edges.items():
        ends = [end for end in map(str, sent.getlist(f"edge_{name}")) if end]
        if edge.many:
            found[name] = ends
        elif ends:
            found[name] = ends[0]
    return found


def parse_attributes(kind: KindSchema, sent: FormData) -> dict[str, str | bool]:
    """Parse the attributes from a form; a box that is not ticked is off."""
    found: dict[str, str | bool] = {}
    for field in attribute_fields(kind, {}):
        given = sent.get(f"value_{field.name}")
        if field.is_flag:
            found[field.name] = given is not None
        elif given is not None:
            found[field.name] = str(given)
    return found


def _edge_field(ctx: RequestContext, kind: KindSchema, edge: EdgeKind, chosen: Sequence[str], within: str) -> EdgeField:
    is_parent = edge.name == kind.parent
    options = [pair for to in edge.to for pair in _edge_options(ctx, kind.model, to, within)]
    return EdgeField(edge.name, humanize(edge.name), edge.many, is_parent, options, chosen)


def _edge_options(ctx: RequestContext, model: str, to: str, within: str) -> list[tuple[str, str]]:
    kind = f"{model}.{to}"
    if kind not in ctx.view.policy.kinds:
        return []
    is_root = ctx.view.policy.models[model].root == to
    sight = ctx.view.policy.kind(kind).schema.visible
    place = None if is_root or not within else within
    # Names alone: what one may do with each of hundreds takes longer than the rest of the page.
    found = ctx.session.list(ctx.principal, sight, kind, within=place, limit=MAX_OPTIONS)
    return [(item.uid, item.name) for item in found.items if not is_root or not within or item.uid == within]
