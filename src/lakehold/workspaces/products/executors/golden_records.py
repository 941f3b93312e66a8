"""The golden record of each entity: values chosen by the rules of attributes, with curators' overrides on top.

Records come together by entity in one shuffle, and a Python worker chooses the values of many entities at a time. Rules
in SQL are aggregates of Spark's own, computed beside that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lakehold.lake.row_formats import quote_identifier
from lakehold.workspaces.products.entities.golden_values import FLAG, EntityRecords, choose_values
from lakehold.workspaces.products.settings import ConsolidationRule, ProductAttribute

OVERRIDE = "override"
"""The origin of a value that a curator has set."""
_CHUNK = 50_000
_COMPUTED = "{}__sql"
_OVERRIDES = "lakehold:overrides"

CompileAggregate = Callable[[str], Column]
"""Returns the aggregate that a text in SQL stands for, or refuses it."""


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """The attributes, sources and compiler by which the values of entities are chosen."""

    attributes: Sequence[ProductAttribute]
    sources: Sequence[str]
    """The sources in their order."""
    compile_aggregate: CompileAggregate

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return [each.name for each in self.attributes]

    def schema(self) -> str:
        """Return the columns of the table of entities."""
        values = "".join(f"{quote_identifier(name)} string, " for name in self.names)
        return f"entity string, records int, flags array<string>, {values}origins map<string,string>"


def consolidate(records: DataFrame, members: DataFrame, plan: ConsolidationPlan, overrides: DataFrame) -> DataFrame:
    """Return the entities of members: `entity`, `records`, `flags`, the attributes and `origins`.

    `overrides` has `entity`, `attribute` and `value`, which may be NULL.
    """
    columns = [quote_identifier(name) for name in ("record", "source", "recency", *plan.names)]
    own = members.select("record", "entity", f.col("flag").alias(FLAG))
    rows = records.select(*columns).join(own, "record")
    computed = {
        each.name: _COMPUTED.format(each.name) for each in plan.attributes if each.rule is ConsolidationRule.SQL
    }
    if computed:
        aggregates = [
            plan.compile_aggregate(each.sql).cast("string").alias(computed[each.name])
            for each in plan.attributes
            if each.name in computed
        ]
        rows = rows.join(rows.groupBy("entity").agg(*aggregates), "entity")
    rules = {each.name: each.rule for each in plan.attributes}
    work = partial(_choose_batches, rules=rules, sources=list(plan.sources), computed=computed)
    # At the end: a join may divide the rows of a large entity.
    chosen = rows.repartition("entity").sortWithinPartitions("entity").mapInArrow(work, plan.schema())
    return _apply_overrides(chosen, overrides, plan)


def _choose_batches(
    batches: Iterable[pa.RecordBatch],
    rules: dict[str, ConsolidationRule],
    sources: list[str],
    computed: dict[str, str],
) -> Iterator[pa.RecordBatch]:
    for rows in _whole_entities(batches):
        yield from choose_values(EntityRecords(rows, sources, list(rules)), rules, computed).to_batches()


def _whole_entities(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows in large pieces, each with all records of its entities."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        start = _start_of_last(batch)
        waiting.append(batch.slice(0, start))
        count += start
        if start and count >= _CHUNK:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
        waiting.append(batch.slice(start))
        count += batch.num_rows - start
    if count:
        yield pa.Table.from_batches(waiting)


def _start_of_last(batch: pa.RecordBatch) -> int:
    """Return the row at which the last entity of a batch begins."""
    entities = batch.column("entity")
    return int(entities.index(entities[-1]).as_py()) if len(entities) else 0


def _apply_overrides(entities: DataFrame, overrides: DataFrame, plan: ConsolidationPlan) -> DataFrame:
    known = overrides.where(f.col("attribute").isin(plan.names))
    by_entity = known.groupBy("entity").agg(
        f.map_from_entries(f.collect_list(f.struct("attribute", "value"))).alias(_OVERRIDES)
    )
    found = entities.join(f.broadcast(by_entity), "entity", "left")
    given = f.col(quote_identifier(_OVERRIDES))
    kept = f.map_filter("origins", lambda name, _: ~f.map_contains_key(given, name))
    own = f.transform_values(f.map_filter(given, lambda _, value: value.isNotNull()), lambda _, __: f.lit(OVERRIDE))
    return found.select(
        "entity",
        "records",
        "flags",
        *(
            f.when(f.map_contains_key(given, name), given[name]).otherwise(f.col(quote_identifier(name))).alias(name)
            for name in plan.names
        ),
        f.when(given.isNull(), f.col("origins")).otherwise(f.map_concat(kept, own)).alias("origins"),
    )
