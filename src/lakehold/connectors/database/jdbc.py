"""A database behind JDBC, and a connection to it for statements in one transaction.

Spark's own drivers and dialects are used, so that every database that Spark can write to can be delivered to.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from lakehold.connectors.address_guard import resolve_host
from lakehold.connectors.database.settings import POSTGRESQL_PROPERTIES, SECRET_PATTERN, DatabaseSettings, check_address
from lakehold.connectors.error_translation import hosts_of_url, translate_delivery_errors
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.jdbc_address import (
    DRIVER_CLASSES,
    POSTGRESQL,
    SQLITE,
    AllowedDatabase,
    JdbcAddress,
    forced_properties,
    parse_address,
    permitted_properties,
)
from lakehold.kit.settings import Settings
from lakehold.lake.spark.jvm import jvm_of

_TIMEOUT = 10
_MYSQL = ("mysql", "mariadb")
# Each server reads the name that it has: MySQL skips the second comment, MariaDB the first.
_MYSQL_VARIABLE = "/*!50720 {0}transaction_read_only*//*M! {0}tx_read_only*/"
# From the first transaction on, by the server's own default and by how the driver begins each of them.
_READ_ONLY_PROPERTIES = {
    POSTGRESQL: {"options": "-c default_transaction_read_only=on", "readOnly": "true", "readOnlyMode": "always"},
    SQLITE: {"open_mode": "1"},
    **{name: {"sessionVariables": f"{_MYSQL_VARIABLE.format('')}=1"} for name in _MYSQL},
}
# Fails unless the server says that this very transaction is read-only.
READ_ONLY_CHECK = (
    "SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN 'on'"
    " ELSE current_setting('lakehold.the_connection_is_not_read_only') END"
)
_MYSQL_CHECK = (
    f"SET SESSION sql_mode = IF({_MYSQL_VARIABLE.format('@@session.')}, @@session.sql_mode,"
    " 'the_connection_is_not_read_only')"
)
# Spark runs it on every connection that it reads by, in the transaction of the query; PostgreSQL's moments need a zone.
_READ_ONLY_STATEMENTS = {
    POSTGRESQL: f"SET TIME ZONE 'UTC'; {READ_ONLY_CHECK}",
    **dict.fromkeys(_MYSQL, _MYSQL_CHECK),
}
_VERIFIED_BY_NAME = {"verify-full", ""}
_TABLE_TYPES = {"TABLE", "BASE TABLE", "PARTITIONED TABLE", "FOREIGN TABLE", "VIEW", "MATERIALIZED VIEW"}


@dataclass(frozen=True, slots=True)
class JdbcDatabase:
    """URL, credentials and driver of a database, as they are given to Spark."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    driver: str = ""
    """The driver's class; those of well-known products are known."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """More properties for the driver."""
    fixed: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Properties that the installation sets; they go before those."""
    read_only: bool = False
    """Whether every connection is read-only, as far as the product has that."""
    user_only_reads: bool = False
    """Whether its user can only read, as the installation says."""
    snapshot: str = ""
    """The exported snapshot of a PostgreSQL database whose rows are read."""
    sample_seconds: int = 0
    """After how long the database gives up a sample, as far as the product can; 0 for never."""

    def check(self) -> None:
        """Refuse an invalid URL, or one that contains credentials."""
        check_address(self.url, self.properties)
        if not self.driver_class:
            hint = "Use a database that the installation has a driver for."
            raise InvalidInputError("The driver of this database is not known.", hint, field="driver")

    @property
    def redactions(self) -> tuple[str, ...]:
        """Texts to redact from messages: the password, the URL with its hosts, and the quoted user name."""
        given = {**self.properties, **self.fixed}
        secrets = [value for name, value in given.items() if SECRET_PATTERN.search(f"{name}=")]
        user = (f'"{self.user}"', f"'{self.user}'") if self.user else ()
        return (self.password, *secrets, self.url, self.url.split(":", 2)[-1], *hosts_of_url(self.url), *user)

    @property
    def product(self) -> str:
        """The product that the URL names, without a further spelling such as `+srv`."""
        return self.url.split(":", 2)[1].partition("+")[0]

    @property
    def spark_url(self) -> str:
        """The URL for Spark and the driver. Spark knows its dialect by that, and MariaDB's as MySQL's alone."""
        if self.product not in _MYSQL:
            return self.url
        # MariaDB's driver takes this scheme only if it is told to.
        flag = "?permitMysqlScheme" if self.driver_class == DRIVER_CLASSES["mariadb"] else ""
        return self.url.replace("jdbc:mariadb:", "jdbc:mysql:", 1) + flag

    @property
    def takes_queries(self) -> bool:
        """Whether a query can do nothing but read: the server is asked, its driver opens a file so, or its user may."""
        is_verified = self.product in _READ_ONLY_STATEMENTS or self.driver_class == DRIVER_CLASSES[SQLITE]
        return is_verified or self.user_only_reads

    @property
    def is_postgresql(self) -> bool:
        """Whether it is a PostgreSQL database."""
        return self.product == POSTGRESQL

    @property
    def driver_class(self) -> str:
        """Class of the JDBC driver; empty if unknown."""
        return self.driver or DRIVER_CLASSES.get(self.product, "")

    @property
    def options(self) -> dict[str, str]:
        """Options for Spark's JDBC reader and writer. What keeps the driver safe comes last."""
        login = {"user": self.user, "password": self.password}
        given = {name: value for name, value in login.items() if value}
        if self.is_postgresql:
            # A text may be a UUID or JSON there: the database reads it, instead of taking it for text.
            ours = {"connectTimeout": f"{_TIMEOUT}", "loginTimeout": f"{2 * _TIMEOUT}", "stringtype": "unspecified"}
            quick = {"tcpKeepAlive": "true", "reWriteBatchedInserts": "true"}
            given = {**ours, **quick, "ApplicationName": "lakehold", **given}
        forced = {**self.fixed, **forced_properties(self.product)}
        if self.read_only:
            forced |= _READ_ONLY_PROPERTIES.get(self.product, {})
            if self.product in _READ_ONLY_STATEMENTS:
                forced["sessionInitStatement"] = self._snapshot_statement + _READ_ONLY_STATEMENTS[self.product]
        # Spark's options know no case: of two spellings, either could be taken.
        taken = {name.lower() for name in forced}
        free = {name: value for name, value in {**given, **self.properties}.items() if name.lower() not in taken}
        return {**free, **forced, "url": self.spark_url, "driver": self.driver_class}

    @property
    def _snapshot_statement(self) -> str:
        """The statement that lets a transaction see what the snapshot has."""
        if not self.snapshot:
            return ""
        quoted = self.snapshot.replace("'", "''")
        return f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{quoted}'; "


class JdbcConnection:
    """One JDBC connection of the driver process. Statements are committed one by one, except in a transaction."""

    def __init__(self, spark: SparkSession, database: JdbcDatabase) -> None:
        self._jvm = jvm_of(spark)
        self._database = database
        packages = self._jvm.org.apache.spark.sql
        options = packages.execution.datasources.jdbc
        mapped = self._jvm.PythonUtils.toScalaMap({**database.options, "dbtable": "none"})
        self._types = options.JdbcUtils
        self._dialect = packages.jdbc.JdbcDialects.get(database.spark_url)
        self.java = self._dialect.createConnectionFactory(options.JdbcOptionsInWrite(mapped)).apply(-1)
        """The connection as Java has it."""

    def close(self) -> None:
        """Close the connection. Uncommitted changes are rolled back."""
        self.java.close()

    def quote_identifier(self, *names: str) -> str:
        """Quote the parts of a name as Spark's dialect does; empty ones are left out."""
        return ".".join(str(self._dialect.quoteIdentifier(name)) for name in names if name)

    def sql_type(self, kind: DataType) -> str:
        """Return the database's name of a Spark type."""
        java = self._jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())
        return str(self._types.getJdbcType(java, self._dialect).databaseTypeDefinition())

    def need_read_only(self) -> None:
        """Ask the server whether the connection is read-only, as Spark does on each of its own before it reads."""
        if statement := _READ_ONLY_STATEMENTS.get(self._database.product):
            with closing(self._prepare(statement, ())) as prepared:
                prepared.execute()

    def execute(self, statement: str, *values: str | int) -> None:
        """Run a statement with values."""
        with closing(self._prepare(statement, values)) as prepared:
            prepared.executeUpdate()

    @contextmanager
    def query(self, question: str, *values: str) -> Iterator[Any]:
        """Run a query and yield its Java ResultSet."""
        with closing(self._prepare(question, values)) as prepared:
            yield prepared.executeQuery()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all statements inside, or none."""
        self.java.setAutoCommit(False)
        try:
            yield
            self.java.commit()
        except BaseException:
            # A closed connection has rolled back by itself; the first error is the one to raise.
            with suppress(Py4JError):
                self.java.rollback()
            raise
        finally:
            with suppress(Py4JError):
                self.java.setAutoCommit(True)

    def tables(self, schemas: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """Return schema and name of the tables and views of these schemas, or of the default one, by stream name."""
        found: dict[str, tuple[str, str]] = {}
        for schema in schemas or (self.java.getSchema(),):
            rows = self.java.getMetaData().getTables(self.java.getCatalog(), self._escape_pattern(schema), "%", None)
            for space, name, kind in self._fetch_rows(rows, "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"):
                if kind in _TABLE_TYPES and (schema is None or space == schema):
                    found[f"{space}.{name}" if space else name] = (space, name)
        return dict(sorted(found.items()))

    def primary_key(self, schema: str, table: str) -> tuple[str, ...]:
        """Return the fields of the primary key, in order."""
        rows = self.java.getMetaData().getPrimaryKeys(self.java.getCatalog(), schema or None, table)
        found = self._fetch_rows(rows, "KEY_SEQ", "COLUMN_NAME")
        return tuple(name for _, name in sorted((int(place or 0), name) for place, name in found))

    def quote_name(self, *names: str) -> str:
        """Quote the parts of a name as the driver does, also for products that Spark has no dialect for."""
        sign = str(self.java.getMetaData().getIdentifierQuoteString()).strip()
        parts = (f"{sign}{name.replace(sign, sign * 2)}{sign}" if sign else name for name in names if name)
        return ".".join(parts)

    def _escape_pattern(self, schema: str | None) -> str | None:
        """Escape a schema's name where the driver takes a pattern."""
        if schema is None:
            return None
        escape = str(self.java.getMetaData().getSearchStringEscape() or "")
        return "".join(f"{escape}{sign}" if sign in f"_%{escape}" else sign for sign in schema)

    @staticmethod
    def _fetch_rows(rows: Any, *names: str) -> list[tuple[str, ...]]:  # noqa: ANN401 - a ResultSet of Java's
        found: list[tuple[str, ...]] = []
        with closing(rows):
            while rows.next():
                found.append(tuple(rows.getString(name) or "" for name in names))
        return found

    def _prepare(self, statement: str, values: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - a class of Java
        prepared = self.java.prepareStatement(statement)
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
    with translate_delivery_errors("The database", *database.redactions):
        if not jvm_of(spark).org.apache.spark.util.Utils.classIsLoadable(database.driver_class):
            hint = "Ask an admin to add its jar, or correct the name."
            raise UnavailableError(f"There is no driver {database.driver_class} here.", hint, field="driver")
        connection = JdbcConnection(spark, database)
        try:
            yield connection
        finally:
            with suppress(Py4JError):
                connection.close()


def open_database(environment: ConnectorEnvironment, settings: DatabaseSettings) -> JdbcDatabase:
    """Return the database with its password, or refuse one that the platform does not allow."""
    check_address(settings.address, settings.properties)
    environment.need_allowed(settings)
    address = parse_address(settings.address)
    entry = next((each for each in environment.settings.allowed_databases if each.matches(address)), None)
    if entry is None:
        entry = _public_postgresql(address)
        # A listed host is the installation's own choice. Any other is checked, and reached at the address checked.
        address = _resolve_hosts(address, settings, environment.settings)
    if settings.driver not in {"", entry.driver}:
        message = "The driver of this database is chosen by the installation."
        raise InvalidInputError(message, f"Leave it empty, or write {entry.driver}.", field="driver")
    permitted = entry.permitted | (POSTGRESQL_PROPERTIES if address.product == POSTGRESQL else frozenset())
    return JdbcDatabase(
        address.url,
        settings.user,
        environment.secrets.get("password", ""),
        entry.driver,
        permitted_properties(address, settings.properties, permitted),
        entry.fixed,
        user_only_reads=settings.user in entry.readers,
        sample_seconds=environment.settings.query_seconds,
    )


def _public_postgresql(address: JdbcAddress) -> AllowedDatabase:
    if address.product != POSTGRESQL:
        hint = "Use PostgreSQL, or ask whoever keeps the installation to list it: LAKEHOLD_DATABASES."
        raise InvalidInputError("This database is not allowed here.", hint, field="address")
    return AllowedDatabase(address, DRIVER_CLASSES[POSTGRESQL])


def _resolve_hosts(address: JdbcAddress, settings: DatabaseSettings, platform: Settings) -> JdbcAddress:
    """Return the address with its hosts resolved, so that a name cannot lead elsewhere after it was checked."""
    hosts = tuple((resolve_host(host, port, private=platform.private_addresses), port) for host, port in address.hosts)
    given = {**address.properties, **settings.properties}
    # The driver's own default for "ssl" is to compare the certificate with the name.
    is_verified = ("ssl" in given or "sslmode" in given) and given.get("sslmode", "") in _VERIFIED_BY_NAME
    if is_verified and hosts != address.hosts:
        hint = "Use sslmode=verify-ca, or ask whoever keeps the installation to list the host: LAKEHOLD_DATABASES."
        message = "The certificate of this database cannot be compared with its name, as it is reached by its address."
        raise InvalidInputError(message, hint, field="address")
    return replace(address, hosts=hosts)
