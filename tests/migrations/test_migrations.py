from __future__ import annotations

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from lakehold.access.facts import tables
from lakehold.kit.database import Database, metadata
from lakehold.ledger.changes import change_table


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(database: Database) -> None:
    assert {table.name for table in (*tables.TABLES.values(), change_table)} == set(metadata.tables)
    with database.read() as transaction:
        context = MigrationContext.configure(transaction.connection)
        assert compare_metadata(context, metadata) == []
