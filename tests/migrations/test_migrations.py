from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import lakehold
from lakehold.kit.database import Database, metadata


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(database: Database) -> None:
    # A table is known once the room that owns it has been opened.
    for module in walk_packages(lakehold.__path__, "lakehold."):
        if not module.name.startswith(("lakehold.migrations", "lakehold.access.review")):
            import_module(module.name)
    assert {"resource", "change", "audit", "outbox"} <= set(metadata.tables)
    with database.read() as transaction:
        context = MigrationContext.configure(transaction.connection)
        assert compare_metadata(context, metadata) == []
