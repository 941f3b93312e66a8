"""Steps as they are stored with their run.

The plan of a run is frozen when it begins: what is changed meanwhile in the definition changes the next run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pydantic import TypeAdapter

from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import Step


def dump_step(step: Step) -> str:
    """Return a step as it is stored."""
    return json.dumps({"type": type(step).__name__, "fields": asdict(step)}, sort_keys=True)


def load_step(text: str, types: Iterable[type[Step]]) -> Step:
    """Return a stored step. Its type is found by name among those that there are executors of."""
    stored = json.loads(text)
    found = next((each for each in types if each.__name__ == stored["type"]), None)
    if found is None:
        raise ConflictError(f"This installation has no step {quote(stored['type'])}.", "Start a new run.")
    return TypeAdapter(found).validate_python(stored["fields"])


def step_named(name: str, planned: Sequence[Step]) -> Step:
    """Return the step of this name, for runs whose plan was not stored."""
    found = next((step for step in planned if step.name == name), None)
    if found is None:
        raise ConflictError(f"The definition has no step {quote(name)} any more.", "Start a new run.")
    return found


def replan(stored: str, planned: Sequence[Step]) -> str:
    """Return the plan of a step that is tried again: as the definition says now, if it still has such a step."""
    old = json.loads(stored)
    again = (step for step in planned if type(step).__name__ == old["type"] and step.name == old["fields"]["name"])
    return next((dump_step(step) for step in again), stored)
