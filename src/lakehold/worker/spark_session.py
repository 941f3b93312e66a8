"""The Spark of a worker: started by the first use, or when somebody is about to query, and kept running."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from threading import Lock, RLock, Timer
from typing import TYPE_CHECKING

from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.lake.iceberg_catalog import IcebergCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakehold.directory.caller import Caller
    from lakehold.lake.spark.queries import QueryLoad, QueryService
    from lakehold.lake.spark.tables import Tables

_SESSION_MODULE = "lakehold.lake.spark.spark_session"
_STANDBY_SECONDS = 10
"""How long after the first query a process begins to start the Spark that others need if the first one is held up."""


class SparkRuntime:
    """The Spark session, queries and tables of a process. The address is that of its catalog."""

    def __init__(self, platform: Platform, address: str, *, executes_runs: bool = True) -> None:
        self._platform = platform
        self._address = address
        self.executes_runs = executes_runs
        """Whether this process does anything but answer queries."""
        self.is_warm = False
        """Whether a query is answered without waiting for Spark's start."""
        self._warm_up: Timer | None = None
        self._is_started = False
        self._lock = RLock()
        self._warm_up_lock = Lock()
        self.on_stuck: Callable[[str], object] | None = None
        """Called when work does not stop; None where nobody would start the process anew."""
        self.on_lost: Callable[[], object] | None = None
        """Called when Spark has ended, before this process exits."""

    @property
    def spark(self) -> SparkSession:
        """A Spark session that knows no table."""
        with self._lock:
            from lakehold.lake.spark import runtime  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

            options = runtime.SparkOptions.from_settings(self._platform.settings)
            launched = None if _SESSION_MODULE in sys.modules else runtime.launch(options)
            from lakehold.lake.spark import spark_session  # noqa: PLC0415 - it takes as long as the start of the JVM

            found = spark_session.get_spark_session(options, launched)
            self._is_started = True
            if self.on_lost is not None:
                spark_session.on_lost(self.on_lost)
                self.on_lost = None
            return found

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

    def load(self, caller: Caller) -> QueryLoad | None:
        """Return what the caller's next query would meet; None if Spark has not started, and start it."""
        if "_queries" in self.__dict__:
            return self._queries.load((caller.tenant, caller.member))
        with self._warm_up_lock:
            if self._warm_up is None:
                self._warm_up = Timer(_STANDBY_SECONDS if self.executes_runs else 0, self._warm, (caller,))
                self._warm_up.daemon = True
                self._warm_up.start()
        return None

    def stop_query(self, uid: str, caller: Caller) -> bool:
        """Stop a query of the caller; return whether there is one. Spark is not started for that."""
        if "_queries" not in self.__dict__:
            return False
        with suppress(NotFoundError):
            self._queries.stop(uid, caller)
            return True
        return False

    def _warm(self, caller: Caller) -> None:
        if "_queries" not in self.__dict__:
            with suppress(LakeholdError):
                self.queries.warm_up(caller)
        self.is_warm = True

    def is_lost(self, wait: float) -> bool:
        """Return whether Spark has ended, or does so within so many seconds."""
        return self._is_started and bool(sys.modules[_SESSION_MODULE].is_lost(wait))

    def kill(self) -> bool:
        """Kill Spark, after which this process exits; return whether it was started."""
        return self._is_started and bool(sys.modules[_SESSION_MODULE].kill())

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
        is_expendable = not self.executes_runs
        return QueryService(self.spark, persons, platform.settings, self.on_stuck, is_expendable=is_expendable)

    @cached_property
    def _tables(self) -> Tables:
        from lakehold.lake.spark.tables import Tables  # noqa: PLC0415 - as above

        return Tables(self.spark, IcebergCatalog(self._platform.settings))
