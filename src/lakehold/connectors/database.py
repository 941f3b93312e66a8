"""A database behind JDBC, and a connection to it for statements in one transaction.

Spark's own drivers and dialects are used, so that every database that Spark can write to can be delivered to.
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

from lakehold.connectors.destinations.delivery_errors import translate_errors
from lakehold.connectors.redaction import hosts_of_url, quoted_user_names
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.lake.spark.jvm import jvm_of

_POSTGRESQL = "jdbc:postgresql:"
_DRIVERS = {_POSTGRESQL: "org.postgresql.Driver", "jdbc:sqlite:": "org.sqlite.JDBC"}
_SECRET = re.compile(r"(password|passwd|pwd|secret)\s*=|//[^/@]*:[^/@]*@", re.IGNORECASE)
# Other options let its driver load a class or write a file.
_POSTGRESQL_PROPERTIES = frozenset(
    {
        *("ssl", "sslmode", "currentSchema", "ApplicationName", "targetServerType", "prepareThreshold"),
        *("connectTimeout", "loginTimeout", "socketTimeout", "tcpKeepAlive"),
    }
)
_TIMEOUT = 10


@dataclass(frozen=True, slots=True)
class JdbcDatabase:
    """URL, credentials and driver of a database. The URL comes from somebody who may set up drivers: with many of them
    a URL can reach files of this machine.
    """

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    driver: str = ""
    """The driver's class; those of PostgreSQL and SQLite are known."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """More properties for the driver."""

    def check(self) -> None:
        """Refuse an invalid URL, or one that contains credentials."""
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
            given = {name for name, _ in parse_qsl(self.url.partition("?")[2], keep_blank_values=True)}
            if refused := (given | set(self.properties)) - _POSTGRESQL_PROPERTIES:
                raise InvalidInputError(
                    f"PostgreSQL's driver may not be told {', '.join(sorted(refused))} here.",
                    f"It may be told: {', '.join(sorted(_POSTGRESQL_PROPERTIES))}.",
                )

    @property
    def redactions(self) -> tuple[str, ...]:
        """Texts to redact from messages: the password, the URL with its hosts, and the user name."""
        secrets = tuple(value for name, value in self.properties.items() if _SECRET.search(f"{name}="))
        return (
            self.password,
            *secrets,
            self.url,
            self.url.split(":", 2)[-1],
            *hosts_of_url(self.url),
            *quoted_user_names(self.user),
        )

    @property
    def is_postgresql(self) -> bool:
        """Whether it is a PostgreSQL database."""
        return self.url.startswith(_POSTGRESQL)

    @property
    def driver_class(self) -> str:
        """Class of the JDBC driver; empty if unknown."""
        return self.driver or next((each for begin, each in _DRIVERS.items() if self.url.startswith(begin)), "")

    @property
    def options(self) -> dict[str, str]:
        """Options for Spark's JDBC reader and writer."""
        login = {"user": self.user, "password": self.password}
        given = {name: value for name, value in login.items() if value}
        if self.is_postgresql:
            # A text may be a UUID or JSON there: the database reads it, instead of taking it for text.
            ours = {"connectTimeout": f"{_TIMEOUT}", "loginTimeout": f"{2 * _TIMEOUT}", "stringtype": "unspecified"}
            quick = {"tcpKeepAlive": "true", "reWriteBatchedInserts": "true"}
            given = {**ours, **quick, "ApplicationName": "lakehold", **given}
        return {**given, **self.properties, "url": self.url, "driver": self.driver_class}


class JdbcConnection:
    """One JDBC connection of the driver process. Statements are committed one by one, except in a transaction."""

    def __init__(self, spark: SparkSession, database: JdbcDatabase) -> None:
        self._jvm = jvm_of(spark)
        self._database = database
        packages = self._jvm.org.apache.spark.sql
        options = packages.execution.datasources.jdbc
        mapped = self._jvm.PythonUtils.toScalaMap({**database.options, "dbtable": "none"})
        self._types = options.JdbcUtils
        self._dialect = packages.jdbc.JdbcDialects.get(database.url)
        self._connection = self._dialect.createConnectionFactory(options.JdbcOptionsInWrite(mapped)).apply(-1)

    def close(self) -> None:
        """Close the connection. Uncommitted changes are rolled back."""
        self._connection.close()

    @cached_property
    def has_transactions(self) -> bool:
        """Whether the database supports transactions."""
        return bool(self._connection.getMetaData().supportsTransactions())

    def quote_identifier(self, name: str) -> str:
        """Quote a name for the database's SQL."""
        return str(self._dialect.quoteIdentifier(name))

    def sql_type(self, kind: DataType) -> str:
        """Return the database's name of a Spark type."""
        java = self._jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())
        return str(self._types.getJdbcType(java, self._dialect).databaseTypeDefinition())

    def execute(self, statement: str, *values: str | int) -> None:
        """Run a statement with values."""
        prepared = self._prepare(statement, values)
        try:
            prepared.executeUpdate()
        finally:
            prepared.close()

    @contextmanager
    def query(self, question: str, *values: str) -> Iterator[Any]:
        """Run a query and yield its Java ResultSet."""
        prepared = self._prepare(question, values)
        try:
            yield prepared.executeQuery()
        finally:
            prepared.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all statements inside, or none."""
        self._connection.setAutoCommit(False)
        try:
            yield
            self._connection.commit()
        except BaseException:
            # A closed connection has rolled back by itself; the first error is the one to raise.
            with suppress(Py4JError):
                self._connection.rollback()
            raise
        finally:
            with suppress(Py4JError):
                self._connection.setAutoCommit(True)

    def _prepare(self, statement: str, values: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - a class of Java
        prepared = self._connection.prepareStatement(statement)
        for number, value in enumerate(values, start=1):
            if isinstance(value, int):
                prepared.setLong(number, value)
            else:
                prepared.setString(number, value)
        return prepared


@contextmanager
def connect(spark: SparkSession, database: JdbcDatabase) -> Iterator[JdbcConnection]:
    """Open a connection; its errors are translated into messages."""
    database.check()
    with translate_errors("The database", *database.redactions):
        if not _is_loaded(spark, database.driver_class):
            raise UnavailableError(
                f"There is no driver {database.driver_class} here.", "Ask an admin to add its jar, or correct the name."
            )
        connection = JdbcConnection(spark, database)
        try:
            yield connection
        finally:
            with suppress(Py4JError):
                connection.close()


def _is_loaded(spark: SparkSession, name: str) -> bool:
    return bool(jvm_of(spark).org.apache.spark.util.Utils.classIsLoadable(name))
