"""What the guard lists is there and needed, and what it does not list is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakehold.lake.errors import RefusedQueryError
from lakehold.lake.spark.guard import allow_list, query_guard
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.jvm import active_session, dataframe_of_plan, java_session
from lakehold.lake.spark.session_pool import UserSessions
from lakehold.runs import heartbeat
from tests.lake.attacks.queries import ordinary_queries
from tests.lake.shop import RITA, Shop

_EXAMPLE = re.compile(r"^\s*> ((?:SELECT|VALUES|WITH)\b.*?);\s*$", re.MULTILINE)
# Types that this Spark has not switched on yet.
_NOT_YET = re.compile(r"\bTIME\s*'", re.IGNORECASE)


@pytest.fixture(scope="module")
def session(spark: SparkSession, shop: Shop) -> SparkSession:
    """Rita's."""
    with shop.platform.database.read() as transaction:
        persons = UserSessions(
            spark, shop.platform.keys, shop.platform.clock, heartbeat.worker_addresses(transaction)[0]
        )
    return persons.create_session(persons.issue_token(RITA, 600), "Shop")


@pytest.fixture(scope="module")
def guard(spark: SparkSession) -> QueryGuard:
    return QueryGuard(spark)


def examples(session: SparkSession) -> Iterator[str]:
    """What Spark itself shows of each allowed function."""
    state = java_session(session).sessionState()
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        for identifier in query_guard.iterate_sequence(registry.listFunction()):
            if identifier.funcName() in allow_list.ALLOWED_FUNCTIONS:
                examples_text = registry.lookupFunction(identifier).get().getExamples() or ""
                yield from (text for text in _EXAMPLE.findall(examples_text) if not _NOT_YET.search(text))


def test_every_listed_part_is_one_of_spark(session: SparkSession) -> None:
    found = session._jvm.java.lang.Class  # type: ignore[union-attr]
    for name in allow_list.PARSED_NODES | allow_list.ANALYSED_NODES:
        assert found.forName(name).getName() == name


def test_every_listed_function_is_one_of_spark(spark: SparkSession) -> None:
    known = {name for name, _ in query_guard.registered_functions(spark)}
    assert allow_list.ALLOWED_FUNCTIONS - known == set()
    # Nobody has those that call Java, not even the platform.
    assert {"reflect", "java_method", "try_reflect"} & known == set()


def test_a_function_that_is_not_listed_is_refused_by_its_name(
    spark: SparkSession, session: SparkSession, guard: QueryGuard
) -> None:
    others = {name for name, _ in query_guard.registered_functions(spark)} - allow_list.ALLOWED_FUNCTIONS
    assert {"version", "current_user", "input_file_name", "from_xml", "sql_keywords"} <= others
    for name in sorted(others):
        for text in (f"SELECT `{name}`(1)", f"SELECT * FROM `{name.upper()}`()", f"VALUES (`{name}`())"):
            with pytest.raises(RefusedQueryError, match=f"function '{name}'"):
                guard.analyse(session, text)


def test_the_lists_are_just_what_questions_are_made_of(session: SparkSession, guard: QueryGuard) -> None:
    texts = {*examples(session), *(each["ask"] for each in ordinary_queries())}
    assert len(texts) > 800
    needed: set[str] = set()
    for text in sorted(texts):
        parsed, analysed = parts(session, text)
        assert parsed - guard._parsed == set(), text
        assert analysed - guard._analysed == set(), text
        needed |= parsed | analysed
    assert (allow_list.PARSED_NODES | allow_list.ANALYSED_NODES) - needed == set()


def parts(session: SparkSession, text: str) -> tuple[set[str], set[str]]:
    """The classes of everything in a query, before and after it was analysed."""
    with active_session(session):
        plan = java_session(session).sessionState().sqlParser().parsePlan(text)
        parsed = set().union(
            *(query_guard.node_classes(nodes) for nodes in query_guard.parsed_plan_nodes(session, plan))
        )
        return parsed, query_guard.node_classes(
            query_guard.plan_nodes_of(dataframe_of_plan(session, plan)._jdf.queryExecution().analyzed())
        )
