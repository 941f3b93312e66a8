"""The upkeep of a table or data mart: the option of a run that asks for it, and its steps.

`upkeep_executor` executes them. Upkeep changes files and no row, so the platform itself may start it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.runs.runnable import RunOptions, Step

TASK_PARAMETER, UPKEEP = "do", "upkeep"
MIN_SNAPSHOTS = 5
"""The number of its last snapshots that a table keeps, however old they are."""
_PARTS = ("compact", "expire", "sweep")
HIDE = "hide"
"""The part that removes fields that are hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainTable(Step):
    """One part of a table's maintenance, which changes its files and not its rows."""

    table: str
    part: str
    """`hide`, `compact`, `expire` or `sweep`."""


def is_upkeep(options: RunOptions) -> bool:
    """Return whether a run is asked to do upkeep."""
    return options.parameters.get(TASK_PARAMETER) == UPKEEP


def upkeep_steps(uid: str, *first: str) -> Sequence[MaintainTable]:
    """Return the steps of the upkeep of a table, with others before those that all tables have."""
    return [MaintainTable(name=part, writes=(uid,), table=uid, part=part) for part in (*first, *_PARTS)]
