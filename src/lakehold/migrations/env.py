"""Runs the steps in the connection that `Database.migrate` gives."""

from alembic import context

from lakehold.kit.database import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
