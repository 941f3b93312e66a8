"""Change captures: for each landing task and connection the replication slot, and up to where the datasets are.

A row is there before its slot is made, and goes when that has been dropped: so no slot is forgotten. Only runs of the
task change the state; each saves it after its rows are committed, and before the slot moves.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata

capture_table = sa.Table(
    "change_capture",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("task_id", IdType, primary_key=True),
    sa.Column("connection_id", IdType, primary_key=True),
    # Also the name of the publication.
    sa.Column("slot", ExactText, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    # What the server keeps of its log for the slot, in bytes, when it was looked at the last time.
    sa.Column("retained", IdType, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Column("checked_at", IdType, nullable=False),
)


@dataclass(frozen=True, slots=True)
class CapturedDataset:
    """A dataset whose rows have been loaded."""

    lsn: int
    """Up to where changes are in its table, by the last write of it."""
    load: str
    """The mark of the step that has loaded it."""
    table: int
    """The id of the table in the source database."""
    digest: str
    """That of the columns there, as they were compared the last time."""


@dataclass(frozen=True, slots=True)
class CaptureState:
    """The progress of a capture."""

    slot_id: str = ""
    """Of the slot as it was made: one made anew has another id."""
    confirmed: int = 0
    """Up to where the changes of all datasets are in their tables. The slot is never moved further."""
    source: str = ""
    """The server and database that have the slot; empty if an earlier release has made it."""
    datasets: Mapping[str, CapturedDataset] = field(default_factory=dict)
    """Those that are loaded, by their ids."""

    def with_dataset(self, uid: str, dataset: CapturedDataset) -> "CaptureState":
        """Return the state with this dataset."""
        return replace(self, datasets={**self.datasets, uid: dataset})


@dataclass(frozen=True, slots=True)
class ChangeCapture:
    """The slot of a task in a source database, and its progress."""

    task: int
    """The number of the task, which may be deleted; likewise that of the connection."""
    connection: int
    slot: str
    state: CaptureState
    retained: int = 0
    problem: str = ""
    """Why the log of the source database may fill its disk, or changes may be lost; empty if all is well."""
    checked_at: Moment = 0


def slot_name(installation: str, tenant: int, task: int) -> str:
    """Return the name of a task's slot and publication."""
    return f"lakehold_{installation}_{tenant}_{task}"


def list_all(ctx: RequestContext, *which: sa.ColumnElement[bool]) -> list[ChangeCapture]:
    """Return the captures of the tenant."""
    c = capture_table.c
    return [_capture(row) for row in ctx.rows(capture_table).select(*which, order_by=(c.task_id, c.connection_id))]


def list_of_task(ctx: RequestContext, task: str) -> list[ChangeCapture]:
    """Return the captures of a task: one, or more while the slot of another connection is not dropped yet."""
    return list_all(ctx, capture_table.c.task_id == ctx.view.resource(task))


def find(ctx: RequestContext, task: str, connection: str) -> ChangeCapture | None:
    """Return the capture of a task from a connection."""
    number = ctx.view.resource(connection)
    return next((each for each in list_of_task(ctx, task) if each.connection == number), None)


def save(ctx: RequestContext, capture: ChangeCapture) -> None:
    """Save the slot and the progress of a capture."""
    rows, which = ctx.rows(capture_table), _which(capture)
    values = {"slot": capture.slot, "state": json.dumps(asdict(capture.state))}
    if not rows.update(*which, **values):
        key = {"task_id": capture.task, "connection_id": capture.connection}
        rows.insert(**key, **values, retained=0, problem="", checked_at=0)


def keep_datasets(ctx: RequestContext, task: str, datasets: Collection[str]) -> None:
    """Forget all datasets of a task but these: if others are captured again, they are loaded again."""
    for each in list_of_task(ctx, task):
        kept = {uid: known for uid, known in each.state.datasets.items() if uid in datasets}
        if kept != each.state.datasets:
            save(ctx, replace(each, state=replace(each.state, datasets=kept)))


def save_check(ctx: RequestContext, capture: ChangeCapture, *, retained: int, problem: str) -> None:
    """Save what was found of the slot."""
    values = {"retained": retained, "problem": problem, "checked_at": ctx.at}
    ctx.rows(capture_table).update(*_which(capture), **values)


def delete(ctx: RequestContext, capture: ChangeCapture) -> None:
    """Delete a capture whose slot is gone."""
    ctx.rows(capture_table).delete(*_which(capture))


def _which(capture: ChangeCapture) -> tuple[sa.ColumnElement[bool], ...]:
    c = capture_table.c
    return c.task_id == capture.task, c.connection_id == capture.connection


def _capture(row: Any) -> ChangeCapture:  # noqa: ANN401 - a row
    stored = json.loads(row.state)
    datasets = {uid: CapturedDataset(**each) for uid, each in stored.pop("datasets").items()}
    state = CaptureState(**stored, datasets=datasets)
    return ChangeCapture(row.task_id, row.connection_id, row.slot, state, row.retained, row.problem, row.checked_at)
