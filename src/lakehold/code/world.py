"""A company in memory: files can be asked without a database or a server."""

from __future__ import annotations

from lakehold.access.facts.records import Attribute, Edge, Grant
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, FactView, GrantRow, ResourceRow
from lakehold.code.company import Company, Held
from lakehold.kit.clock import Moment


def view_at(company: Company, at: Moment) -> FactView:
    """The facts that hold at a moment. Everything is known by the names that files give it."""
    view = FactView(company.policy)
    numbers = {ref: number for number, ref in enumerate(company.things, 1)}
    for ref, thing in company.things.items():
        view.open(ResourceRow(numbers[ref], ref, thing.kind, thing.name))
    for held in company.facts:
        if held.span.covers(at):
            view.open(_row(held, numbers))
    view.touch()
    return view


def _row(held: Held, numbers: dict[str, int]) -> FactRow:
    match held.fact:
        case Grant(subject, role, resource):
            return GrantRow(numbers[subject], role, numbers[resource])
        case Edge(name, source, target):
            return EdgeRow(name, numbers[source], numbers[target])
        case Attribute(resource, name, value, member):
            return AttributeRow(numbers[resource], numbers[member] if member else 0, name, value)
