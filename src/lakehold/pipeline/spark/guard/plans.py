"""What Spark tells of a plan: each node and expression with its class and its fields, those of subqueries too.

Spark tells all of it in one call, but for two things: the windows that a query gives names to, and what a table is. The
windows are put in their places first, as the analyser itself does; for tables there is `relations`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakehold.pipeline.errors import RefusedQueryError
from lakehold.pipeline.spark.jvm import jvm_of

Told = list[dict[str, Any]]
Java = Any
"""Something of the JVM's."""

_LITERAL = "org.apache.spark.sql.catalyst.expressions.Literal"
_WINDOWS = "org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition"
_MOST = 100


def told(plan: Java) -> Told:
    """Everything in it."""
    try:
        return list(_dicts(json.loads(plan.toJSON())))
    except (Py4JJavaError, PySparkException, ValueError, RecursionError) as error:
        raise RefusedQueryError("This query has a part that cannot be looked into.", "Write it simpler.") from error


def of_parsed(session: SparkSession, plan: Java) -> Iterator[Told]:
    """Everything in a plan that nothing was looked up for yet; what has windows with names comes twice."""
    waiting, seen = [plan], 0
    while waiting:
        here = waiting.pop()
        yield (found := told(here))
        if _WINDOWS in classes(found):
            placed = _placed(session, here)
            yield told(placed)
            waiting.extend(sequence(placed.subqueriesAll()))
        seen += 1
        if seen > _MOST:
            raise RefusedQueryError("Too many queries lie within each other.", "Give their windows no names.")


def classes(found: Told) -> set[str]:
    """The class of every node and expression."""
    return {name for node in found if isinstance(name := node.get("class"), str)}


def leaves(plan: Java, named: Container[str]) -> Iterator[Java]:
    """The nodes of these classes that nothing lies under, those of subqueries too."""
    for here in (plan, *sequence(plan.subqueriesAll())):
        for leaf in sequence(here.collectLeaves()):
            if leaf.getClass().getName() in named:
                yield leaf


def functions(spark: SparkSession) -> Iterator[tuple[str, str]]:
    """All functions of a new session, each with the class that its expression has."""
    state = spark.newSession()._jsparkSession.sessionState()  # noqa: SLF001 - only the JVM knows
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        for identifier in sequence(registry.listFunction()):
            info = registry.lookupFunction(identifier)
            if info.isDefined():
                yield str(identifier.funcName()), str(info.get().getClassName())


def sequence(found: Java) -> Iterator[Java]:
    """What a Scala sequence has in it."""
    return (found.apply(number) for number in range(found.size()))


def _placed(session: SparkSession, plan: Java) -> Java:
    """The plan with each window where its name stood, by the analyser's first rules: they look nothing up."""
    analyser = session._jsparkSession.sessionState().analyzer()  # noqa: SLF001 - as above
    within = jvm_of(session).org.apache.spark.sql.catalyst.analysis.CTESubstitution.apply(plan)
    return analyser.WindowsSubstitution().apply(within)


def _dicts(found: object) -> Iterator[dict[str, Any]]:
    waiting = [found]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            # What stands in a literal is data.
            if here.get("class") != _LITERAL:
                waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
