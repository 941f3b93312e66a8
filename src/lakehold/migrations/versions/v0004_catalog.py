"""What is told of resources, requests for access, credentials, and when something was last used."""

from lakehold.migrations.schema import create_index, create_table

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "detail",
        "tenant_id number key, resource_id number key, description text, settings text, version number,"
        " created_at number null, created_by exact, updated_at number null, updated_by exact",
    )
    create_table(
        "access_request",
        "n number serial, tenant_id number, uid exact, asker exact, resource exact, action exact, facts text,"
        " reason text, state text, asked_at number, expires_at number, decided_at number null, decided_by exact,"
        " answer text, until number null",
    )
    create_index("request_by_uid", "access_request", "tenant_id uid", unique=True)
    create_index("request_by_asker", "access_request", "tenant_id asker n")
    create_index("request_by_state", "access_request", "tenant_id state n")
    create_table(
        "credential",
        "tenant_id number key, resource_id number key, name exact key, secret text, updated_at number,"
        " updated_by exact",
    )
    create_table(
        "last_use",
        "tenant_id number key, resource_id number key, member_id number key, action text key, day int",
    )
    create_index("last_use_by_member", "last_use", "tenant_id member_id day")
    create_table("viewing", "through exact key, tenant_id number, behind exact, member exact, until number")
