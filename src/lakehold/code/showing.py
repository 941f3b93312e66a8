"""A plan as people read it: what changes, thing by thing, and what it does to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.records import Add, Adopt, Attribute, Edge, Fact, Grant, Remove, mentioned_ids
from lakehold.access.model.policy import MEMBER_OF
from lakehold.code.differences import model_name
from lakehold.code.emit import flow
from lakehold.code.plans import Plan
from lakehold.code.steps import Create, Delete, Make, Rename, Step
from lakehold.code.times import Span
from lakehold.code.told import Told

_LONGEST = 100


@dataclass(slots=True)
class _Block:
    """A thing, and what changes about it."""

    sign: str
    lines: list[str] = field(default_factory=list)


def text(plan: Plan, *, rows: bool = False) -> str:
    """The plan as a diff. With `rows`, every single effect on a member is told too."""
    if plan.is_empty:
        return "\n".join(("Nothing to do: the tenant is what the files say.", *plan.notes)) + "\n"
    parts = [*_changes(plan), "", _summary(plan), *plan.notes]
    if plan.effects is not None:
        parts += ["", *_effects(plan.effects, rows=rows)]
    if plan.later:
        parts.append(f"{plan.later} of the facts begin later; what they will do is not counted.")
    return "\n".join(parts) + "\n"


def _changes(plan: Plan) -> Iterator[str]:
    blocks: dict[str, _Block] = {}
    for step in plan.steps:
        if isinstance(step, Make) and isinstance(step.change, Adopt):
            yield f"~ model {model_name(step.change.source)}"
        else:
            _note(blocks, step, plan.tenant)
    for uid, told in plan.told.items():
        _block(blocks, uid, "~").lines.extend(f"~ {line}" for line in _told(told))
    for uid, block in blocks.items():
        kind = plan.kinds.get(uid, "")
        name = plan.names.get(uid, uid)
        yield " ".join(part for part in (block.sign, kind, uid, f'"{name}"' if name != uid else "") if part)
        yield from (f"    {line}" for line in block.lines)


def _told(told: Told) -> list[str]:
    return [f"{name} {flow(value)[:_LONGEST]}" for name, value in told.to_json().items()] or ["nothing more is told"]


def _block(blocks: dict[str, _Block], uid: str, sign: str) -> _Block:
    return blocks.setdefault(uid, _Block(sign))


def _note(blocks: dict[str, _Block], step: Step, tenant: str) -> None:
    match step:
        case Create(_, uid, _, edges, attributes):
            block = _block(blocks, uid, "+")
            # That it lies in the tenant goes without saying.
            block.lines += [f"+ {edge} {', '.join(ends)}" for edge, ends in edges.items() if ends != (tenant,)]
            block.lines += [f"+ {name} {value}" for name, value in attributes.items()]
        case Rename(uid, name, was):
            _block(blocks, uid, "~").lines.append(f'~ name "{was}" → "{name}"')
        case Delete(_, uid, _):
            _block(blocks, uid, "-").sign = "-"
        case Make(Add(fact), since, until):
            span = str(Span(since, until))
            _block(blocks, _owner(fact), "~").lines.append(f"+ {_said(fact)}{', ' if span else ''}{span}")
        case Make(Remove(fact)):
            _block(blocks, _owner(fact), "~").lines.append(f"- {_said(fact)}")


def _owner(fact: Fact) -> str:
    """The thing under which files say it."""
    return fact.target if isinstance(fact, Edge) and fact.name == MEMBER_OF else mentioned_ids(fact)[0]


def _said(fact: Fact) -> str:
    match fact:
        case Grant(subject, role, _):
            return f"{role} {subject}"
        case Edge(name, source, target):
            return f"member {source}" if name == MEMBER_OF else f"{name} {target}"
        case Attribute(_, name, value, None):
            return f"{name} {value}"
        case Attribute(_, name, value, member):
            return f"{name} {value} of {member}"


def _summary(plan: Plan) -> str:
    steps = plan.steps
    changes = [step.change for step in steps if isinstance(step, Make)]
    parts = _counted("thing", "create", sum(isinstance(step, Create) for step in steps))
    parts += _counted("name", "change", sum(isinstance(step, Rename) for step in steps))
    parts += _counted("thing", "delete", sum(isinstance(step, Delete) for step in steps))
    parts += _counted("model", "adopt", sum(isinstance(change, Adopt) for change in changes))
    parts += _counted("fact", "add", sum(isinstance(change, Add) for change in changes))
    parts += _counted("fact", "take away", sum(isinstance(change, Remove) for change in changes))
    parts += _counted("text", "set", len(plan.told))
    return ", ".join(parts) + "."


def _counted(what: str, verb: str, number: int) -> list[str]:
    return [f"{number} {what}{'s' if number > 1 else ''} to {verb}"] if number else []


def _effects(effects: AccessEffects, *, rows: bool) -> Iterator[str]:
    if not effects.groups:
        yield "Nobody wins or loses anything by it."
        return
    action = max(len("action"), *(len(group.action) for group in effects.groups))
    kind = max(len("on"), *(len(group.kind) for group in effects.groups))
    yield f"      {'action':{action}}  {'on':{kind}}  members  resources"
    for group in effects.groups:
        sign = "gain" if group.gained else "lose"
        yield f"{sign}  {group.action:{action}}  {group.kind:{kind}}  {group.members:7,}  {group.resources:9,}"
    if rows:
        yield ""
        for effect in sorted(effects.rows()):
            yield f"{'gain' if effect.gained else 'lose'}  {effect.member}  {effect.action}  {effect.resource}"
