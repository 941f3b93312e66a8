"""What the guard lists is there and needed, and what it does not list is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakehold.pipeline.errors import RefusedQueryError
from lakehold.pipeline.spark.guard import functions, nodes, plans
from lakehold.pipeline.spark.guard.guard import Guard
from lakehold.pipeline.spark.jvm import active, frame, java_of
from lakehold.pipeline.spark.persons import Persons
from lakehold.runs import beats
from tests.pipeline.attacks.texts import ordinary
from tests.pipeline.shop import RITA, Shop

_EXAMPLE = re.compile(r"^\s*> ((?:SELECT|VALUES|WITH)\b.*?);\s*$", re.MULTILINE)
# Types that this Spark has not switched on yet.
_NOT_YET = re.compile(r"\bTIME\s*'", re.IGNORECASE)


@pytest.fixture(scope="module")
def session(spark: SparkSession, shop: Shop) -> SparkSession:
    """Rita's."""
    with shop.platform.database.read() as transaction:
        persons = Persons(spark, shop.platform.keys, shop.platform.clock, beats.addresses(transaction)[0])
    return persons.session(persons.ticket(RITA, 600), "Shop")


@pytest.fixture(scope="module")
def guard(spark: SparkSession) -> Guard:
    return Guard(spark)


def examples(session: SparkSession) -> Iterator[str]:
    """What Spark itself shows of each allowed function."""
    state = java_of(session).sessionState()
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        for identifier in plans.sequence(registry.listFunction()):
            if identifier.funcName() in functions.ALLOWED:
                shown = registry.lookupFunction(identifier).get().getExamples() or ""
                yield from (text for text in _EXAMPLE.findall(shown) if not _NOT_YET.search(text))


def test_every_listed_part_is_one_of_spark(session: SparkSession) -> None:
    found = session._jvm.java.lang.Class  # type: ignore[union-attr]
    for name in nodes.PARSED | nodes.ANALYSED:
        assert found.forName(name).getName() == name


def test_every_listed_function_is_one_of_spark(spark: SparkSession) -> None:
    known = {name for name, _ in plans.functions(spark)}
    assert functions.ALLOWED - known == set()
    # Nobody has those that call Java, not even the platform.
    assert {"reflect", "java_method", "try_reflect"} & known == set()


def test_a_function_that_is_not_listed_is_refused_by_its_name(
    spark: SparkSession, session: SparkSession, guard: Guard
) -> None:
    others = {name for name, _ in plans.functions(spark)} - functions.ALLOWED
    assert {"version", "current_user", "input_file_name", "from_xml", "sql_keywords"} <= others
    for name in sorted(others):
        for text in (f"SELECT `{name}`(1)", f"SELECT * FROM `{name.upper()}`()", f"VALUES (`{name}`())"):
            with pytest.raises(RefusedQueryError, match=f"function '{name}'"):
                guard.analysed(session, text)


def test_the_lists_are_just_what_questions_are_made_of(session: SparkSession, guard: Guard) -> None:
    texts = {*examples(session), *(each["ask"] for each in ordinary())}
    assert len(texts) > 800
    needed: set[str] = set()
    for text in sorted(texts):
        parsed, analysed = parts(session, text)
        assert parsed - guard._parsed == set(), text
        assert analysed - guard._analysed == set(), text
        needed |= parsed | analysed
    assert (nodes.PARSED | nodes.ANALYSED) - needed == set()


def parts(session: SparkSession, text: str) -> tuple[set[str], set[str]]:
    """The classes of everything in a query, before and after it was analysed."""
    with active(session):
        plan = java_of(session).sessionState().sqlParser().parsePlan(text)
        parsed = set().union(*(plans.classes(told) for told in plans.of_parsed(session, plan)))
        return parsed, plans.classes(plans.told(frame(session, plan)._jdf.queryExecution().analyzed()))
