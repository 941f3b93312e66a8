"""The plan of each step, stored when its run begins."""

from lakehold.migrations.schema import add_column

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    add_column("run_step", "plan text", "")
