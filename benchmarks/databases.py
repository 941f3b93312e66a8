"""The company in a database, loaded in bulk, migrated and analysed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa

from benchmarks.facts import ALL, LAKE, TENANT, Facts
from lakehold.access.engine import AccessEngine
from lakehold.access.facts import tables
from lakehold.access.facts.loader import tenant_number
from lakehold.kit.clock import DAY, FOREVER, now
from lakehold.kit.database import Database, Transaction
from lakehold.kit.ids import fold_name
from lakehold.workspaces import models

FIRST = 100
"""The number of the first resource; those before are the tenant's own."""


@dataclass(frozen=True, slots=True)
class LoadedDatabase:
    """A database that holds the company."""

    access: AccessEngine
    numbers: Mapping[str, int]
    """From ids to the numbers that stand for them in every table."""


def number_resources(facts: Facts) -> dict[str, int]:
    """Return the number of each resource that is loaded here."""
    return {uid: FIRST + place for place, (uid, _, _) in enumerate(facts.resources)}


def load(url: str, facts: Facts) -> LoadedDatabase:
    """Create the tables and the tenant, and fill them."""
    database = Database(url)
    database.migrate()
    access = AccessEngine(database)
    access.create_tenant(TENANT, "Acme", models())
    with database.write() as transaction:
        tenant = tenant_number(transaction, TENANT)
        numbers = {TENANT: tenant, ALL: _number_of(transaction, ALL), **number_resources(facts)}
        for table, rows in _rows(facts, numbers, tenant):
            _insert(transaction, table, rows)
        _settle(transaction)
    if database.url.get_backend_name() == "postgresql":
        _vacuum(database.url)
    return LoadedDatabase(access, numbers)


def _number_of(transaction: Transaction, uid: str) -> int:
    query = sa.select(tables.resource.c.id).where(tables.resource.c.uid == uid)
    return int(transaction.connection.execute(query).scalar_one())


def _rows(
    facts: Facts, numbers: Mapping[str, int], tenant: int
) -> Iterator[tuple[sa.Table, Iterable[dict[str, object]]]]:
    always = {"tenant_id": tenant, "since": now() - DAY, "until": FOREVER}
    lake = numbers[LAKE]
    yield (
        tables.resource,
        (
            always
            | {"id": numbers[uid], "uid": uid, "kind": kind, "name": name, "sort_name": fold_name(name)}
            | {"workspace_id": lake if kind.startswith("lakehouse.") else numbers[uid]}
            for uid, kind, name in facts.resources
        ),
    )
    in_tenant = [
        (f"{kind}.tenant", uid, TENANT)
        for uid, kind, _ in facts.resources
        if kind in {"tenant.member", "tenant.group", "lakehouse.lakehouse"}
    ]
    yield (
        tables.edge,
        (
            always | {"name": name, "source_id": numbers[source], "target_id": numbers[target]}
            for name, source, target in (*in_tenant, *facts.edges)
        ),
    )
    yield (
        tables.grant,
        (
            always | {"subject_id": numbers[subject], "role": role, "resource_id": numbers[resource]}
            for subject, role, resource in facts.grants
        ),
    )


def _insert(transaction: Transaction, table: sa.Table, rows: Iterable[dict[str, object]]) -> None:
    if transaction.dialect == "postgresql":
        _copy(transaction, table, rows)
        return
    left = iter(rows)
    while chunk := list(islice(left, 20_000)):
        transaction.connection.execute(table.insert(), chunk)


def _copy(transaction: Transaction, table: sa.Table, rows: Iterable[dict[str, object]]) -> None:
    """Load rows with COPY, which takes a minute less than inserts."""
    left = iter(rows)
    first = next(left)
    connection: Any = transaction.connection.connection.dbapi_connection
    with connection.cursor() as cursor, cursor.copy(f"COPY {table.name} ({', '.join(first)}) FROM STDIN") as copy:
        for row in chain((first,), left):
            copy.write_row(tuple(row.values()))


def _settle(transaction: Transaction) -> None:
    """Run the maintenance that the database would have done by itself over time."""
    connection = transaction.connection
    if transaction.dialect == "postgresql":
        connection.execute(sa.text("SELECT setval('resource_id_seq', (SELECT max(id) FROM resource))"))
    connection.execute(sa.text("ANALYZE"))


def _vacuum(url: sa.URL) -> None:
    """Run the maintenance that cannot run in a transaction."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text("VACUUM"))
    engine.dispose()
