"""The plan of a run: its steps, frozen with their settings when it begins, and the authors of what each executes."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from pydantic import ValidationError

from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import adapter_of
from lakehold.runs.authors import load_authors, need_authors
from lakehold.runs.runnable import Runnable, RunOptions, Step


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a run, and the authors of what it executes."""

    step: Step
    authors: tuple[Caller, ...]


RunPlan = Sequence[PlannedStep]


def plan_run(ctx: RequestContext, runnable: Runnable, uid: str, options: RunOptions) -> RunPlan:
    """Return the plan of a run; refused if its starter or an author may not read or write what it takes."""
    steps = runnable.steps(ctx, uid, options)
    plan = [PlannedStep(step, load_authors(ctx, runnable.definition(uid, step))) for step in steps]
    for step, authors in ((each.step, each.authors) for each in plan):
        need_authors(ctx, authors, uid, partial(runnable.need_step, uid=uid, step=step))
    return plan


def dump_step(planned: PlannedStep) -> str:
    """Return a step and its authors as they are stored."""
    authors, step = [author.to_stored() for author in planned.authors], planned.step
    return json.dumps({"type": type(step).__name__, "fields": asdict(step), "authors": authors}, sort_keys=True)


def parse_step(text: str, types: Iterable[type[Step]]) -> Step:
    """Return a stored step. Its type is found by name among those that there are executors of."""
    stored = json.loads(text)
    found = next((each for each in types if each.__name__ == stored["type"]), None)
    if found is None:
        raise ConflictError(f"This installation has no step {quote(stored['type'])}.", "Start a new run.")
    try:
        return adapter_of(found).validate_python(stored["fields"])
    except ValidationError:
        raise ConflictError("Another release has planned this step.", "Resume the run, or start a new one.") from None


def stage_of(text: str) -> int | None:
    """Return the stage of a stored step; None for a step of its own."""
    found = json.loads(text)["fields"].get("stage") if text else None
    return found if isinstance(found, int) else None


def parse_authors(text: str, tenant: str) -> tuple[Caller, ...]:
    """Return the authors of a stored step."""
    return tuple(Caller.from_stored(tenant, each, address="worker") for each in json.loads(text).get("authors", ()))


def step_named(name: str, plan: RunPlan) -> PlannedStep:
    """Return the step of this name, for runs whose plan was not stored."""
    found = next((each for each in plan if each.step.name == name), None)
    if found is None:
        raise ConflictError(f"The definition has no step {quote(name)} any more.", "Start a new run.")
    return found


def replan(stored: str, plan: RunPlan) -> str:
    """Return the plan of a step that is tried again: as the definition says now, if it still has this very step.

    Else it stays as it was frozen. Another one that only has its name is not taken for it.
    """
    old = json.loads(stored)
    again = (
        each
        for each in plan
        if type(each.step).__name__ == old["type"]
        and getattr(each.step, each.step.identity) == old["fields"].get(each.step.identity)
    )
    return next(map(dump_step, again), stored)
