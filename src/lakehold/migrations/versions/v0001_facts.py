"""Facts and their log."""

from alembic import op

from lakehold.migrations.schema import create_index, create_table

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "resource",
        "id number serial, tenant_id number, uid exact, kind text, workspace_id number, name text, sort_name exact,"
        " since number, until number",
    )
    create_table(
        "access_grant",
        "id number serial, tenant_id number, subject_id number, role text, resource_id number, since number,"
        " until number",
    )
    create_table(
        "access_attribute",
        "id number serial, tenant_id number, resource_id number, member_id number, name text, value text,"
        " since number, until number",
    )
    create_table(
        "access_edge",
        "id number serial, tenant_id number, name text, source_id number, target_id number, since number, until number",
    )
    create_table(
        "access_model",
        "id number serial, tenant_id number, name text, source text, since number, until number",
    )
    create_index("resource_uid", "resource", "tenant_id uid", unique=True)
    create_index("resource_sorted", "resource", "tenant_id kind sort_name id")
    create_index("resource_in_workspace", "resource", "workspace_id kind sort_name id")
    create_index("grant_by_subject", "access_grant", "subject_id role resource_id since until")
    create_index("grant_by_resource", "access_grant", "resource_id subject_id role since until")
    create_index("edge_ahead", "access_edge", "source_id name target_id since until")
    create_index("edge_back", "access_edge", "target_id name source_id since until")
    create_index("attribute_of", "access_attribute", "resource_id name member_id value since until")
    create_index("attribute_with", "access_attribute", "name value resource_id member_id since until")
    create_table(
        "change",
        "tenant_id number key, seq number key, n int key, made_at number, fact text, fact_id number,"
        " was_until number, until number",
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE change_seq")
