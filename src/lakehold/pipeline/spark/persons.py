"""A person's own Spark session: it knows the tables that they may read, by asking for each, and nothing else.

The catalog is asked with a ticket of the person's; it answers as if there were only what they may read. `lake` has all
workspaces; `here` has the layers of one, and is where a name without a catalog is looked for.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakehold.directory.caller import Caller
from lakehold.kit.clock import Clock
from lakehold.kit.keys import KeyRing
from lakehold.pipeline import reading, tickets
from lakehold.pipeline.names import ALL, HERE

ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    # Again, so that it holds wherever only the settings of the session are asked.
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    # A hint could ask for a join that takes all memory.
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.maxPlanStringLength": "10000",
    # What every task of a join has to hold: larger than this it is refused, not tried.
    "spark.sql.maxBroadcastTableSize": "128m",
    "spark.sql.autoBroadcastJoinThreshold": "8m",
    # A batch of rows goes as one piece.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    # Recursion ends, whatever it says itself.
    "spark.sql.cteRecursionLevelLimit": "1000",
    "spark.sql.cteRecursionRowLimit": "1000000",
}


class Persons:
    """Makes sessions. The address is that of the catalog in this very process."""

    def __init__(self, spark: SparkSession, keys: KeyRing, clock: Clock, address: str) -> None:
        self._spark = spark
        self._keys = keys
        self.clock = clock
        self._address = address

    def ticket(self, caller: Caller, seconds: int) -> str:
        """What a session of the caller's shows to the catalog, for so many seconds."""
        reading.refuse_behind(caller)
        return tickets.ticket(self._keys, caller, self.clock(), seconds)

    def session(self, ticket: str, workspace: str) -> SparkSession:
        """A session that can ask for tables. The workspace is given by its name; empty for none."""
        told = {**ALWAYS, **self._catalog(ALL, ticket)}
        if workspace:
            told |= {**self._catalog(HERE, ticket), f"spark.sql.catalog.{HERE}.warehouse": workspace}
        told["spark.sql.defaultCatalog"] = HERE if workspace else ALL
        made = self._spark.newSession()
        for name, value in told.items():
            made.conf.set(name, value)
        return made

    def _catalog(self, name: str, ticket: str) -> dict[str, str]:
        here = f"spark.sql.catalog.{name}"
        return {
            here: "org.apache.iceberg.spark.SparkCatalog",
            f"{here}.type": "rest",
            f"{here}.uri": f"{self._address}/iceberg",
            f"{here}.token": ticket,
            f"{here}.token-refresh-enabled": "false",
            # A revoke holds at once: nothing of a table is remembered.
            f"{here}.cache-enabled": "false",
            f"{here}.rest-metrics-reporting-enabled": "false",
        }
