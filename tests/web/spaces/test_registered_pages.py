"""Pages of registered data in the demo company."""

from __future__ import annotations

from lakehold.access import Draft
from lakehold.demo import company
from lakehold.directory.caller import Caller
from tests.web.demo import Shop
from tests.web.forms import send


def test_a_registered_dataset_and_its_form_have_pages(shop: Shop) -> None:
    """Of a table that the owner of the project may not read: nothing of its columns is shown."""
    with shop.platform.write(Caller(company.TENANT, "petra")) as ctx:
        uid = ctx.create_unchecked(Draft("spaces.dataset", {"task": "land_web", "table": "salaries"}), "pay")
    petra = shop.client("petra")
    page = petra.get(f"/resources/{uid}/dataset").text
    assert "Registered dataset" in page
    assert "cannot be read now" in page
    assert "Petra" in page.partition("cannot be read now")[2]
    assert "salaries" not in page
    assert petra.get("/resources/land_web/task").status_code == 200
    form = petra.get("/resources/ingest/tasks/new?type=register")
    assert (form.status_code, "New register data task" in form.text) == (200, True)
    new = "/resources/ingest/tasks/new?type=register"
    added = send(petra, new, new, name="pay", do="add:datasets")
    assert "Dataset name" in added.text
    assert "salaries" not in added.text
