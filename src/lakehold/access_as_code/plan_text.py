"""A plan as text: the changes of each entry, and their effects on people."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.facts.descriptions import describe_in_entry
from lakehold.access.facts.records import Add, Adopt, Edge, Fact, Remove, mentioned_ids
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import MEMBER_OF
from lakehold.access_as_code.file_format import TimeSpan
from lakehold.access_as_code.plan import ChangePlan
from lakehold.access_as_code.steps import Create, Delete, MakeChange, Rename, Step
from lakehold.access_as_code.yaml_writer import flow_value

_LONGEST = 100


@dataclass(slots=True)
class _Block:
    """An entry, and the lines of its changes."""

    sign: str
    lines: list[str] = field(default_factory=list)


def render_plan(plan: ChangePlan, *, rows: bool = False) -> str:
    """Return the plan as a diff. With `rows`, it lists every single effect on a member."""
    if plan.is_empty:
        return "\n".join(("No changes: the tenant matches the files.", *plan.notes, *_warnings(plan))) + "\n"
    parts = [*_changes(plan), "", _summary(plan), *plan.notes]
    if plan.effects is not None:
        parts += ["", *_effects(plan.effects, rows=rows)]
    if plan.later:
        parts.append(f"{plan.later} of the facts begin later; their effects are not counted.")
    parts += _warnings(plan)
    return "\n".join(parts) + "\n"


def _warnings(plan: ChangePlan) -> Iterator[str]:
    missing = [f"{uid}: {', '.join(names)}" for uid, names in plan.missing_credentials.items()]
    for title, lines in (
        ("Credentials to enter again:", missing),
        ("WARNING: by applying this, you lose:", plan.applier_losses),
        ("This cannot be applied:", plan.refusals),
    ):
        if lines:
            yield from ("", title, *(f"  {line}" for line in lines))


def _changes(plan: ChangePlan) -> Iterator[str]:
    blocks: dict[str, _Block] = {}
    for step in plan.steps:
        if isinstance(step, MakeChange) and isinstance(step.change, Adopt):
            yield f"~ model {parse_model(step.change.source).name}"
        else:
            _add_step(blocks, step, plan.tenant)
    for uid, metadata in plan.metadata.items():
        texts = [f"~ {name} {flow_value(value)[:_LONGEST]}" for name, value in metadata.to_json().items()]
        blocks.setdefault(uid, _Block("~")).lines.extend(texts or ["~ metadata removed"])
    for uid, block in blocks.items():
        kind = plan.kinds.get(uid, "")
        name = plan.names.get(uid, uid)
        yield " ".join(part for part in (block.sign, kind, uid, f'"{name}"' if name != uid else "") if part)
        yield from (f"    {line}" for line in block.lines)


def _add_step(blocks: dict[str, _Block], step: Step, tenant: str) -> None:
    match step:
        case Create(_, uid, _, edges, attributes):
            block = blocks.setdefault(uid, _Block("+"))
            # That it lies in the tenant goes without saying.
            block.lines += [f"+ {edge} {', '.join(ends)}" for edge, ends in edges.items() if ends != (tenant,)]
            block.lines += [f"+ {name} {value}" for name, value in attributes.items()]
        case Rename(uid, name, was):
            blocks.setdefault(uid, _Block("~")).lines.append(f'~ name "{was}" → "{name}"')
        case Delete(_, uid, _):
            blocks.setdefault(uid, _Block("-")).sign = "-"
        case MakeChange(Add(fact), since, until):
            parts = filter(None, (describe_in_entry(fact), str(TimeSpan(since, until))))
            blocks.setdefault(_owner(fact), _Block("~")).lines.append(f"+ {', '.join(parts)}")
        case MakeChange(Remove(fact)):
            blocks.setdefault(_owner(fact), _Block("~")).lines.append(f"- {describe_in_entry(fact)}")


def _owner(fact: Fact) -> str:
    """Return the entry under which files write the fact."""
    return fact.target if isinstance(fact, Edge) and fact.name == MEMBER_OF else mentioned_ids(fact)[0]


def _summary(plan: ChangePlan) -> str:
    steps = Counter(type(step.change) if isinstance(step, MakeChange) else type(step) for step in plan.steps)
    counts = [
        ("thing", "create", steps[Create]),
        ("name", "change", steps[Rename]),
        ("thing", "delete", steps[Delete]),
        ("model", "adopt", steps[Adopt]),
        ("fact", "add", steps[Add]),
        ("fact", "take away", steps[Remove]),
        ("text", "set", len(plan.metadata)),
    ]
    return ", ".join(f"{n} {what}{'s' if n > 1 else ''} to {verb}" for what, verb, n in counts if n) + "."


def _effects(effects: AccessEffects, *, rows: bool) -> Iterator[str]:
    if not effects.groups:
        yield "Nobody gains or loses access."
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
