"""The Spark of a worker: started by the first use, and kept running."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from lakehold.directory.platform import Platform
from lakehold.lake.iceberg_catalog import IcebergCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakehold.lake.spark.queries import QueryService
    from lakehold.lake.spark.tables import Tables

_SESSION_MODULE = "lakehold.lake.spark.spark_session"


class SparkRuntime:
    """The Spark session, queries and tables of a process. The address is that of its catalog."""

    def __init__(self, platform: Platform, address: str) -> None:
        self._platform = platform
        self._address = address
        self._lock = RLock()
        self.on_stuck: Callable[[str], object] | None = None
        """Called when work does not stop; None where nobody would start the process anew."""

    @property
    def spark(self) -> SparkSession:
        """A Spark session that knows no table."""
        with self._lock:
            from lakehold.lake.spark import runtime  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

            options = runtime.SparkOptions.from_settings(self._platform.settings)
            launched = None if _SESSION_MODULE in sys.modules else runtime.launch(options)
            from lakehold.lake.spark import spark_session  # noqa: PLC0415 - it takes as long as the start of the JVM

            return spark_session.get_spark_session(options, launched)

    @property
    def queries(self) -> QueryService:
        """The queries of members."""
        with self._lock:
            return self._queries

    @property
    def tables(self) -> Tables:
        """The tables, as the platform sees them."""
        with self._lock:
            return self._tables

    def cancel(self, tag: str) -> None:
        """Cancel the Spark jobs with this tag, if Spark has been started."""
        if _SESSION_MODULE in sys.modules:
            self.spark.sparkContext.cancelJobsWithTag(tag)

    @cached_property
    def _queries(self) -> QueryService:
        from lakehold.lake.spark.queries import QueryService  # noqa: PLC0415
        from lakehold.lake.spark.session_pool import UserSessions  # noqa: PLC0415 - as above

        platform = self._platform
        persons = UserSessions(self.spark, platform.keys, platform.clock, self._address)
        return QueryService(self.spark, persons, platform.settings, self.on_stuck)

    @cached_property
    def _tables(self) -> Tables:
        from lakehold.lake.spark.tables import Tables  # noqa: PLC0415 - as above

        return Tables(self.spark, IcebergCatalog(self._platform.settings))
