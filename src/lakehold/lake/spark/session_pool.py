"""Spark sessions of users, and a pool that keeps them between queries, as creating one takes longer than most queries.

A session asks the REST catalog for each table with a token of its user, and the catalog answers as if only readable
tables existed. `lake` holds all workspaces; the workspace's own catalog is the default for names without a catalog.

A session is reused by the same user only, in the same workspace and with the same token scope, by one query at a time.
The guard refuses whatever a query could leave in it; the catalog checks access each time.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock

from pyspark.sql import SparkSession

from lakehold.directory.caller import Caller
from lakehold.kit.clock import SECOND, Clock, Moment
from lakehold.kit.keys import KeyRing
from lakehold.lake import catalog_tokens, readable_tables
from lakehold.lake.readable_tables import LAKE_CATALOG, WORKSPACE_CATALOG

USER_SESSION_CONF = {
    "spark.sql.session.timeZone": "UTC",
    # Again, so that it holds wherever only the session's settings are read.
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
    # The parser evaluates nothing: rows of VALUES are checked before.
    "spark.sql.parser.eagerEvalOfUnresolvedInlineTable": "false",
    # Recursion ends, whatever it says itself.
    "spark.sql.cteRecursionLevelLimit": "1000",
    "spark.sql.cteRecursionRowLimit": "1000000",
}


_POOL_SIZE = 32
_IDLE_SECONDS = 600

_Key = tuple[Caller, str]


@dataclass(frozen=True, slots=True)
class UserSession:
    """A user's Spark session and the catalog token that it uses."""

    session: SparkSession
    token: str
    until: Moment
    """When the token expires."""


class UserSessions:
    """Creates Spark sessions for users and keeps idle ones. The address is that of the catalog in this process."""

    def __init__(self, spark: SparkSession, keys: KeyRing, clock: Clock, address: str) -> None:
        self._spark = spark
        self._keys = keys
        self._clock = clock
        self._address = address
        self._idle: OrderedDict[UserSession, _Key] = OrderedDict()
        """The longest idle first."""
        self._lock = Lock()

    def issue_token(self, caller: Caller, seconds: int) -> str:
        """Return a catalog token for the caller that is valid for so many seconds."""
        readable_tables.refuse_impersonated_caller(caller)
        return catalog_tokens.issue_token(self._keys, caller, self._clock(), seconds)

    def create_session(self, token: str, workspace: str) -> SparkSession:
        """Return a new session with access to the catalog. The workspace is given by name; empty for none."""
        conf = {**USER_SESSION_CONF, **self._catalog(LAKE_CATALOG, token)}
        if workspace:
            conf |= {
                **self._catalog(WORKSPACE_CATALOG, token),
                f"spark.sql.catalog.{WORKSPACE_CATALOG}.warehouse": workspace,
            }
        conf["spark.sql.defaultCatalog"] = WORKSPACE_CATALOG if workspace else LAKE_CATALOG
        session = self._spark.newSession()
        for name, value in conf.items():
            session.conf.set(name, value)
        return session

    def _catalog(self, name: str, token: str) -> dict[str, str]:
        here = f"spark.sql.catalog.{name}"
        return {
            here: "org.apache.iceberg.spark.SparkCatalog",
            f"{here}.type": "rest",
            f"{here}.uri": f"{self._address}/iceberg",
            # Files are read as the platform's own session writes them, with its settings of the object store.
            f"{here}.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
            f"{here}.token": token,
            f"{here}.token-refresh-enabled": "false",
            # A revoke holds at once: nothing of a table is remembered.
            f"{here}.cache-enabled": "false",
            f"{here}.rest-metrics-reporting-enabled": "false",
        }

    @contextmanager
    def borrow(self, caller: Caller, workspace: str, seconds: int) -> Iterator[UserSession]:
        """Borrow a session for a query that takes so many seconds at most."""
        key = replace(caller, request="", address="", sign_in_id=""), workspace
        found = self._take_idle(key, self._clock() + seconds * SECOND) or self._create(key, seconds)
        try:
            yield found
        finally:
            with self._lock:
                self._idle[found] = key
                while len(self._idle) > _POOL_SIZE:
                    self._idle.popitem(last=False)

    def _take_idle(self, key: _Key, until: Moment) -> UserSession | None:
        now = self._clock()
        with self._lock:
            for old in [each for each in self._idle if each.until < now]:
                del self._idle[old]
            found = next(
                (each for each, idle_key in self._idle.items() if idle_key == key and each.until >= until), None
            )
            if found is not None:
                del self._idle[found]
            return found

    def _create(self, key: _Key, seconds: int) -> UserSession:
        caller, workspace = key
        until = self._clock() + (seconds + _IDLE_SECONDS) * SECOND
        token = self.issue_token(caller, seconds + _IDLE_SECONDS)
        return UserSession(self.create_session(token, workspace), token, until)
