from __future__ import annotations

from lakehold.access.engine import AccessEngine
from lakehold.demo import company
from lakehold.kit.database import Database


def test_the_company_is_loaded_and_everybody_can_do_something(database: Database) -> None:
    access = AccessEngine(database)
    company.load(access)
    with access.read(company.TENANT) as session:
        view = session.current_view()
        assert sum(len(view.by_kind.get(kind) or ()) for kind in view.policy.kinds) >= 160
        assert {kind.split(".")[0] for kind in view.policy.kinds if view.by_kind.get(kind)} == {
            "tenant",
            "marts",
            "lakehouse",
            "spaces",
            "products",
        }
        unused = [kind for kind in view.policy.kinds if not view.by_kind.get(kind)]
        # Triggers are created with their schedules, by the demo's activity; datasets when their task is prepared, and
        # tables of data products when these are run.
        made_later = ["products.entity_table", "products.record_table", "spaces.dataset"]
        assert sorted(unused) == ["marts.data_mart_trigger", "marts.report_trigger", *made_later]
        assert session.check("tara", "edit", "daily_sales")
        assert not session.check("nils", "see", "orders")
        assert session.check("nils", "view", "sales_cockpit")
        assert not session.check("otto", "run", "copy_erp")
