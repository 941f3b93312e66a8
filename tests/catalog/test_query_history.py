"""The SQL history is the member's own: neither a narrowed token nor an admin who views as them sees it."""

from __future__ import annotations

from dataclasses import replace

from lakehold.access import TokenPrincipal
from lakehold.runs import queries
from tests.demo_company import DemoPlatform, as_member


def test_the_history_is_for_the_member_alone(corner: DemoPlatform) -> None:
    ana = as_member("ana")
    with corner.write(ana) as ctx:
        row = {"text": "SELECT 1", "asked_at": ctx.at, "took": 1, "rows": 1, "error": ""}
        ctx.rows(queries.query_table).insert(member="ana", workspace_id=ctx.session.tenant, **row)
    narrowed = replace(ana, narrowed=TokenPrincipal("ana", resources=frozenset({"shaped"})))
    for caller, seen in ((ana, 1), (narrowed, 0), (replace(ana, impersonator="olga"), 0)):
        with corner.read(caller) as ctx:
            assert len(queries.list_past_queries(ctx)) == seen
