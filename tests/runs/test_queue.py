"""A number or a workflow's id is never used twice, whatever was deleted."""

from __future__ import annotations

import sqlalchemy as sa

from lakehold.directory.platform import Platform
from lakehold.ledger import outbox
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import queue
from lakehold.runs.queue import ClaimedRun
from lakehold.runs.run_table import SUCCEEDED, run_table
from lakehold.runs.service import delete_run_rows
from tests.platform import ADA
from tests.runs.test_triggers import RUNS, query


def claimed(platform: Platform, uid: str) -> ClaimedRun:
    with platform.write(ADA) as ctx:
        RUNS.start(ctx, uid)
    with platform.database.write(queue.QUEUE_LOCK) as transaction:
        (found,) = queue.claim_runs(transaction, platform.clock(), most=1, at_once=1)
    return found


def test_the_run_after_a_deleted_one_is_another_workflow(platform: Platform) -> None:
    uid = query(platform, "daily")
    first = claimed(platform, uid)
    with platform.write(ADA) as ctx:
        ctx.rows(run_table).update(run_table.c.n == first.number, state=SUCCEEDED)
        delete_run_rows(ctx, first.number)
    second = claimed(platform, uid)
    assert second.number > first.number
    assert second.workflow != first.workflow


def test_a_message_of_a_restored_database_is_another_attempt(platform: Platform) -> None:
    attempts = set()
    for made_at in (1, 2):
        with platform.database.write() as transaction:
            # As in a database that is older than what was sent.
            row = {"id": 7, "tenant_id": 1, "made_at": made_at, "due_at": 0, "tries": 0, "error": ""}
            texts = {"receiver": "a@x.test", "subject": "s", "body": "b"}
            transaction.connection.execute(outbox_table.insert().values(**row, **texts))
            attempts |= {each.attempt for each in outbox.due_messages(transaction, 5)}
            transaction.connection.execute(outbox_table.delete())
    assert len(attempts) == 2


def test_the_message_after_a_deleted_one_has_another_number(platform: Platform) -> None:
    numbers = []
    for _ in range(2):
        with platform.database.write() as transaction:
            outbox.enqueue(transaction, 1, 0, receiver="a@x.test", subject="s", body="b")
            numbers.append(transaction.connection.execute(sa.select(outbox_table.c.id)).scalar_one())
            transaction.connection.execute(outbox_table.delete())
    assert numbers[1] > numbers[0]
