"""Records for the tests of matching: their own, and made-up ones of seeds that nothing was tuned on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from benchmarks.made_up_parts import COMPANIES, PEOPLE, record_table
from benchmarks.made_up_records import DataShape, RecordMaker
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.matching.blocking import BlockingPlan
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute
from lakehold.workspaces.products.matching.engine import MatchEngine
from lakehold.workspaces.products.matching.model import MatchModel
from lakehold.workspaces.products.matching.options import MatchOptions

TEST_SEED = 9_000
CUSTOMER = (
    MatchedAttribute("name", AttributeType.FULL_NAME),
    MatchedAttribute("email", AttributeType.EMAIL),
    MatchedAttribute("city", AttributeType.CITY),
)


@dataclass(slots=True)
class MatchResult:
    """What an engine found."""

    engine: MatchEngine
    plan: BlockingPlan
    model: MatchModel
    pairs: dict[tuple[str, str], float] = field(default_factory=dict)

    def sure(self) -> list[tuple[str, str]]:
        """Return the pairs over the default threshold."""
        return [pair for pair, probability in self.pairs.items() if probability >= MatchOptions().threshold]


def made_up(kind: str, seed: int = TEST_SEED, records: int = 2_000) -> tuple[pa.Table, list[MatchedAttribute]]:
    """Return made-up people or companies, and their attributes."""
    maker = RecordMaker(seed, DataShape(records=records))
    types = PEOPLE if kind == "people" else COMPANIES
    rows = maker.people() if kind == "people" else maker.companies()
    return record_table(rows, types), attributes(types)


def attributes(types: Mapping[str, AttributeType]) -> list[MatchedAttribute]:
    """Return matched attributes of these types."""
    return [MatchedAttribute(name, kind) for name, kind in types.items()]


def customers(rows: Iterable[tuple[str | None, str | None, str | None]]) -> pa.Table:
    """Return records of customers from full name, e-mail and city."""
    columns: dict[str, list[str | None]] = {}
    for place, (name, email, city) in enumerate(rows):
        given, _, family = (name or "").partition(" ")
        user, _, domain = (email or "").partition("@")
        record = {
            "record": f"{place:08x}",
            "name__key": name,
            "name__given": given,
            "name__family": family,
            "name__nick": given,
            "email__key": email,
            "email__user": user,
            "email__domain": domain,
            "city__key": city,
        }
        for column, value in record.items():
            columns.setdefault(column, []).append(value)
    names = ["record", "name__key", "name__given", "name__family", "name__nick"]
    names += ["email__key", "email__user", "email__domain", "city__key"]
    return pa.table({name: pa.array(columns.get(name, []), pa.string()) for name in names})


def match(table: pa.Table, matched: Iterable[MatchedAttribute], options: MatchOptions | None = None) -> MatchResult:
    """Match the records of a table with a new model."""
    engine = MatchEngine(list(matched), options or MatchOptions())
    engine.load(table)
    plan = engine.plan_blocking()
    engine.block(plan)
    model = engine.train()
    engine.score(model)
    engine.sum_up()
    rows = engine.connection.execute("select record_a, record_b, probability from pairs").fetchall()
    return MatchResult(engine, plan, model, {(a, b): probability for a, b, probability in rows})
