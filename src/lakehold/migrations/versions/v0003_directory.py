"""Accounts, sign-ins, links, invites, API tokens, and attempts that are counted."""

from lakehold.migrations.schema import create_index, create_table

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "account",
        "tenant_id number key, member_id number key, email text null, email_key exact null, password text,"
        " service bool, made_at number",
    )
    create_index("account_by_email", "account", "tenant_id email_key", unique=True)
    create_table("attempt", "tenant_id number key, key exact key, tries int, last_at number, free_at number")
    create_index("attempt_by_time", "attempt", "last_at")
    create_table(
        "sign_in",
        "id exact key, tenant_id number, hash text, made_at number, until number, member_id number, method text,"
        " used_at number, address text, agent text",
    )
    create_index("sign_in_by_member", "sign_in", "tenant_id member_id")
    create_index("sign_in_by_end", "sign_in", "until")
    create_table(
        "link",
        "id exact key, tenant_id number, hash text, made_at number, until number, member_id number, purpose text",
    )
    create_index("link_by_member", "link", "tenant_id member_id")
    create_index("link_by_end", "link", "until")
    create_table(
        "invite",
        "id exact key, tenant_id number, hash text, made_at number, until number, email text, email_key exact,"
        " carries text, made_by exact",
    )
    create_index("invite_by_time", "invite", "tenant_id made_at id")
    create_table(
        "token",
        "id exact key, tenant_id number, hash text, made_at number, until number, member_id number, name text,"
        " actions text null, resources text null, made_by exact, used_at number",
    )
    create_index("token_by_member", "token", "tenant_id member_id")
    create_index("token_by_time", "token", "tenant_id made_at id")
