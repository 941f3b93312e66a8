"""The Spark of a worker: started by the first that needs it, and kept warm. Only a worker imports what is behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from lakehold.directory.platform import Platform
from lakehold.pipeline.lake import Lake
from lakehold.pipeline.limits import Limits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakehold.pipeline.spark.queries import Queries
    from lakehold.pipeline.spark.tables import Tables

_SESSION = "lakehold.pipeline.spark.session"


class Warm:
    """One for a process. The address is where its catalog answers."""

    def __init__(self, platform: Platform, address: str) -> None:
        self._platform = platform
        self._address = address
        self._lock = RLock()
        self.end: Callable[[str], object] | None = None
        """What is done about work that does not stop. Where nobody would begin anew, nothing."""

    @property
    def spark(self) -> SparkSession:
        """A session that knows no table."""
        with self._lock:
            settings, launched = self._platform.settings, None
            told = {"spark.driver.memory": settings.spark_memory}
            if _SESSION not in sys.modules:
                from lakehold.pipeline.spark import launching  # noqa: PLC0415 - before the import of what waits for it

                launched = launching.launch(settings.spark, told, settings.drivers)
            from lakehold.pipeline.spark import session  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

            return session.session(settings.spark, told, settings.drivers, launched)

    @property
    def queries(self) -> Queries:
        """Queries of persons."""
        with self._lock:
            return self._queries

    @property
    def tables(self) -> Tables:
        """Tables, as the platform sees them."""
        with self._lock:
            return self._tables

    def cancel(self, tag: str) -> None:
        """Stop what runs under this tag, if anything does."""
        if _SESSION in sys.modules:
            self.spark.sparkContext.cancelJobsWithTag(tag)

    @cached_property
    def _queries(self) -> Queries:
        from lakehold.pipeline.spark.persons import Persons  # noqa: PLC0415 - as above
        from lakehold.pipeline.spark.queries import Queries  # noqa: PLC0415

        platform = self._platform
        persons = Persons(self.spark, platform.keys, platform.clock, self._address)
        return Queries(self.spark, persons, Limits.of(platform.settings), platform.settings.data, self.end)

    @cached_property
    def _tables(self) -> Tables:
        from lakehold.pipeline.spark.tables import Tables  # noqa: PLC0415 - as above

        return Tables(self.spark, Lake(self._platform.settings))
