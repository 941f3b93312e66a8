"""Pages of data projects, tasks and datasets: what each role finds there, and what it may not do with the reason."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.change_captures import CaptureState, ChangeCapture
from lakehold.workspaces.spaces.datasets import need_dataset
from lakehold.workspaces.spaces.slot_check import describe_slot_problem
from lakehold.workspaces.spaces.tasks.base import DatasetReference
from tests.web.demo import Shop
from tests.web.forms import send

LANDING = {"type": "landing", "connection": "web_link",
           "datasets": [{"name": "orders", "stream": "public.orders", "mode": "compare", "keys": ["id"]}]}  # fmt: skip


def save(shop: Shop, task: str, settings: Mapping[str, object], by: str = "petra") -> None:
    with shop.platform.write(Caller(company.TENANT, by)) as ctx:
        apply_edit(ctx, task, ResourceEdit(settings=settings))


def test_a_project_is_a_graph_of_its_tasks(shop: Shop) -> None:
    save(shop, "land_web", LANDING)
    page = shop.client("petra").get("/resources/ingest/graph")
    assert page.status_code == 200
    assert 'aria-label="Graph of data tasks"' in page.text
    assert "Landing · prepare" in page.text
    assert "/resources/land_web/task" in page.text
    assert shop.client("petra").get("/resources/ingest/graph/live").status_code == 200


def test_it_warns_of_roles_that_its_owner_lacks_and_says_who_can_give_them(shop: Shop) -> None:
    page = shop.client("otto").get("/resources/replicate/graph").text
    assert "Erik, Engineer needs Can consume data, Can edit or Can manage in the data space" in page
    assert "Dana, Data Admin can give it; or give the project an owner who has it." in page
    assert " needs Can" not in shop.client("otto").get("/resources/ingest/graph").text


def test_only_admins_change_the_owner(shop: Shop) -> None:
    transfer = "/resources/ingest/access/transfer?role=owner"
    assert transfer in shop.client("olga").get("/resources/ingest/graph").text
    assert transfer not in shop.client("petra").get("/resources/ingest/graph").text


def test_tasks_of_other_projects_are_named_only_to_those_who_see_them(shop: Shop) -> None:
    assert "land_tills" in shop.client("otto").get("/resources/publish/graph").text
    page = shop.client("stella").get("/resources/publish/graph").text
    assert "land_tills" not in page
    assert "Not visible to you" in page


def test_errors_name_no_task_that_one_does_not_see(shop: Shop) -> None:
    reference = DatasetReference(task="land_tills", dataset="gone")
    for member, task in (("otto", "The task 'Land tills'"), ("stella", "A task that you do not see")):
        with shop.platform.read(Caller(company.TENANT, member)) as ctx, pytest.raises(ConflictError) as found:
            need_dataset(ctx, reference)
        assert found.value.message == f"{task} has no dataset 'gone'."


def test_who_only_consumes_data_sees_which_tasks_there_are_and_no_state_of_runs(shop: Shop) -> None:
    petra = shop.client("petra")
    page = petra.get("/resources/publish/graph")
    assert page.status_code == 200
    assert "/resources/serve_sales/task" in page.text
    assert "you need Can view" in page.text
    assert petra.get("/resources/publish/graph/live").status_code == 403
    assert petra.get("/resources/serve_sales/task").status_code == 200
    assert petra.get("/resources/serve_sales/task/live").status_code == 403


def test_a_task_says_what_is_wrong_and_why_it_cannot_be_run(shop: Shop) -> None:
    otto, erik = shop.client("otto"), shop.client("erik")
    page = otto.get("/resources/land_web/task").text
    assert "The task has no settings." in page
    assert "Complete its settings first." in page
    save(shop, "land_web", LANDING)
    assert "Prepare it first." in otto.get("/resources/land_web/task").text
    assert "/resources/land_web/task/prepare" in otto.get("/resources/land_web/task").text
    assert 'action="/resources/land_web/task/prepare' not in erik.get("/resources/land_web/task").text
    assert erik.get("/resources/land_web/task/prepare").status_code == 403
    assert "Erik, Engineer needs Can consume data" in otto.get("/resources/copy_erp/task").text
    assert otto.get("/resources/copy_erp/task/prepare").status_code == 403


def test_a_task_warns_of_its_replication_slot(shop: Shop) -> None:
    problem = describe_slot_problem(None, 1024)
    with shop.platform.write(Caller(company.TENANT, "petra")) as ctx:
        task, connection = (ctx.view.resource(each) for each in ("land_web", "web_link"))
        capture = ChangeCapture(task, connection, "lakehold_slot", CaptureState())
        change_captures.save(ctx, capture)
        change_captures.save_check(ctx, capture, retained=2_000_000_000, problem=problem)
    assert problem in shop.client("otto").get("/resources/land_web/task").text
    assert problem not in shop.client("otto").get("/resources/land_tills/task").text


def test_without_a_worker_validate_says_so_and_names_what_is_wrong_already(shop: Shop) -> None:
    otto, at = shop.client("otto"), "/resources/land_web/task"
    assert "The task has no settings." in send(otto, at, f"{at}/validate").text
    save(shop, "land_web", LANDING)
    assert "No worker is running" in send(otto, at, f"{at}/validate").text
    assert "No worker is running" in otto.get(f"{at}/prepare").text
    assert send(shop.client("ana"), at, f"{at}/validate").status_code == 403
    started = send(otto, at, f"{at}/prepare")
    assert started.headers["location"].startswith("/runs/run_")


@pytest.mark.parametrize("path", ["graph", "task", "dataset", "dataset/first-rows"])
def test_pages_of_other_kinds_are_not_found(shop: Shop, path: str) -> None:
    assert shop.client("petra").get(f"/resources/web_link/{path}").status_code == 404
