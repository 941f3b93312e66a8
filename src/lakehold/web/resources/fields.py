"""What a kind has, as the fields of a form: what it lies in, where it points, and the values that it can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.access.model.schema import EdgeKind, KindSchema
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.web.words import spoken

MOST_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class Pointer:
    """An edge: one of these, or some of them."""

    name: str
    label: str
    many: bool
    required: bool
    options: list[tuple[str, str]]
    value: Sequence[str]


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute: on or off, or one of its values."""

    name: str
    label: str
    is_flag: bool
    options: list[tuple[str, str]]
    value: str


def pointers(
    ctx: RequestContext, kind: KindSchema, chosen: Mapping[str, Sequence[str]], within: str = ""
) -> list[Pointer]:
    """The edges of the kind, what it lies in first. Without a workspace to look in, all that the caller sees."""
    edges = sorted(kind.edges.values(), key=lambda edge: edge.name != kind.parent)
    return [_pointer(ctx, kind, edge, chosen.get(edge.name, ()), within) for edge in edges]


def values(kind: KindSchema, chosen: Mapping[str, str]) -> list[Value]:
    """The attributes of the kind that somebody can set."""
    return [
        Value(
            name,
            spoken(name),
            attribute.is_flag,
            [(value, spoken(value)) for value in attribute.values],
            chosen.get(name, attribute.default),
        )
        for name, attribute in kind.attributes.items()
        if attribute.set_with and name != kinds.DELETED
    ]


def sent_edges(kind: KindSchema, sent: FormData) -> dict[str, str | list[str]]:
    """The ends that were chosen. One that is there once is named as one."""
    found: dict[str, str | list[str]] = {}
    for name, edge in kind.edges.items():
        ends = [end for end in map(str, sent.getlist(f"edge_{name}")) if end]
        if edge.many:
            found[name] = ends
        elif ends:
            found[name] = ends[0]
    return found


def sent_values(kind: KindSchema, sent: FormData) -> dict[str, str | bool]:
    """The values that were chosen; a box that is not ticked is off."""
    found: dict[str, str | bool] = {}
    for field in values(kind, {}):
        given = sent.get(f"value_{field.name}")
        if field.is_flag:
            found[field.name] = given is not None
        elif given is not None:
            found[field.name] = str(given)
    return found


def _pointer(ctx: RequestContext, kind: KindSchema, edge: EdgeKind, chosen: Sequence[str], within: str) -> Pointer:
    is_parent = edge.name == kind.parent
    options = [pair for to in edge.to for pair in _options(ctx, kind.model, to, within)]
    return Pointer(edge.name, spoken(edge.name), edge.many, is_parent, options, chosen)


def _options(ctx: RequestContext, model: str, to: str, within: str) -> list[tuple[str, str]]:
    kind = f"{model}.{to}"
    if kind not in ctx.view.policy.kinds:
        return []
    is_root = ctx.view.policy.models[model].root == to
    sight = ctx.view.policy.kind(kind).schema.visible
    place = None if is_root or not within else within
    # Names alone: what one may do with each of hundreds takes longer than the rest of the page.
    found = ctx.session.list(ctx.asker, sight, kind, within=place, limit=MOST_OPTIONS)
    return [(item.uid, item.name) for item in found.items if not is_root or not within or item.uid == within]
