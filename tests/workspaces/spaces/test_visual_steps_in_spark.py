"""Random chains of visual steps over random tables: their SQL in Spark has the rows of a plain evaluation."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import types as t

from lakehold.lake.spark.local_rows import local_rows
from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepColumn, sql_type
from lakehold.workspaces.spaces.tasks.visual_steps.compiler import CompiledStep, compile_steps
from lakehold.workspaces.spaces.tasks.visual_steps.settings import (
    AggregateStep,
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    JoinKind,
    JoinStep,
    PivotStep,
    RenameStep,
    SelectStep,
    StepCondition,
    StepMeasure,
    UnionStep,
    VisualStep,
)
from tests.lake.shop import RITA, Shop, open_shop
from tests.workspaces.spaces.plain_steps import FORMULAS, Formula, Table, evaluate

DECIMAL = "decimal(10, 2)"
VALUES: dict[str, list[object]] = {
    "long": [-1, 0, 1, 2, 7],
    "string": ["", "a", "A", "ab", "it's", "back\\slash", "naïve ☃", "x\ny"],
    "date": [date(2026, 1, 31), date(2026, 2, 28), date(1969, 12, 31)],
    "boolean": [True, False],
    DECIMAL: [Decimal("0.00"), Decimal("1.50"), Decimal("-12.30")],
}
TEXTS = {kind: [str(each).lower() if kind == "boolean" else str(each) for each in VALUES[kind]] for kind in VALUES}
COLUMNS = {
    "id": "long",
    "a b": "string",
    "dot.ted": "date",
    "tick`s": "string",
    "Größe": "long",
    "価格": DECIMAL,
    "select": "boolean",
    'quo"te': "long",
    "it's": "string",
    "back\\slash": "date",
    "theirs": "string",
}
"""Names that have to be quoted; each has one type in all tables, so that tables can be united."""
NEW_NAMES = ["new", "row_number", "a` b", "ours", "x.y", "--", "ID2", "'"]
SPARK_TYPES = {
    "long": t.LongType(),
    "string": t.StringType(),
    "date": t.DateType(),
    "boolean": t.BooleanType(),
    DECIMAL: t.DecimalType(10, 2),
}
JOIN_KINDS: list[JoinKind] = list(get_args(JoinKind))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=2, max_size=5, unique=True))
    columns = tuple((name, COLUMNS[name]) for name in names)
    rows = st.tuples(*(st.none() | st.sampled_from(VALUES[kind]) for _, kind in columns))
    return Table(columns, tuple(draw(st.lists(rows, max_size=6))))


class ChainBuilder:
    """Draws steps that fit the result of those before."""

    def __init__(self, draw: st.DrawFn, inputs: dict[str, Table]) -> None:
        self.draw, self.inputs = draw, inputs
        self.table = inputs["first"]
        self.steps: list[VisualStep] = []
        self.results = [self.table]

    def add(self) -> None:
        kinds = [self.select, self.rename, self.filter, self.derive, self.join, self.aggregate, self.union]
        build = self.draw(st.sampled_from([*kinds, self.pivot, self.deduplicate]))
        if (step := build()) is not None:
            self.append(step)

    def append(self, step: VisualStep, formula: Formula | None = None, source: str = "") -> None:
        table = evaluate(step, self.table, self.inputs, formula, source)
        if len({name.lower() for name in table.names}) == len(table.names):
            self.steps.append(step)
            self.table = table
            self.results.append(table)

    def names(self, least: int = 0, kinds: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Draw names of columns, in any case."""
        fitting = [name for name, kind in self.table.columns if not kinds or kind in kinds]
        chosen = self.draw(st.lists(st.sampled_from(fitting), min_size=least, max_size=4, unique=True))
        return tuple(self.in_any_case(name) for name in chosen)

    def in_any_case(self, name: str) -> str:
        loud = name.upper()
        return loud if loud.lower() == name.lower() and self.draw(st.booleans()) else name

    def label(self) -> str:
        return self.draw(st.sampled_from(["", "", "first", "Other", "my `step`", "two\nlines"]))

    def select(self) -> VisualStep:
        return SelectStep(columns=self.names(1), label=self.label())

    def rename(self) -> VisualStep:
        names = self.names(1)
        new = self.draw(st.permutations([*NEW_NAMES, *names]))
        return RenameStep(columns=dict(zip(names, new, strict=False)), label=self.label())

    def filter(self) -> VisualStep | None:
        names = self.names(1, tuple(VALUES))
        conditions = tuple(self.condition(name) for name in names)
        return FilterStep(conditions=conditions, match=self.draw(st.sampled_from(["all", "any"])), label=self.label())

    def condition(self, name: str) -> StepCondition:
        kind = self.table.type(name)
        texts = ["contains", "starts with"] if kind == "string" else []
        operators = ["=", "!=", "<", "<=", ">", ">=", "in", "is empty", "is not empty", *texts]
        operator = self.draw(st.sampled_from(operators))
        if operator.startswith("is "):
            return StepCondition(column=name, operator=operator)  # type: ignore[arg-type]
        value = st.sampled_from(TEXTS[kind])
        if operator == "in":
            return StepCondition(column=name, operator="in", values=tuple(self.draw(st.lists(value, min_size=1))))
        return StepCondition(column=name, operator=operator, value=self.draw(value))  # type: ignore[arg-type]

    def derive(self) -> None:
        name, kind = self.draw(st.sampled_from(self.table.columns))
        formula = self.draw(st.sampled_from([each for each in FORMULAS if each.applies_to in {"", kind}]))
        quoted = "`" + name.replace("`", "``") + "`"
        new = self.draw(st.sampled_from([*NEW_NAMES, *self.table.names]))
        cast = self.draw(st.sampled_from(["", formula.type]))
        self.append(DeriveStep(name=new, expression=formula.sql.format(quoted), type=cast), formula, name)

    def join(self) -> VisualStep | None:
        name, other = self.draw(st.sampled_from(list(self.inputs.items())))
        pairs = [
            (ours, theirs)
            for ours, kind in self.table.columns
            for theirs in other.names
            if kind == other.type(theirs) and kind in VALUES
        ]
        if not pairs or len(self.table.rows) > 50:
            return None
        keys = dict(self.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2)))
        kind = self.draw(st.sampled_from(JOIN_KINDS))
        prefix = self.draw(st.sampled_from(["o_", "`"]))
        return JoinStep(input=name, kind=kind, keys=keys, prefix=prefix, label=self.label())

    def measure(self) -> StepMeasure:
        name, kind = self.draw(st.sampled_from(self.table.columns))
        function = self.draw(st.sampled_from(["count", "count distinct", "least", "most"]))
        if kind in {"long", DECIMAL}:
            function = self.draw(st.sampled_from(["sum", function]))
        if kind == "long":
            function = self.draw(st.sampled_from(["average", function]))
        return StepMeasure(function=function, column=self.in_any_case(name))  # type: ignore[arg-type]

    def aggregate(self) -> VisualStep:
        measures = self.draw(st.sampled_from([(), (StepMeasure(function="count", name="n"),)]))
        measures += tuple(self.measure() for _ in range(self.draw(st.integers(0, 2))))
        return AggregateStep(group_by=self.names(0 if measures else 1), measures=measures, label=self.label())

    def union(self) -> VisualStep | None:
        name, other = self.draw(st.sampled_from(list(self.inputs.items())))
        types = {name.lower(): kind for name, kind in self.table.columns}
        if any(types.get(name.lower(), kind) != kind for name, kind in other.columns):
            return None
        alike = [kind for _, kind in self.table.columns] == [kind for _, kind in other.columns]
        by_name = not alike or self.draw(st.booleans())
        return UnionStep(input=name, by_name=by_name, fill_missing=by_name, label=self.label())

    def pivot(self) -> VisualStep:
        (name,) = self.names(1, tuple(VALUES))[:1]
        texts = st.sampled_from([each for each in TEXTS[self.table.type(name)] if each.strip()])
        values = tuple(self.draw(st.lists(texts, min_size=1, max_size=3, unique_by=str.lower)))
        return PivotStep(group_by=self.names(), column=name, values=values, measure=self.measure(), label=self.label())

    def deduplicate(self) -> VisualStep:
        keys = self.names()
        # By all columns, so that it is one row.
        order = tuple(self.draw(st.permutations(self.table.names))) if keys else ()
        keep: Literal["first", "last"] = "first" if self.draw(st.booleans()) else "last"
        return DeduplicateStep(keys=keys, order_by=order, keep=keep, label=self.label())


@st.composite
def chains(draw: st.DrawFn) -> ChainBuilder:
    builder = ChainBuilder(draw, {"first": draw(tables()), "other": draw(tables())})
    for _ in range(draw(st.integers(1, 6))):
        if any(kind in VALUES for _, kind in builder.table.columns):
            builder.add()
    return builder


@pytest.mark.slow
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(chain=chains())
def test_the_sql_of_a_chain_has_the_rows_of_its_steps(spark: SparkSession, chain: ChainBuilder) -> None:
    schemas = {name: [StepColumn(*column) for column in table.columns] for name, table in chain.inputs.items()}
    for name, table in chain.inputs.items():
        fields = [t.StructField(column, SPARK_TYPES[kind]) for column, kind in table.columns]
        local_rows(spark, table.rows, t.StructType(fields)).createOrReplaceTempView(name)
    compiled = compile_steps("first", chain.steps, schemas)
    compiled.check()
    for step in chain.steps:
        event(step.step)
    # A preview in the middle, and the end.
    for n in {len(chain.steps) // 2, len(chain.steps)}:
        assert_rows(spark, compiled.results[n], chain.results[n])


def assert_rows(spark: SparkSession, result: CompiledStep, expected: Table) -> None:
    found = spark.sql(f"SELECT * FROM ({result.sql}) LIMIT 100000")
    assert found.columns == [each.name for each in result.columns] == expected.names
    for field, column in zip(found.schema, result.columns, strict=True):
        if column.type is not None:
            assert field.dataType.simpleString().upper() == spark_type(spark, column.type), column
    assert Counter(tuple(row) for row in found.collect()) == Counter(expected.rows), result.sql


def spark_type(spark: SparkSession, kind: str) -> str:
    return spark.sql(f"SELECT CAST(NULL AS {sql_type(kind)}) AS x").schema["x"].dataType.simpleString().upper()


@pytest.fixture(scope="module")
def shop(spark: SparkSession, template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    file = folder / "lakehold.sqlite"
    shutil.copy(template_file, file)
    with open_shop(spark, f"sqlite:///{file}", folder / "data") as opened:
        yield opened


ORDERS = {"id": "long", "customer": "int", "amount": DECIMAL, "day": "date", "tags": "list<string>", "told": "string"}
SHOP = {"raw.orders": ORDERS, "raw.customers": {"id": "int", "name": "string"}}


@pytest.mark.slow
def test_the_guard_lets_all_kinds_of_steps_through(shop: Shop) -> None:
    count = StepMeasure(function="count")
    steps: list[VisualStep] = [
        SelectStep(columns=("customer", "id", "amount", "day")),
        FilterStep(conditions=(StepCondition(column="id", operator="<", value="10"),), label="Only ten"),
        DeriveStep(name="month", expression="date_trunc('month', day)", type="date"),
        JoinStep(input="raw.customers", kind="full", keys={"customer": "id"}, prefix="c_"),
        RenameStep(columns={"name": "customer name"}),
        DeduplicateStep(keys=("customer",), order_by=("id",), keep="last"),
        PivotStep(group_by=("customer",), column="month", values=("2026-01-01",), measure=count),
        UnionStep(input="raw.customers", fill_missing=True),
        JoinStep(input="raw.customers", kind="semi", keys={"customer": "id"}),
        AggregateStep(group_by=("customer",), measures=(StepMeasure(function="sum", column="2026-01-01", name="n"),)),
    ]
    schemas = {name: [StepColumn(*column) for column in columns.items()] for name, columns in SHOP.items()}
    compiled = compile_steps("raw.orders", steps, schemas)
    for result in compiled.results[:-1]:
        assert shop.ask(RITA, f"SELECT * FROM ({result.sql}) LIMIT 3")
    assert Counter(shop.ask(RITA, compiled.check().sql)) == Counter((number, 1) for number in range(5))
