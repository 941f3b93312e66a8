"""The match engine on DuckDB: from records to the pairs that are, or may be, of one entity."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
from numpy.typing import NDArray
from splink import DuckDBAPI, Linker

from lakehold.workspaces.products.attribute_types import PARTS
from lakehold.workspaces.products.matching.blocking import (
    BlockingPlan,
    BlockingPlanner,
    candidate_rules,
    custom_rules,
    pairs_query,
)
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute
from lakehold.workspaces.products.matching.model import MatchModel
from lakehold.workspaces.products.matching.options import MatchOptions, MatchReport, Progress
from lakehold.workspaces.products.matching.pattern_counts import PatternCounter
from lakehold.workspaces.products.matching.training import train

if TYPE_CHECKING:
    import pyarrow as pa


_OTHER_VALUES = 300
"""So many other values are counted beside those that there are, so that none of a few counts as frequent."""


class MatchEngine:
    """Matches the records of one Parquet file or Arrow table. The table `pairs` of its connection is the result."""

    def __init__(
        self, attributes: Sequence[MatchedAttribute], options: MatchOptions, say: Progress = lambda _: None
    ) -> None:
        logging.getLogger("splink").setLevel(logging.ERROR)
        self.attributes, self.options, self._say = list(attributes), options, say
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": options.memory_limit,
            "threads": options.threads,
        }
        if options.temporary:
            settings["temp_directory"] = options.temporary
        self.connection = duckdb.connect(config=settings)
        self.connection.execute("set preserve_insertion_order = false; set enable_progress_bar = false")
        self.report = MatchReport()
        self._since, self._incremental = time.monotonic(), False

    def close(self) -> None:
        """Give the memory back."""
        self.connection.close()

    def load(self, records: pa.Table | str | Path) -> None:
        """Read the records, and collapse those that are equal in all that is matched to one."""
        columns = [each.column(part) for each in self.attributes for part in PARTS[each.type].parts]
        if isinstance(records, str | Path):
            self.connection.execute(f"create or replace view records as from read_parquet('{records}')")
        else:
            self.connection.register("records", records)
        joined = ", ".join(f"coalesce({column}, '')" for column in columns)
        key = f"md5_number(concat_ws('\x1f', {joined}))" if columns else "record"
        run = self.connection.execute
        run(f"create or replace table keyed as select record, {key} as k from records")
        run(
            "create or replace table equal_records as"
            " select k, min(record) as record, count(*) as n from keyed group by k"
        )
        values = "".join(f", nullif({column}, '') as {column}" for column in columns)
        run(
            "create or replace table prepared as select row_number() over (order by record) - 1 as id, * from"
            f" (select record, n{values} from records join equal_records using (record))"
        )
        self.report.records, self.report.distinct = self._number("keyed"), self._number("prepared")
        self._done("load")

    def plan_blocking(self) -> BlockingPlan:
        """Choose the blocking rules and count their pairs, before anything is compared."""
        own = custom_rules(self.options.blocking, self.attributes)
        planner = BlockingPlanner(self.connection, self.options.max_pairs)
        plan = planner.plan(own or candidate_rules(self.attributes))
        self.report.rules = [rule.describe() for rule in plan.rules]
        self.report.notes += plan.notes
        for rule in plan.rules:
            self._say(f"blocking by {rule.rule.name}: {rule.pairs:,} pairs")
        self._done("blocking")
        return plan

    def block(self, plan: BlockingPlan, changed: str = "") -> None:
        """Make the table of pairs that are compared."""
        self._incremental = bool(changed)
        self.connection.execute(f"create or replace table blocked as {pairs_query(plan, changed=changed)}")
        self.report.compared = self._number("blocked")
        self._say(f"{self.report.compared:,} pairs are compared")
        self._done("pairs")

    def touch(self, changed: str, previous: str) -> None:
        """Make the tables of the records, and of their representatives, whose pairs may have changed.

        Besides the changed records these are the ones that were linked to them: equal records may need another
        representative. Records that are gone are among them, so that their pairs can be taken away.
        """
        run = self.connection.execute
        run(f"create or replace temp table changed as select distinct record from read_parquet('{changed}')")
        near = f"from read_parquet('{previous}') p"
        run(
            f"create or replace temp table reached as select record from changed"
            f" union select record_b {near} semi join changed c on p.record_a = c.record"
            f" union select record_a {near} semi join changed c on p.record_b = c.record"
        )
        run("create or replace table touched_groups as select distinct k from keyed semi join reached using (record)")
        run(
            "create or replace table touched as select id from prepared p join equal_records using (record)"
            " semi join touched_groups using (k)"
        )
        run(
            "create or replace table touched_records as select record from reached"
            " union select record from keyed semi join touched_groups using (k)"
        )

    def frequencies_query(self, model: MatchModel) -> str:
        """Return the query of the frequencies of values that are frequent; that of the others stands at NULL."""
        parts = ["select '' as name, null as value, 0.0 as frequency where false"]
        for column in model.frequency_columns():
            table = f"frequency_of_{column}"
            parts.append(f"select '{column}', null, 1 / (count({column}) + {_OTHER_VALUES}) from prepared")
            parts.append(f"select '{column}', {column}, tf_{column} from {table} where n > 2")
        return " union all ".join(parts) + " order by all"

    def write(self, query: str, path: Path) -> None:
        """Write the rows of a query as Parquet."""
        self.connection.execute(f"copy ({query}) to '{path}' (format parquet)")

    def train(self, same: Sequence[tuple[str, str]] = (), different: Sequence[tuple[str, str]] = ()) -> MatchModel:
        """Learn a model from the records; answers of curators take part when there are enough."""
        counter = PatternCounter(self.connection, self.attributes, self.options.seed)
        shares = train(counter.comparisons, counter.training_data(same, different))
        model = MatchModel(
            attributes=self.attributes,
            m=_rounded(shares.m),
            u=_rounded(shares.u),
            rivals={rival: _rounded(each) for rival, each in shares.rivals.items()},
            prior=float(f"{shares.prior:.6g}"),
            rival_priors={rival: float(f"{each:.6g}") for rival, each in shares.rival_priors.items()},
            notes=shares.notes,
        )
        self.report.notes += model.notes
        self._done("training")
        return model

    def score(self, model: MatchModel) -> None:
        """Score the blocked pairs, and make the table `pairs` of those over the review probability."""
        run = self.connection.execute
        review = min(max(self.options.review, 1e-6), 1 - 1e-9)
        predictions = self._predict(model, "blocked", review)
        run(
            "create or replace table pairs as select least(l.record, r.record) as record_a,"
            " greatest(l.record, r.record) as record_b, 1 / (1 + power(2::double, -weight)) as probability, weight"
            f" from ({model.weights_query(predictions)}) s"
            " join prepared l on l.id = s.id_l join prepared r on r.id = s.id_r"
            f" where 1 / (1 + power(2::double, -weight)) >= {review}"
        )
        run(f"drop table if exists {predictions}")
        self._link_equal(model, review)
        self._done("scores")

    def take_over(self, previous: str) -> None:
        """Add the pairs of the run before that cannot have changed."""
        self.connection.execute(
            "insert into pairs select record_a, record_b, probability, weight"
            f" from read_parquet('{previous}') p anti join touched_records a on p.record_a = a.record"
            " anti join touched_records b on p.record_b = b.record"
        )
        self._done("unchanged pairs")

    def sum_up(self) -> None:
        """Complete the report by what was found."""
        self.report.pairs = self._number("pairs")
        self.report.thresholds = self._thresholds()

    def _predict(self, model: MatchModel, pairs: str, review: float) -> str:
        """Let Splink score pairs, and return the table; those that it finds below the review, rivals only lower."""
        linker = make_linker(self.connection, model)
        linker.table_management.register_blocked_pairs_for_predict(DuckDBAPI(self.connection).register(pairs))
        predicted = linker.inference.predict(threshold_match_probability=review, warning_mode="never")
        return str(predicted.physical_name)

    def _link_equal(self, model: MatchModel, review: float) -> None:
        """Add the links of equal records, with the probability that such a record has with itself, and no weight.

        They are never the weakest links of an entity. Records that are equal in nothing but what is missing have none.
        """
        run = self.connection.execute
        touched = " semi join touched using (id)" if self._incremental else ""
        run(
            "create or replace table blocked_equal as select id as join_key_l, id as join_key_r, '0' as match_key"
            f" from prepared{touched} where n > 1"
        )
        if not self._number("blocked_equal"):
            return
        found = self._predict(model, "blocked_equal", review)
        run(
            "insert into pairs select s.record, k.record, 1 / (1 + power(2::double, -weight)), null"
            f" from (select p.record, weight from ({model.weights_query(found)}) f join prepared p on p.id = f.id_l) s"
            " join equal_records e on e.record = s.record join keyed k on k.k = e.k and k.record <> s.record"
            f" where 1 / (1 + power(2::double, -weight)) >= {review} and weight > {model.prior_weight}"
        )
        run(f"drop table if exists {found}")

    def _thresholds(self) -> list[dict[str, float]]:
        """Return, for some thresholds, the pairs above and how many of them are expected to be right."""
        marks = sorted({0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, self.options.threshold})
        rows = []
        for mark in marks:
            above = self.connection.execute(
                "select count(*), avg(probability) from pairs where probability >= ?", [mark]
            )
            count, mean = above.fetchall()[0]
            rows.append({"threshold": mark, "pairs": count, "precision": round(mean or 1.0, 5)})
        return rows

    def _number(self, table: str) -> int:
        rows = self.connection.execute(f"select count(*) from {table}").fetchall()
        return int(rows[0][0] or 0)

    def _done(self, phase: str) -> None:
        now = time.monotonic()
        self.report.seconds[phase] = round(self.report.seconds.get(phase, 0) + now - self._since, 3)
        self._since = now
        self._say(f"{phase}: {self.report.seconds[phase]} s")


def make_linker(connection: duckdb.DuckDBPyConnection, model: MatchModel) -> Linker:
    """Return a Splink linker over the prepared records, with the frequencies of their values."""
    api = DuckDBAPI(connection)
    linker = Linker(api.register("prepared"), model.splink_settings(), log_level=None)
    for column in model.frequency_columns():
        lookup = f"frequency_of_{column}"
        connection.execute(
            f"create or replace table {lookup} as select {column}, count(*) as n, greatest(count(*) - 1, 0.5) / "
            f"(select count({column}) + {_OTHER_VALUES} from prepared)::double as tf_{column}"
            f" from prepared where {column} is not null group by {column}"
        )
        linker.table_management.register_term_frequency_lookup(api.register(lookup), column)
    return linker


def _rounded(shares: Sequence[NDArray[np.float64]]) -> list[list[float]]:
    return [[float(f"{share:.6g}") for share in levels] for levels in shares]
