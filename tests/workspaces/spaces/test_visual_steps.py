"""Visual steps as SQL, without Spark: each kind of step, the columns of its result, and names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepColumn
from tests.workspaces.spaces.step_chains import Settings, columns, compiled, condition, refusal


def query(step: Settings) -> str:
    """Return the one WITH part of a chain of one step, in one line."""
    lines = compiled(step).check().sql.splitlines()
    assert lines[0].startswith("WITH `")
    assert lines[-3] == ")"
    return " ".join(line.strip() for line in lines[1:-3])


def result(step: Settings) -> dict[str, str | None]:
    return {each.name: each.type for each in compiled(step).check().columns}


def test_a_chain_is_one_readable_query() -> None:
    chain = compiled(
        {"step": "filter", "label": "Only paid", "conditions": [{"column": "status", "value": "paid"}]},
        {"step": "derive", "name": "gross", "expression": "amount * 1.19", "type": "decimal(12, 2)"},
        {"step": "aggregate", "group_by": ["customer"], "measures": [{"function": "sum", "column": "gross"}]},
    )
    assert chain.check().sql == (
        "WITH `Only paid` AS (\n"
        "  SELECT *\n"
        "  FROM `landing`.`orders`\n"
        "  WHERE `status` = 'paid'\n"
        "),\n"
        "`derive_2` AS (\n"
        "  SELECT *, CAST((amount * 1.19) AS DECIMAL(12, 2)) AS `gross`\n"
        "  FROM `Only paid`\n"
        "),\n"
        "`aggregate_3` AS (\n"
        "  SELECT `customer`, sum(`gross`) AS `sum_gross`\n"
        "  FROM `derive_2`\n"
        "  GROUP BY `customer`\n"
        ")\n"
        "SELECT *\n"
        "FROM `aggregate_3`"
    )
    assert [each.title for each in chain.results] == [
        *("landing.orders", "Step 1 (filter 'Only paid')", "Step 2 (derive)", "Step 3 (aggregate)")
    ]
    # What a preview of each step shows.
    assert chain.results[0].sql == "SELECT *\nFROM `landing`.`orders`"
    assert chain.results[1].sql.endswith("WHERE `status` = 'paid'\n)\nSELECT *\nFROM `Only paid`")
    assert chain.results[3].columns == (StepColumn("customer", "long"), StepColumn("sum_gross", "decimal(22, 2)"))


def test_the_example_of_the_reference_is_compiled_as_it_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "transform-steps.md").read_text(encoding="utf-8")
    example, sql = (re.search(rf"```{language}\n(.*?)\n```", page, re.DOTALL) for language in ("yaml", "sql"))
    assert example
    assert sql
    chain = yaml.safe_load(example[1])
    schemas = {
        "orders.current": columns(id="long", customer_id="long", status="string", net="decimal(10, 2)"),
        "customers.current": columns(id="long", country="string"),
    }
    assert chain["from"] == "orders.current"
    assert compiled(*chain["steps"], schemas=schemas).check().sql == sql[1]


def test_no_steps_are_the_input_itself() -> None:
    assert compiled().check().sql == "SELECT *\nFROM `landing`.`orders`"


FULL_JOIN = {"step": "join", "kind": "full", "input": "crm.sales.old_orders", "keys": {"id": "id", "status": "status"}}
SOURCE = "FROM `landing`.`orders`"


@pytest.mark.parametrize(
    ("step", "sql"),
    [
        ({"step": "select", "columns": ["status", "ID"]}, f"SELECT `status`, `id` {SOURCE}"),
        (
            {"step": "rename", "columns": {"id": "customer", "customer": "id"}},
            f"SELECT `id` AS `customer`, `customer` AS `id`, `status`, `amount`, `day` {SOURCE}",
        ),
        (
            {
                "step": "filter",
                "match": "any",
                "conditions": [
                    {"column": "amount", "operator": ">=", "value": "10.5"},
                    {"column": "day", "operator": "in", "values": ["2026-01-31", "2026-02-28"]},
                    {"column": "status", "operator": "starts with", "value": "o'"},
                    {"column": "status", "value": ""},
                    {"column": "id", "operator": "is empty"},
                ],
            },
            (
                f"SELECT * {SOURCE} WHERE `amount` >= 10.5 OR `day` IN (DATE '2026-01-31', DATE '2026-02-28')"
                " OR startswith(`status`, 'o\\'') OR `status` = '' OR `id` IS NULL"
            ),
        ),
        ({"step": "derive", "name": "n", "expression": " id + 1 "}, f"SELECT *, (id + 1) AS `n` {SOURCE}"),
        (
            {"step": "derive", "name": "Status", "expression": "upper(status)"},
            f"SELECT `id`, `customer`, (upper(status)) AS `Status`, `amount`, `day` {SOURCE}",
        ),
        (
            {"step": "join", "input": "landing.customers", "keys": {"customer": "customer"}, "prefix": "c_"},
            (
                "SELECT ours.`id`, ours.`customer`, ours.`status`, ours.`amount`, ours.`day`, theirs.`name`,"
                f" theirs.`status` AS `c_status` {SOURCE} AS ours"
                " INNER JOIN `landing`.`customers` AS theirs ON ours.`customer` = theirs.`customer`"
            ),
        ),
        (
            FULL_JOIN,
            (
                "SELECT coalesce(ours.`id`, theirs.`id`) AS `id`, ours.`customer`,"
                " coalesce(ours.`status`, theirs.`status`) AS `status`, ours.`amount`, ours.`day`, theirs.`note`"
                f" {SOURCE} AS ours FULL JOIN `crm`.`sales`.`old_orders` AS theirs"
                " ON ours.`id` = theirs.`id` AND ours.`status` = theirs.`status`"
            ),
        ),
        (
            {"step": "join", "kind": "anti", "input": "crm.sales.old_orders", "keys": {"id": "id"}},
            f"SELECT * {SOURCE} AS ours LEFT ANTI JOIN `crm`.`sales`.`old_orders` AS theirs ON ours.`id` = theirs.`id`",
        ),
        (
            {"step": "aggregate", "measures": [{"function": "count"}, {"function": "count distinct", "column": "id"}]},
            f"SELECT count(*) AS `count`, count(DISTINCT `id`) AS `count_distinct_id` {SOURCE}",
        ),
        ({"step": "aggregate", "group_by": ["day"]}, f"SELECT `day` {SOURCE} GROUP BY `day`"),
        (
            {"step": "union", "input": "crm.sales.old_orders", "fill_missing": True},
            (
                f"SELECT `id`, `customer`, `status`, `amount`, `day`, NULL AS `note` {SOURCE} UNION ALL SELECT `id`,"
                " NULL AS `customer`, `status`, NULL AS `amount`, NULL AS `day`, `note` FROM `crm`.`sales`.`old_orders`"
            ),
        ),
        (
            {
                "step": "pivot",
                "group_by": ["customer"],
                "column": "status",
                "values": ["open", "paid"],
                "measure": {"function": "average", "column": "amount"},
            },
            (
                "SELECT `customer`, avg(`amount`) FILTER (WHERE `status` = 'open') AS `open`,"
                f" avg(`amount`) FILTER (WHERE `status` = 'paid') AS `paid` {SOURCE} GROUP BY `customer`"
            ),
        ),
        ({"step": "deduplicate"}, f"SELECT DISTINCT * {SOURCE}"),
        (
            {"step": "deduplicate", "keys": ["customer"], "order_by": ["day", "id"], "keep": "last"},
            (
                "SELECT `id`, `customer`, `status`, `amount`, `day` FROM (SELECT *, row_number() OVER (PARTITION BY"
                " `customer` ORDER BY `day` DESC NULLS LAST, `id` DESC NULLS LAST) AS `row_number`"
                f" {SOURCE}) WHERE `row_number` = 1"
            ),
        ),
    ],
)
def test_the_query_of_each_step(step: Settings, sql: str) -> None:
    assert query(step) == sql


@pytest.mark.parametrize(
    ("step", "types"),
    [
        ({"step": "derive", "name": "n", "expression": "id + 1"}, {"n": None}),
        ({"step": "derive", "name": "n", "expression": "id", "type": "int"}, {"n": "int"}),
        (FULL_JOIN, {"id": "long", "status": "string"}),
        ({"step": "union", "input": "crm.sales.old_orders", "fill_missing": True}, {"id": "long", "note": "string"}),
        (
            {"step": "aggregate", "measures": [{"function": "average", "column": each} for each in ("amount", "id")]},
            {"average_amount": "decimal(14, 6)", "average_id": "double"},
        ),
        ({"step": "aggregate", "measures": [{"function": "most", "column": "day", "name": "last"}]}, {"last": "date"}),
    ],
)
def test_types_as_far_as_they_are_known(step: Settings, types: dict[str, str | None]) -> None:
    assert result(step).items() >= types.items()


def test_a_column_of_unknown_type_is_checked_by_its_name_alone() -> None:
    derived = {"step": "derive", "name": "n", "expression": "id * 2"}
    measures = [{"function": "sum", "column": "n"}]
    chain = compiled(derived, condition("N", ">", value="7"), {"step": "aggregate", "measures": measures})
    assert "WHERE `n` > '7'" in chain.check().sql
    assert chain.check().columns == (StepColumn("sum_n"),)
    assert refusal(derived, condition("m")).field == "steps.1.conditions.0.column"


@pytest.mark.parametrize(
    "name", ["a b", "tick`s", "`", "dot.ted", 'quo"te', "it's", "価格", "back\\slash", "select", "-- x"]
)
def test_any_name_is_quoted(name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    part = quoted if {".", "`"} & set(name) else name
    schemas = {f"{part}.{part}": [StepColumn(name, "string")]}
    chain = compiled({"step": "select", "label": name, "columns": [name.upper()]}, schemas=schemas)
    assert (
        chain.check().sql
        == f"WITH {quoted} AS (\n  SELECT {quoted}\n  FROM {quoted}.{quoted}\n)\nSELECT *\nFROM {quoted}"
    )


def test_a_part_of_the_query_never_has_the_name_of_another_one_or_of_an_input() -> None:
    schemas = {"Orders": columns(id="long"), "filter_2": columns(id="long")}
    same = {"step": "deduplicate", "label": " orders\n"}
    chain = compiled(same, condition("id"), same, {"step": "union", "input": "ORDERS"}, schemas=schemas)
    sql = chain.check().sql
    assert [line for line in sql.splitlines() if line.endswith(" AS (")] == [
        *("WITH `orders 2` AS (", "`filter_2 2` AS (", "`orders 3` AS (", "`union_4` AS (")
    ]
    assert sql.endswith("FROM `orders 3`\n  UNION ALL\n  SELECT `id`\n  FROM `Orders`\n)\nSELECT *\nFROM `union_4`")
