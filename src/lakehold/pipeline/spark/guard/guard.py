"""Asks of a query whether all that it is made of is allowed: first as it was parsed, then as it was analysed.

Before anything is looked up, every part and every function by its name; some of them act while a query is analysed.
After that the same once more, and every table that is read. The same analysed plan is what runs.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.ids import quote
from lakehold.pipeline.errors import RefusedQueryError
from lakehold.pipeline.spark.guard import functions, nodes, plans, relations
from lakehold.pipeline.spark.guard.plans import Told
from lakehold.pipeline.spark.jvm import active, frame

_ONLY = "Write one SELECT over tables; the platform does everything else."


class Guard:
    """One for a Spark: it knows which classes the allowed functions have there."""

    def __init__(self, spark: SparkSession) -> None:
        found = dict(plans.functions(spark))
        allowed = {found[name] for name in found if name in functions.ALLOWED}
        self._named = {found[name]: name for name in found if name not in functions.ALLOWED}
        self._analysed = nodes.ANALYSED | allowed
        self._parsed = nodes.PARSED | self._analysed

    def analysed(self, session: SparkSession, text: str) -> DataFrame:
        """The rows that the text means in this session; refused if there is something else in it."""
        with active(session):
            return self._guarded(session, text)

    def _guarded(self, session: SparkSession, text: str) -> DataFrame:
        java = session._jsparkSession  # noqa: SLF001 - plans are told of by the JVM alone
        parsed = java.sessionState().sqlParser().parsePlan(text)
        for told in plans.of_parsed(session, parsed):
            self._refuse_parts(told, self._parsed)
            _refuse_functions(told)
        rows = frame(session, parsed)
        analysed = rows._jdf.queryExecution().analyzed()  # noqa: SLF001 - as above
        told = plans.told(analysed)
        self._refuse_parts(told, self._analysed)
        relations.refuse(analysed, told)
        return rows

    def _refuse_parts(self, told: Told, allowed: frozenset[str]) -> None:
        # What a statement does says more than what it names: DropTable before UnresolvedIdentifier.
        wrong = sorted(plans.classes(told) - allowed, key=lambda name: (".Unresolved" in name, name))
        if wrong:
            raise RefusedQueryError(f"A query may not have {self._word(wrong[0])} in it.", _ONLY)

    def _word(self, name: str) -> str:
        """What people call it: the function, or the statement."""
        if name in self._named:
            return f"the function {self._named[name]}"
        return name.rpartition(".")[2].removesuffix("$").removesuffix("Command")


def _refuse_functions(told: Told) -> None:
    """By their names, before Spark has anything to do with them: some are worked out while a query is analysed."""
    for node in told:
        name = nodes.called(node)
        if name is not None and name not in functions.ALLOWED:
            raise RefusedQueryError(f"A query may not have the function {quote(name)} in it.", _ONLY)
