"""Blocking: which pairs of records are compared at all, so that their number stays bounded.

A rule is a list of columns that must be equal. Where so many records have the same values that the pairs would be too
many, further columns must be equal as well; values that remain too frequent give no pairs by this rule. The pairs of
each rule are counted by grouping, never by building them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import quote
from lakehold.workspaces.products.attribute_types import PARTS, AttributeType
from lakehold.workspaces.products.matching.comparison_library import name_columns
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute

if TYPE_CHECKING:
    import duckdb

GROUP_SIZES = (100, 40, 15, 6)
"""How many records may have the same values before further columns must be equal; the first that keeps the budget."""
PAIRS_PER_RECORD = 6
"""The budget of one rule that was chosen from the data."""
_SMALL = 50_000
"""A rule may give so many pairs in any case."""
PREPARED = "prepared"
KEYS = "blocking_keys"


@dataclass(frozen=True, slots=True)
class BlockingRule:
    """Expressions over the columns of a record that must be equal, and those that narrow frequent values."""

    name: str
    keys: tuple[str, ...]
    narrowed_by: tuple[str, ...] = ()
    custom: bool = False


@dataclass(frozen=True, slots=True)
class RulePlan:
    """The figures of a rule on the data, before anything is compared."""

    rule: BlockingRule
    column: str
    pairs: int
    narrowed: int = 0
    """Records with values that are so frequent that further columns must be equal."""
    left_out: int = 0
    """Records whose values remain too frequent: they give no pairs by this rule."""

    def describe(self) -> dict[str, Any]:
        """Return its figures as people and JSON read them."""
        columns = {"name": self.rule.name, "keys": list(self.rule.keys), "custom": self.rule.custom}
        return columns | {"pairs": self.pairs, "narrowed": self.narrowed, "left_out": self.left_out}


@dataclass(slots=True)
class BlockingPlan:
    """The rules that are used, in order; pairs that several rules find are counted by each."""

    rules: list[RulePlan] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """The most pairs that there can be."""
        return sum(rule.pairs for rule in self.rules)


class TooManyPairsError(LakeholdError):
    """A blocking rule gives more pairs than may be compared."""

    code = "too_many_pairs"
    status = 422


def candidate_rules(attributes: Sequence[MatchedAttribute]) -> list[BlockingRule]:
    """Return the rules that make sense for the types of the attributes, the most telling ones first."""
    first: dict[AttributeType, MatchedAttribute] = {}
    for attribute in attributes:
        first.setdefault(attribute.type, attribute)
    rules: dict[tuple[str, ...], BlockingRule] = {}
    for rule in (*_alone(attributes), *_people(first), *_companies(first), *_general(attributes)):
        rules.setdefault(rule.keys, rule)
    return list(rules.values())


def _alone(attributes: Sequence[MatchedAttribute]) -> Iterator[BlockingRule]:
    """Yield the rules of values that few entities share."""
    narrow = tuple(_narrow(attributes))
    for each in attributes:
        if each.type in {AttributeType.IDENTIFIER, AttributeType.EMAIL}:
            yield BlockingRule(each.name, (each.column(),), narrow)
            if each.type is AttributeType.EMAIL:
                yield BlockingRule(f"user of {each.name}", (each.column("user"),), narrow)
        elif each.type is AttributeType.PHONE:
            yield BlockingRule(each.name, (each.column("tail"),), narrow)


def _narrow(attributes: Sequence[MatchedAttribute]) -> Iterator[str]:
    """Yield what is likely to be equal for one entity, to divide frequent values by."""
    parts = {
        AttributeType.FULL_NAME: "family",
        AttributeType.FAMILY_NAME: "key",
        AttributeType.COMPANY_NAME: "first",
        AttributeType.CITY: "key",
        AttributeType.DATE: "year",
        AttributeType.POSTCODE: "key",
        AttributeType.GIVEN_NAME: "nick",
    }
    yield from (each.column(parts[each.type]) for each in attributes if each.type in parts)


def _people(first: dict[AttributeType, MatchedAttribute]) -> Iterator[BlockingRule]:
    given, family = name_columns(first)
    places = [first[each].column() for each in (AttributeType.POSTCODE, AttributeType.CITY) if each in first]
    date, street = first.get(AttributeType.DATE), first.get(AttributeType.STREET)
    if date:
        month = f"{date.column()}[1:7]"
        for name in filter(None, (family, given and given[1])):
            yield BlockingRule(f"birth date and {name}", (date.column(), f"left({name}, 2)"), (name,))
        for place in places:
            yield BlockingRule(f"birth date and {place}", (date.column(), place))
        if given and family:
            yield BlockingRule("names and birth month", (f"left({given[1]}, 1)", sound(family), month), (given[1],))
    if given and family:
        ordered = (f"least({given[1]}, {family})", f"greatest({given[1]}, {family})")
        yield BlockingRule("names in any order", ordered, (*places, *([date.column("year")] if date else [])))
        for place in places:
            yield BlockingRule(
                f"sound of the family name and {place}", (sound(family), place, f"left({given[1]}, 1)"), (family,)
            )
            yield BlockingRule(f"given name and {place}", (given[1], place), (f"left({family}, 1)", family))
    if family and street:
        keys = (f"left({street.column()}, 5)", street.column("number"), f"left({family}, 2)")
        yield BlockingRule("family name and address", keys, (family, given[1] if given else family))
    if given and street:
        keys = (f"left({street.column()}, 5)", street.column("number"), f"left({given[1]}, 2)")
        yield BlockingRule("given name and address", keys, tuple(places))


def _companies(first: dict[AttributeType, MatchedAttribute]) -> Iterator[BlockingRule]:
    company = first.get(AttributeType.COMPANY_NAME)
    if not company:
        return
    key, words, start = company.column(), company.column("sorted"), company.column("first")
    places = [first[each].column() for each in (AttributeType.CITY, AttributeType.POSTCODE) if each in first]
    yield BlockingRule("company name", (words,), tuple(places))
    yield BlockingRule("start of the name", (f"left({key}, 6)",), tuple(places))
    for place in places:
        yield BlockingRule(f"sound of the name and {place}", (sound(start), place), (start,))
        yield BlockingRule(f"start of the name and {place}", (f"left({words}, 3)", place), (start,))
    if email := first.get(AttributeType.EMAIL):
        yield BlockingRule("e-mail domain", (email.column("domain"),), (f"left({key}, 4)", *places))
    if street := first.get(AttributeType.STREET):
        keys = (f"left({street.column()}, 5)", street.column("number"), f"left({key}, 1)")
        yield BlockingRule("company name and address", keys, tuple(places))


def _general(attributes: Sequence[MatchedAttribute]) -> Iterator[BlockingRule]:
    """Yield rules for attributes without a type of their own, such as those of products."""
    narrow = tuple(_narrow(attributes))
    for each in attributes:
        if each.type in {AttributeType.TEXT, AttributeType.NUMBER, AttributeType.FULL_NAME}:
            others = tuple(other.column() for other in attributes if other is not each)
            yield BlockingRule(each.name, (each.column(),), (*narrow, *others)[:3])
            if each.type is AttributeType.TEXT:
                yield BlockingRule(f"start of {each.name}", (f"left({each.column()}, 6)",), others[:3])


def sound(column: str) -> str:
    """Return the expression of a word's first letter and the next three consonants."""
    return f"left({column}[1] || regexp_replace({column}[2:], '[aeiouyhw]', '', 'g'), 4)"


def custom_rules(columns: Sequence[Sequence[str]], known: Sequence[MatchedAttribute]) -> list[BlockingRule]:
    """Return the rules that people wrote: names of attributes, or of their parts."""
    names = {each.name: each.column() for each in known}
    names |= {each.column(part): each.column(part) for each in known for part in PARTS[each.type].parts}
    for key in (key for keys in columns for key in keys):
        if key not in names:
            message = f"A blocking rule names {quote(key)}, which is no matched attribute."
            raise InvalidInputError(message, f"Use some of: {', '.join(names)}.", field="match.blocking")
    return [
        BlockingRule(" and ".join(keys), tuple(names[key] for key in keys), custom=True) for keys in columns if keys
    ]


class BlockingPlanner:
    """Chooses rules by counting on a DuckDB connection, and makes the table of their keys."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, max_pairs: int) -> None:
        self._connection, self._max = connection, max_pairs
        self._records = self._number(f"select count(*) from {PREPARED}")
        self._budget = max(_SMALL, PAIRS_PER_RECORD * self._records)

    def plan(self, rules: Sequence[BlockingRule]) -> BlockingPlan:
        """Make the keys of the rules, leaving out those that would be too many."""
        plan = BlockingPlan()
        self._connection.execute(f"create or replace table {KEYS} as select id from {PREPARED}")
        for place, rule in enumerate(rules):
            found = self._custom(rule, place) if rule.custom else self._chosen(rule, place)
            if found.pairs > self._budget and not rule.custom:
                plan.notes.append(f"{rule.name}: left out, as it would compare {found.pairs:,} pairs.")
            elif plan.pairs + found.pairs > self._max:
                self._refuse(rule, plan.pairs + found.pairs, plan)
            else:
                self._add(found, plan)
        return plan

    def _add(self, found: RulePlan, plan: BlockingPlan) -> None:
        if found.left_out:
            plan.notes.append(f"{found.rule.name}: {found.left_out:,} records have values that are too frequent.")
        if found.pairs:
            plan.rules.append(found)
            self._keep(found.column)

    def _refuse(self, rule: BlockingRule, pairs: int, plan: BlockingPlan) -> None:
        if not rule.custom:
            plan.notes.append(f"{rule.name}: left out, as there would be {pairs:,} pairs in all.")
            return
        message = f"The blocking rule {rule.name} would compare {pairs:,} pairs of records."
        hint = f"Add a column to the rule, or raise max_pairs from {self._max:,}."
        raise TooManyPairsError(message, hint, field="match.blocking")

    def _custom(self, rule: BlockingRule, place: int) -> RulePlan:
        self._connection.execute(
            f"create or replace temp table rule_keys as select id, {_hash(rule.keys)} as k from {PREPARED}"
        )
        return RulePlan(rule, f"rule_{place}", self._count())

    def _chosen(self, rule: BlockingRule, place: int) -> RulePlan:
        for size in GROUP_SIZES:
            found = self._narrowed(rule, place, size)
            if found.pairs <= self._budget:
                break
        return found

    def _narrowed(self, rule: BlockingRule, place: int, size: int) -> RulePlan:
        """Count with further columns for frequent values, one after the other."""
        run, narrowed, keys = self._connection.execute, 0, rule.keys
        run(f"create or replace temp table rule_keys as select id, {_hash(keys)} as k from {PREPARED}")
        for number, more in enumerate((*rule.narrowed_by, None)):
            run(
                "create or replace temp table frequent as select k from rule_keys where k is not null"
                f" group by k having count(*) > {size}"
            )
            records = self._number("select count(*) from rule_keys semi join frequent using (k)")
            if not records:
                return RulePlan(rule, f"rule_{place}", self._count(), narrowed)
            narrowed = narrowed or records
            keys = (*keys, more) if more else keys
            instead = _hash((*keys, f"'{number}'")) if more else "null::ubigint"
            run(
                "create or replace temp table rule_keys as"
                f" select r.id, case when f.k is null then r.k else {instead} end as k"
                f" from rule_keys r join {PREPARED} p using (id) left join frequent f on r.k = f.k"
            )
        return RulePlan(rule, f"rule_{place}", self._count(), narrowed, records)

    def _count(self) -> int:
        groups = "select count(*)::hugeint as n from rule_keys where k is not null group by k"
        return self._number(f"select sum(n * (n - 1) // 2) from ({groups})")

    def _keep(self, column: str) -> None:
        self._connection.execute(
            f"create or replace table {KEYS} as select b.*, r.k as {column} from {KEYS} b join rule_keys r using (id)"
        )

    def _number(self, query: str) -> int:
        rows = self._connection.execute(query).fetchall()
        return int(rows[0][0] or 0)


def _hash(keys: Sequence[str]) -> str:
    """Return the expression of one number for the keys; NULL where one of them has no value."""
    known = " and ".join(f"{key} is not null and {key} <> ''" for key in keys)
    return f"case when {known} then hash({', '.join(keys)}) end"


def pairs_query(plan: BlockingPlan, *, changed: str = "") -> str:
    """Return the query of the pairs of all rules, each once; with a table of changed ids, of those with one of them."""
    parts = []
    for place, rule in enumerate(plan.rules):
        earlier = "".join(f" and (l.{other.column} = r.{other.column}) is not true" for other in plan.rules[:place])
        left = f"(from {KEYS} semi join {changed} using (id))" if changed else KEYS
        joined = f"from {left} l join {KEYS} r on l.{rule.column} = r.{rule.column}"
        if changed:
            both = f"(l.id < r.id or r.id not in (select id from {changed}))"
            parts.append(
                f"select least(l.id, r.id) as join_key_l, greatest(l.id, r.id) as join_key_r, '{place}' as match_key"
                f" {joined} where l.id <> r.id and {both}{earlier}"
            )
        else:
            parts.append(
                f"select l.id as join_key_l, r.id as join_key_r, '{place}' as match_key"
                f" {joined} where l.id < r.id{earlier}"
            )
    empty = "select null::bigint as join_key_l, null::bigint as join_key_r, '' as match_key where false"
    return " union all ".join(parts) or empty
