"""The kinds of models that stand on each other, with the ends of their edges looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.access.model.errors import ModelError, Place, did_you_mean
from lakehold.access.model.expressions import Step
from lakehold.access.model.schema import Kind, Model


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """A kind with the ends of its edges resolved."""

    schema: Kind
    steps: Mapping[str, Step]
    parent: Step | None
    everyone: tuple[Step, ...] | None
    """The way to the resource whose role holders the group All means here; None: everybody in the tenant."""

    @property
    def id(self) -> str:
        """`marts.data_mart`."""
        return self.schema.id


def _find(models: Mapping[str, Model], model: Model, kind: str, place: Place) -> str:
    for name in (model.name, *model.extends):
        if kind in models[name].kinds:
            return f"{name}.{kind}"
    known = {kind for name in (model.name, *model.extends) for kind in models[name].kinds}
    other = next((name for name in models if kind in models[name].kinds), None)
    hint = f"It is a kind of {other!r}: add that to `extends:`." if other else did_you_mean(kind, known)
    raise ModelError(place, f"no kind {kind!r}.", hint)


def kinds_of(models: Mapping[str, Model]) -> dict[str, KindPolicy]:
    """Every kind of every model, by its id."""
    steps: dict[str, dict[str, Step]] = {}
    for model in models.values():
        for kind in model.kinds.values():
            steps[kind.id] = {
                edge.name: Step(edge.name, False, tuple(_find(models, model, to, to.place) for to in edge.to))
                for edge in kind.edges.values()
            }
    for model in models.values():
        for kind in model.kinds.values():
            _add_back_steps(kind, steps)
    kinds: dict[str, KindPolicy] = {}
    for model in models.values():
        for kind in model.kinds.values():
            parent = steps[kind.id][kind.parent] if kind.parent else None
            kinds[kind.id] = KindPolicy(kind, steps[kind.id], parent, _everyone(model, kind, steps))
    return kinds


def _add_back_steps(kind: Kind, steps: dict[str, dict[str, Step]]) -> None:
    for edge in kind.edges.values():
        if edge.back is None:
            continue
        for target in steps[kind.id][edge.name].kinds:
            there = steps[target].get(edge.back)
            if there is None:
                steps[target][edge.back] = Step(edge.name, True, (kind.id,))
            elif there.back and there.edge == edge.name:
                steps[target][edge.back] = Step(edge.name, True, (*there.kinds, kind.id))
            else:
                raise ModelError(edge.place, f"{target} already has an edge {edge.back!r}.", "Choose another name.")


def _everyone(model: Model, kind: Kind, steps: Mapping[str, Mapping[str, Step]]) -> tuple[Step, ...] | None:
    if model.everyone is None:
        return None
    way: list[Step] = []
    here = kind
    while here.name != model.everyone:
        step = steps[here.id][here.parent] if here.parent else None
        if step is None or len(step.kinds) != 1 or step.kinds[0].split(".")[0] != model.name or len(way) > len(steps):
            raise ModelError(
                kind.place,
                f"{kind.name!r} does not lie in a {model.everyone!r}, whose members the group All means.",
                "Give it an `in:` that leads there.",
            )
        way.append(step)
        here = model.kinds[step.kinds[0].split(".")[1]]
    return tuple(way)
