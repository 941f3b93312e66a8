"""The SQL editor with a worker behind it: rows, mistakes, stopping, drawing, taking along, and asking again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pyspark.sql import SparkSession

from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.web import app_factory
from tests.lake import shop
from tests.web.lakehouse.editor import write_sql
from tests.web.site import running
from tests.web.visitors import visitors

pytestmark = pytest.mark.slow

Open = Callable[..., Page]
Violations = Callable[[Page], list[str]]

SQL = "/workspaces/shop/sql"
BY_CUSTOMER = "SELECT customer, sum(amount) AS total FROM raw.orders GROUP BY customer ORDER BY customer"
LONG = "SELECT sum(hash(id)) FROM range(100000000000000)"
"""Listens when it is told to stop, as a join of ranges does not."""


@pytest.fixture(scope="module")
def asked(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[shop.Shop]:
    """One shop with rows and a worker for all of these."""
    folder = tmp_path_factory.mktemp("asked")
    file = folder / "lakehold.sqlite"
    shutil.copy(template_file, file)
    with shop.open_shop(spark, f"sqlite:///{file}", folder / "data") as opened:
        yield opened


@pytest.fixture(scope="module")
def there(asked: shop.Shop) -> Iterator[str]:
    with running(app_factory.create_web_app(asked.platform)) as found:
        yield found


@pytest.fixture
def ask_as(browser: Browser, asked: shop.Shop, there: str) -> Iterator[Open]:
    """Open a page of the shop as somebody."""

    def cookie_of(member: str) -> str:
        with asked.platform.write(Caller(shop.TENANT, member)) as ctx:
            visit = ClientInfo("127.0.0.1", "a test", "")
            return sign_ins.create(ctx, asked.platform.settings, member, "test", visit).secret

    with visitors(browser, there, cookie_of) as opened:
        yield opened


def ask(page: Page, text: str) -> None:
    """Write it over what is there, and run it from the keyboard."""
    write_sql(page, text)
    page.keyboard.press("ControlOrMeta+Enter")


def test_somebody_asks_sees_rows_draws_them_and_takes_them_along(ask_as: Open, violations: Violations) -> None:
    page = ask_as("rita", SQL)
    ask(page, BY_CUSTOMER)
    expect(page.get_by_role("heading", name="5 rows")).to_be_visible()
    expect(page.get_by_role("columnheader", name="total decimal(20, 2)")).to_be_visible()
    expect(page.get_by_role("cell", name="1425.00")).to_be_visible()
    page.get_by_role("heading", name="Chart").click()
    page.get_by_label("Y axis").select_option("total")
    page.get_by_label("X axis").select_option("customer")
    expect(page.get_by_role("img", name="Bars: total by customer")).to_be_visible()
    page.get_by_label("Chart type").select_option("Line")
    expect(page.get_by_role("img", name="Line: total by customer")).to_be_visible()
    assert violations(page) == []
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download CSV").click()
    assert taken.value.path().read_text(encoding="utf-8").splitlines()[:2] == ["customer,total", "0,1425.00"]


def test_nothing_is_shown_apart_and_more_rows_are_told_of(ask_as: Open) -> None:
    page = ask_as("rita", SQL)
    ask(page, "SELECT id, IF(id = 0, NULL, '') AS word FROM range(1000) ORDER BY id")
    expect(page.get_by_role("heading", name="500 rows")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("more rows available")
    expect(page.get_by_role("cell", name="null")).to_have_count(1)


def test_a_mistake_is_told_at_the_editor_and_nothing_is_lost(ask_as: Open) -> None:
    page = ask_as("rita", SQL, refused=True)
    ask(page, "SELECT id\nFRM raw.orders")
    expect(page.get_by_role("alert")).to_contain_text("line 2")
    expect(page.get_by_role("textbox", name="SQL")).to_contain_text("FRM raw.orders")
    ask(page, "SELECT * FROM secret.hidden")
    expect(page.get_by_role("alert")).to_contain_text("cannot be found")
    expect(page.get_by_role("main")).not_to_contain_text(shop.SECRET)


def test_a_query_that_takes_too_long_for_its_asker_is_stopped(ask_as: Open) -> None:
    page = ask_as("rita", SQL)
    ask(page, LONG)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Query stopped")
    ask(page, "SELECT 1 AS one")
    expect(page.get_by_role("heading", name="1 row")).to_be_visible()


def test_what_was_asked_is_asked_again_and_kept(ask_as: Open) -> None:
    page = ask_as("ed", SQL)
    ask(page, "SELECT count(*) AS orders FROM raw.orders")
    expect(page.get_by_role("heading", name="1 row")).to_be_visible()
    page.get_by_role("button", name="Run again: SELECT count(*) AS orders").click()
    expect(page.get_by_role("cell", name="100")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_label("Name").fill("How many orders")
    page.get_by_role("button", name="Save query").click()
    expect(page.get_by_role("heading", name="How many orders", level=1)).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("cell", name="100")).to_be_visible()
    page.get_by_role("link", name="All", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="count(*)")).to_have_count(3)


def test_a_result_is_saved_as_a_table_and_its_run_is_shown(ask_as: Open, violations: Violations) -> None:
    page = ask_as("ed", SQL, refused=True)
    ask(page, BY_CUSTOMER)
    page.get_by_role("button", name="Save as table").click()
    assert violations(page) == []
    page.get_by_label("Name").fill("By customer")
    page.get_by_role("button", name="Save table").click()
    expect(page.get_by_role("main")).to_contain_text("A table cannot be called 'By customer'.")
    page.get_by_label("Name").fill("by_customer")
    page.get_by_role("button", name="Save table").click()
    expect(page.get_by_role("main")).to_contain_text("by_customer")
    page.wait_for_url("**/runs/run_*")


def test_a_query_is_looked_at_before_it_is_kept(ask_as: Open) -> None:
    page = ask_as("ed", "/workspaces/shop/pipelines/new/query", refused=True)
    page.get_by_label("Name", exact=True).fill("By customer")
    page.get_by_label("Layer", exact=True).select_option("raw")
    page.get_by_label("Table name").fill("kept_by_customer")
    write_sql(page, "SELECT customer\nFRM raw.orders")
    page.get_by_role("button", name="Create query").click()
    expect(page.get_by_role("alert")).to_contain_text("line 2")
    expect(page.get_by_role("textbox", name="SQL")).to_contain_text("FRM raw.orders")
    write_sql(page, "SELECT customer, count(*) AS n FROM raw.orders GROUP BY customer")
    page.get_by_role("button", name="Create query").click()
    expect(page.get_by_role("alert")).to_contain_text("It also reads orders, now selected.")
    expect(page.get_by_label("raw.orders")).to_be_checked()
    page.get_by_role("button", name="Create query").click()
    expect(page.get_by_role("heading", name="By customer")).to_be_visible()


def test_who_may_make_no_table_is_told_so(ask_as: Open) -> None:
    page = ask_as("rita", SQL)
    ask(page, BY_CUSTOMER)
    page.get_by_role("button", name="Save as table").click()
    expect(page.get_by_role("heading", name="You cannot create tables here")).to_be_visible()


def test_somebody_asks_without_scripts(ask_as: Open) -> None:
    page = ask_as("rita", SQL, scripts=False)
    page.get_by_role("textbox", name="SQL").fill(BY_CUSTOMER)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("cell", name="1425.00")).to_be_visible()
    expect(page.get_by_role("textbox", name="SQL")).to_have_value(BY_CUSTOMER)
    page.get_by_role("heading", name="Chart").click()
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_role("img", name="Bars: total by customer")).to_be_visible()
