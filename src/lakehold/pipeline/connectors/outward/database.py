"""A database behind JDBC, and a connection to it for what has to be done in one transaction.

Spark's own drivers and dialects do the talking, so that whatever database Spark can write to can be delivered to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.pipeline.connectors.outward.trouble import told
from lakehold.pipeline.connectors.veiling import hosts, user
from lakehold.pipeline.spark.jvm import jvm_of

_POSTGRESQL = "jdbc:postgresql:"
_DRIVERS = {_POSTGRESQL: "org.postgresql.Driver", "jdbc:sqlite:": "org.sqlite.JDBC"}
_SECRET = re.compile(r"(password|passwd|pwd|secret)\s*=|//[^/@]*:[^/@]*@", re.IGNORECASE)
# With others its driver can be told to load a class or to write a file.
_POSTGRESQL_TAKES = frozenset(
    {
        *("ssl", "sslmode", "currentSchema", "ApplicationName", "targetServerType", "prepareThreshold"),
        *("connectTimeout", "loginTimeout", "socketTimeout", "tcpKeepAlive"),
    }
)
_PATIENCE = 10


@dataclass(frozen=True, slots=True)
class Database:
    """Where a database is, and as whom it is used. The URL comes from somebody who may set up drivers: with many of
    them a URL can reach files of this machine.
    """

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    driver: str = ""
    """The driver's class; those of PostgreSQL and SQLite are known."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What else the driver is told."""

    def check(self) -> None:
        """Refuse an address that is none, or that gives something away."""
        if not re.fullmatch(r"jdbc:[a-z0-9+_-]+:\S+", self.url):
            raise InvalidInputError(
                "This is no address of a database.", "Write jdbc:postgresql://host:5432/name, or what the driver takes."
            )
        if _SECRET.search(self.url):
            raise InvalidInputError(
                "The address of the database has a password in it.", "Give user name and password apart from it."
            )
        if not self.driver_class:
            raise InvalidInputError(
                "The driver of this database is not known.", "Give the name of the driver's class too."
            )
        if self.is_postgresql:
            asked = {name for name, _ in parse_qsl(self.url.partition("?")[2], keep_blank_values=True)}
            if refused := (asked | set(self.properties)) - _POSTGRESQL_TAKES:
                raise InvalidInputError(
                    f"PostgreSQL's driver may not be told {', '.join(sorted(refused))} here.",
                    f"It may be told: {', '.join(sorted(_POSTGRESQL_TAKES))}.",
                )

    @property
    def hidden(self) -> tuple[str, ...]:
        """What a database may repeat and nobody may read: the password, where it is, and as whom it is used."""
        told = tuple(value for name, value in self.properties.items() if _SECRET.search(f"{name}="))
        return (self.password, *told, self.url, self.url.split(":", 2)[-1], *hosts(self.url), *user(self.user))

    @property
    def is_postgresql(self) -> bool:
        """Whether it is one."""
        return self.url.startswith(_POSTGRESQL)

    @property
    def driver_class(self) -> str:
        """The driver's class, if it is known."""
        return self.driver or next((each for begin, each in _DRIVERS.items() if self.url.startswith(begin)), "")

    @property
    def options(self) -> dict[str, str]:
        """What Spark has to be told."""
        login = {"user": self.user, "password": self.password}
        given = {name: value for name, value in login.items() if value}
        if self.is_postgresql:
            # A text may be a UUID or JSON there: the database reads it, instead of taking it for text.
            ours = {"connectTimeout": f"{_PATIENCE}", "loginTimeout": f"{2 * _PATIENCE}", "stringtype": "unspecified"}
            quick = {"tcpKeepAlive": "true", "reWriteBatchedInserts": "true"}
            given = {**ours, **quick, "ApplicationName": "lakehold", **given}
        return {**given, **self.properties, "url": self.url, "driver": self.driver_class}


class Connection:
    """One connection, from the driver's process. Each statement is kept at once, unless it is in a transaction."""

    def __init__(self, spark: SparkSession, database: Database) -> None:
        self._jvm = jvm_of(spark)
        self._database = database
        packages = self._jvm.org.apache.spark.sql
        options = packages.execution.datasources.jdbc
        mapped = self._jvm.PythonUtils.toScalaMap({**database.options, "dbtable": "none"})
        self._types = options.JdbcUtils
        self._dialect = packages.jdbc.JdbcDialects.get(database.url)
        self._connection = self._dialect.createConnectionFactory(options.JdbcOptionsInWrite(mapped)).apply(-1)

    def close(self) -> None:
        """Give it back. What was not kept is undone."""
        self._connection.close()

    @cached_property
    def has_transactions(self) -> bool:
        """Whether the database can keep all of several statements or none."""
        return bool(self._connection.getMetaData().supportsTransactions())

    def quoted(self, name: str) -> str:
        """A name in the database's SQL."""
        return str(self._dialect.quoteIdentifier(name))

    def type_of(self, kind: DataType) -> str:
        """What the database calls a type of Spark's."""
        java = self._jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())
        return str(self._types.getJdbcType(java, self._dialect).databaseTypeDefinition())

    def run(self, statement: str, *values: str | int) -> None:
        """Run a statement with values."""
        prepared = self._prepared(statement, values)
        try:
            prepared.executeUpdate()
        finally:
            prepared.close()

    @contextmanager
    def asked(self, question: str, *values: str) -> Iterator[Any]:
        """What the database answers: a ResultSet of Java's."""
        prepared = self._prepared(question, values)
        try:
            yield prepared.executeQuery()
        finally:
            prepared.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all statements inside, or none."""
        self._connection.setAutoCommit(False)
        try:
            yield
            self._connection.commit()
        except BaseException:
            # A connection that is gone has undone everything by itself; what broke it is what is told.
            with suppress(Py4JError):
                self._connection.rollback()
            raise
        finally:
            with suppress(Py4JError):
                self._connection.setAutoCommit(True)

    def _prepared(self, statement: str, values: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - a class of Java
        prepared = self._connection.prepareStatement(statement)
        for number, value in enumerate(values, start=1):
            if isinstance(value, int):
                prepared.setLong(number, value)
            else:
                prepared.setString(number, value)
        return prepared


@contextmanager
def connected(spark: SparkSession, database: Database) -> Iterator[Connection]:
    """A connection for some work; what goes wrong is told in words."""
    database.check()
    with told("The database", *database.hidden):
        if not _is_loaded(spark, database.driver_class):
            raise UnavailableError(
                f"There is no driver {database.driver_class} here.", "Ask an admin to add its jar, or correct the name."
            )
        connection = Connection(spark, database)
        try:
            yield connection
        finally:
            with suppress(Py4JError):
                connection.close()


def _is_loaded(spark: SparkSession, name: str) -> bool:
    return bool(jvm_of(spark).org.apache.spark.util.Utils.classIsLoadable(name))
