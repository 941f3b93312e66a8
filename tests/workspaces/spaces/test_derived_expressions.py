"""Expressions of derived columns: what is one expression over the columns, and what is not."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pyspark.sql import SparkSession

from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepColumn
from lakehold.workspaces.spaces.tasks.visual_steps.compiler import CompiledStep, compile_steps
from lakehold.workspaces.spaces.tasks.visual_steps.settings import DeriveStep
from tests.processor_time import bounded

COLUMNS = {
    "id": "1L",
    "day": "DATE '2026-01-31'",
    "at": "TIMESTAMP '2026-01-31 12:00:00'",
    "status": "'open'",
    "a b": "2.5D",
    "tags": "array('x', 'y')",
    "address": "named_struct('city', 'Ulm', 'no', 5)",
    "payload": 'parse_json(\'{"a": {"b": 1}}\')',
}
INPUTS = {"derived_source": [StepColumn(name) for name in COLUMNS]}


def compiled(expression: str) -> CompiledStep:
    return compile_steps("derived_source", [DeriveStep(name="result", expression=expression)], INPUTS).check()


EXPRESSIONS = [
    *("id + 1", "ID * `A B` - -1", "'it''s -- no; comment ('", r"concat('a\'b', r'\', status)"),
    *('"text; ("', "X'1F'", "1e-3 + .5 + 2L", "`a b` / 2", "status || '!'", "id % 2 = 0 AND NOT status <=> NULL"),
    "CASE WHEN id > 1 THEN 'many' WHEN id IS NULL THEN NULL ELSE 'one' END",
    "CASE status WHEN 'open' THEN true ELSE false END",
    *("CAST(id AS DECIMAL(10, 2))", "try_cast(status AS INT)", "status::string", "id::bigint + 1"),
    *("date_add(day, 7)", "day + INTERVAL 1 DAY", "day - INTERVAL '1' MONTH", "date_trunc('month', at)"),
    *("extract(YEAR FROM day)", "extract(week FROM at)", "timestampadd(HOUR, 2, at)", "datediff(DAY, at, now())"),
    *("trim(BOTH 'o' FROM status)", "substring(status FROM 1 FOR 2)", "position('p' IN status)", "current_date"),
    *("status LIKE 'o%' ESCAPE '/'", "status IN ('open', 'paid')", "id BETWEEN 1 AND 3", "status RLIKE '^o'"),
    *("id IS DISTINCT FROM 2", "status ILIKE ANY ('O%', 'p%')", "status COLLATE UTF8_LCASE = 'OPEN'"),
    "row_number() OVER (PARTITION BY status ORDER BY day DESC NULLS LAST, id)",
    "sum(id) OVER (ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    *("transform(tags, tag -> upper(tag))", "aggregate(tags, '', (acc, tag) -> concat(acc, tag))"),
    *("filter(tags, (tag, i) -> i > 0)", "tags[0]", "address.city", "`address`.`no` + 1", "size(tags)"),
    *("from_json('{}', 'a INT').a", "cast(NULL AS STRUCT<x: INT, y: ARRAY<STRING>>)", "payload:a.b::int"),
    *("mask(status, lowerChar => 'x')", "to_date('2026-01-31', 'yyyy-MM-dd')", "coalesce(id,\n  0)", "(id)"),
    *("make_date(2026, 1, 31)", "if(id > 1, 'a', 'b')", "nvl2(status, 1, 0)", "id DIV 2", "~id & 3 ^ 1 | 4"),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_over_the_columns_is_taken_and_is_one_column_in_spark(
    spark: SparkSession, expression: str
) -> None:
    values = ", ".join(f"{value} AS `{name}`" for name, value in COLUMNS.items())
    spark.sql(f"SELECT {values}").createOrReplaceTempView("derived_source")
    rows = spark.sql(compiled(expression).sql)
    assert rows.columns == [*COLUMNS, "result"]
    assert rows.count() == 1


@pytest.mark.parametrize(
    "expression",
    [
        *("id -- rest", "id /* rest */", "id */", "/*+ hint */ id", "id; DROP TABLE x", "id, status", "1 AS x, 2"),
        *("id)", "(id", "id) + (1", "(id]", "tags[0", "'open", '"open', "`id", "id AS x) FROM y WHERE (1 = 1", "\\"),
        *("$$)$$", "r'\\')", "'\\'' )", "(SELECT 1)", "id IN (select id FROM other)", "EXISTS (SELECT * FROM x)"),
        *("(TABLE other)", "id IN (VALUES (1))", "(WITH x AS (TABLE y) FROM x)", "((FROM x))", "SELECT 1", "TABLE x"),
        *("(MAP id USING 'cat' FROM x)", "(\nselect\n1)", "(  table x)"),
    ],
)
def test_what_is_more_than_an_expression_is_refused(expression: str) -> None:
    with pytest.raises(InvalidSettingError, match=r"Step 1 \(derive\): ") as refused:
        compiled(expression)
    assert refused.value.field == "steps.0.expression"


@pytest.mark.parametrize(
    ("expression", "name", "near"),
    [
        *(("idd + 1", "idd", "id"), ("upper(`statu`)", "statu", "status"), ("adress.city", "adress", "address")),
        *(("transform(tag, x -> x)", "tag", "tags"), ("CASE WHEN staus = 'x' THEN 1 END", "staus", "status")),
        *(("sum(id) OVER (PARTITION BY stat)", "stat", "status"), ("`a  b` * 2", "a  b", "a b")),
    ],
)
def test_a_column_that_is_gone_is_found_without_spark(expression: str, name: str, near: str) -> None:
    with pytest.raises(InvalidSettingError) as refused:
        compiled(expression)
    assert refused.value.message == f"Step 1 (derive): The input 'derived_source' has no column '{name}'."
    assert refused.value.hint == f"Did you mean '{near}'?"


@pytest.mark.parametrize(
    "part", ["'\\", "(", "(a,", "x->", "(x)->", ")->", "r'", "`", "id+", "(x,y)->", "a.", "a:", "--"]
)
def test_no_expression_takes_long_to_check(part: str) -> None:
    with bounded(part), suppress(InvalidSettingError):
        compiled("(" * 20_000 + part * 20_000 + ")" * 20_000)
    with bounded(part), suppress(InvalidSettingError):
        compiled(part * 20_000)
