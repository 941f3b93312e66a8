"""Runs of pipelines with their steps and logs, and what starts them."""

from lakehold.migrations.schema import create_index, create_table

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "run",
        "n number serial, tenant_id number, id exact, tenant exact, resource_id number, workspace_id number,"
        " kind text, state text, cause text, started_by exact, caller text, wanted text, tries int, error text,"
        " made_at number, started_at number null, ended_at number null",
    )
    create_index("run_by_id", "run", "tenant_id id", unique=True)
    create_index("run_by_state", "run", "state n")
    create_index("run_by_resource", "run", "tenant_id resource_id n")
    create_table("run_output", "tenant_id number key, run number key, resource_id number key")
    create_index("run_output_by_resource", "run_output", "tenant_id resource_id")
    create_table(
        "run_step",
        "run number key, number int key, tenant_id number, name text, state text, rows number, size number,"
        " bad number, told text, begun int, error text, started_at number null, ended_at number null",
    )
    create_table("run_log", "n number serial, tenant_id number, run number, step int, at number, level text, text text")
    create_index("run_log_by_run", "run_log", "run n")
    create_table(
        "run_trigger",
        "tenant_id number key, id exact key, tenant exact, resource_id number, settings text, caller text,"
        " saved_by exact, saved_at number, active bool, heard text, next_at number null, last_at number null",
    )
    create_index("run_trigger_due", "run_trigger", "active next_at")
    create_index("run_trigger_by_resource", "run_trigger", "tenant_id resource_id")
