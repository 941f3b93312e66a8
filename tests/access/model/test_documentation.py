"""The generated access tables beside rows copied from the seeds: a cell counts the roles that a role implies."""

import pytest

from lakehold import workspaces
from lakehold.access.model.documentation import to_markdown

PRODUCTS_PROJECT = """
    edit_metadata       admin editor
    delete              admin
    add_source          admin editor
    view_source         admin editor
    edit_source         admin editor
    delete_source       admin
    manage_workflows    admin
    manage_destinations admin
    add_product         admin editor
    list_products       admin editor viewer
    browse_360          admin editor viewer
    see_in_menu         admin editor viewer
"""
DATA_PRODUCT = """
    see_in_list   admin developer curator
    view_360      admin developer curator
    suggest_merge admin developer curator
    open          admin developer curator
    view_records  admin developer curator
    edit_views    admin developer curator
    configure     admin developer
    run           admin developer
    publish       admin developer
    copy          admin developer
    override      admin curator
    verify        admin curator
    delete_views  admin curator
    delete        admin
    manage_roles  admin
"""
DATA_SPACE = """
    see            any_role manages edits security_role governs
    list_projects  any_role manages edits governs
    rename         manages governs
    manage_members manages governs
    delete         manages security_role governs
    create_project edits
    add_connection manages
    add_gateway    manages
    change_owner   security_role governs
"""


@pytest.mark.parametrize(
    ("name", "kind", "roles", "copied"),
    [
        ("products", "Project", "admin editor viewer", PRODUCTS_PROJECT),
        (
            "products",
            "Project",
            "admin tenant.admin",
            "    delete admin tenant.admin\n    browse_360 admin tenant.admin",
        ),
        ("products", "Data product", "admin developer curator", DATA_PRODUCT),
        ("spaces", "Data space", "any_role manages edits security_role governs", DATA_SPACE),
    ],
)
def test_cells_count_implied_roles(name: str, kind: str, roles: str, copied: str) -> None:
    table = _table(name, kind)
    for line in copied.strip().splitlines():
        action, *allowed = line.split()
        assert {role for role in roles.split() if table[action][role]} == set(allowed), (kind, action)


def _table(name: str, kind: str) -> dict[str, dict[str, bool]]:
    model = next(model for model in workspaces.models() if model.name == name)
    section = to_markdown(model, workspaces.policy()).partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
    head, _, *rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in section.split("\n")
        if line.startswith("|")
    ]
    return {row[0]: {role: cell == "✓" for role, cell in zip(head[1:], row[1:], strict=False)} for row in rows}
