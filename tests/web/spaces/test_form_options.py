"""Options of the forms of tasks and apps in a tenant that has more than they list."""

from __future__ import annotations

import pytest

from lakehold.access import Draft
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.workspaces.spaces.pages import app_form_pages, task_options
from lakehold.workspaces.spaces.pages.app_form import AppForm, ChartRow
from tests.web.demo import Shop

OTTO, PETRA = Caller(company.TENANT, "otto"), Caller(company.TENANT, "petra")


def test_a_task_finds_those_of_its_own_project_first(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_options, "_MOST", 2)
    with shop.platform.read(OTTO) as ctx:
        found = task_options.load_options(ctx, "publish", "storage")
    assert {uid for uid, _ in found.reads} == {"serve_sales", "serve_stock"}


def test_an_app_keeps_datasets_that_are_not_among_the_first(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_form_pages, "_MAX_DATASETS", 1)
    with shop.platform.write(PETRA) as ctx:
        for task in ("serve_sales", "serve_stock"):
            ctx.create_unchecked(Draft("spaces.dataset", {"task": task}), f"{task}_rows")
    tasks = ("serve_sales", "serve_stock")
    form = AppForm(charts=[ChartRow(task, f"{task}_rows") for task in (*tasks, "land_web", "nothing")])
    with shop.platform.read(PETRA) as ctx:
        found = app_form_pages.DatasetOptions(ctx, IcebergCatalog(shop.platform.settings), form)
        labels = [found.label(each.task, each.dataset) for each in form.charts]
    assert [label.rpartition(" ")[2] for label in labels] == ["serve_sales_rows", "serve_stock_rows", "", ""]
