"""The index in memory: loading it, what it takes, catching up with one change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from time import perf_counter_ns

import sqlalchemy as sa

from benchmarks.databases import LoadedDatabase
from benchmarks.facts import TENANT
from benchmarks.figures import Figure, median_of
from benchmarks.world import World
from lakehold.access.facts import tables
from lakehold.kit.clock import FOREVER, now
from lakehold.kit.database import Transaction
from lakehold.ledger import change_log

_CHANGES = 20


def figures(world: World) -> Iterator[Figure]:
    """The figures of the index."""
    facts = len(world.facts.grants) + len(world.facts.edges)
    everything = f"{len(world.facts.grants):,} grants, {facts:,} facts on {len(world.facts.resources):,} resources"
    note = f"Loading: a process of its own loads {everything}; memory is the peak while it does so, less that before."
    for database, url in world.urls.items():
        probe = partial(_probe, url)
        yield Figure(f"load {everything}, {database}", partial(probe, "seconds"), most=3, note=note)
        yield Figure(f"memory of it, {database}", partial(probe, "peak"), most=250e6, unit="bytes", note=note)
    for database, loaded in world.databases.items():
        yield Figure(f"catch up with one change, {database}", partial(_catch_up, loaded), most=1e-3)


def _probe(url: str, what: str) -> float:
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "benchmarks.load_probe", url], capture_output=True, text=True, timeout=300, check=True
    )
    return float(json.loads(done.stdout)[what])


def _catch_up(loaded: LoadedDatabase) -> float:
    """Time how the index catches up with a grant, and with its removal, made by another process."""
    with loaded.access.read(TENANT):
        pass
    taken: list[int] = []
    for _ in range(_CHANGES):
        number = _insert_grant(loaded)
        taken.append(_next_session(loaded))
        _delete_grant(loaded, number)
        taken.append(_next_session(loaded))
    return median_of(taken)


def _next_session(loaded: LoadedDatabase) -> int:
    with loaded.access.database.read() as transaction:
        # The driver begins a transaction with its first statement: a way there and back that is not catching up.
        transaction.connection.exec_driver_sql("SELECT 1")
        start = perf_counter_ns()
        loaded.access.session(transaction, TENANT)
        return perf_counter_ns() - start


def _insert_grant(loaded: LoadedDatabase) -> int:
    tenant, at = loaded.numbers[TENANT], now()
    row = {
        "subject_id": loaded.numbers["m0500"],
        "role": "lakehouse.layer.viewer",
        "resource_id": loaded.numbers["layer-50"],
    }
    with loaded.access.database.write() as transaction:
        statement = tables.grant.insert().values(tenant_id=tenant, since=at, until=FOREVER, **row)
        key = transaction.connection.execute(statement).inserted_primary_key
        assert key is not None
        _log(transaction, tenant, change_log.ChangeLogEntry("grant", int(key[0]), 0, FOREVER))
    return int(key[0])


def _delete_grant(loaded: LoadedDatabase, number: int) -> None:
    tenant, at = loaded.numbers[TENANT], now()
    with loaded.access.database.write() as transaction:
        transaction.connection.execute(sa.update(tables.grant).where(tables.grant.c.id == number).values(until=at))
        _log(transaction, tenant, change_log.ChangeLogEntry("grant", number, FOREVER, at))


def _log(transaction: Transaction, tenant: int, entry: change_log.ChangeLogEntry) -> None:
    change_log.append_changes(transaction, tenant, now(), [entry])
