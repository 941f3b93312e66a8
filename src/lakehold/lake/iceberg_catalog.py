"""The platform's Iceberg catalog, in a file or schema of its own, and the warehouse that holds the table files.

Tenants and tables are identified by number here. Their names are kept in `lakehold.catalog` and are no part of any
path, so that a rename moves nothing and a name can do no harm.

Python reads the current metadata file of a table here; Spark writes through the same database tables by JDBC.
"""

import hashlib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from secrets import token_hex

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.lake import installation, table_metadata, warehouse
from lakehold.lake.table_metadata import IcebergMetadata

CATALOG_NAME = "lakehold"
"""The name of the catalog in the platform's own Spark session."""
_FORMER_NAME = "house"
"""Its name in releases up to 0.1; their tables are taken over when the catalog is opened."""
SCHEMA = "lakehold_lake"
_BATCH_SIZE = 500

_metadata = sa.MetaData()
_SHORT, _LONG = sa.String(255), sa.String(1000)
# As Iceberg's own JDBC catalog has them.
_tables = sa.Table(
    "iceberg_tables",
    _metadata,
    sa.Column("catalog_name", _SHORT, primary_key=True),
    sa.Column("table_namespace", _SHORT, primary_key=True),
    sa.Column("table_name", _SHORT, primary_key=True),
    sa.Column("metadata_location", _LONG),
    sa.Column("previous_metadata_location", _LONG),
    sa.Column("iceberg_type", sa.String(5)),
)
_full_name = sa.tuple_(_tables.c.table_namespace, _tables.c.table_name)
_namespaces = sa.Table(
    "iceberg_namespace_properties",
    _metadata,
    sa.Column("catalog_name", _SHORT, primary_key=True),
    sa.Column("namespace", _SHORT, primary_key=True),
    sa.Column("property_key", _SHORT, primary_key=True),
    sa.Column("property_value", _LONG),
)
_installation = sa.Table(
    "installation", _metadata, sa.Column("only", sa.Integer, primary_key=True), sa.Column("id", _SHORT)
)
_POSTGRESQL_HOME = """
SELECT format('PostgreSQL cluster %s, database %s', system_identifier, oid)
FROM pg_control_system(), pg_database WHERE datname = current_database()
"""


@dataclass(frozen=True, slots=True, order=True)
class TableIdentifier:
    """Identifies a table or volume by the number of its tenant and its own number."""

    tenant: int
    number: int

    @property
    def namespace(self) -> str:
        """Iceberg namespace of the tenant."""
        return f"t{self.tenant}"

    @property
    def table(self) -> str:
        """Iceberg name of the table."""
        return f"r{self.number}"

    @property
    def sql(self) -> str:
        """Name of the table in SQL of the platform's own session."""
        return f"{CATALOG_NAME}.{self.namespace}.{self.table}"


class IcebergCatalog:
    """Reads and updates the platform's Iceberg catalog."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._url = sa.make_url(settings.database_url)

    def close(self) -> None:
        """Close all database connections."""
        if "_engine" in self.__dict__:
            self._engine.dispose()

    def metadata_location(self, place: TableIdentifier) -> str | None:
        """Return the location of the table's current metadata file; None if the table does not exist yet."""
        return self.metadata_locations([place]).get(place)

    def need_location(self, place: TableIdentifier) -> str:
        """Return the location of the table's current metadata file, or refuse if the table does not exist yet."""
        found = self.metadata_location(place)
        if found is None:
            raise ConflictError("The table has no data yet.", "Run the pipeline that fills it.")
        return found

    def current_metadata(self, place: TableIdentifier) -> IcebergMetadata | None:
        """Return the current metadata of a table; None if the table does not exist yet."""
        location = self.metadata_location(place)
        return None if location is None else table_metadata.load_metadata(location)

    def metadata_locations(self, places: Iterable[TableIdentifier]) -> dict[TableIdentifier, str]:
        """Return the metadata locations of several tables, leaving out those that do not exist."""
        by_name = {(place.namespace, place.table): place for place in sorted(places)}
        names, found = list(by_name), dict[TableIdentifier, str]()
        for start in range(0, len(names), _BATCH_SIZE):
            some = self.all_locations(_full_name.in_(names[start : start + _BATCH_SIZE]))
            found |= {by_name[name]: location for name, location in some.items()}
        return found

    def list_tables(self, tenant: int) -> list[TableIdentifier]:
        """Return all tables of a tenant in the catalog, including those that no resource refers to any more."""
        found = self.all_locations(_tables.c.table_namespace == TableIdentifier(tenant, 0).namespace)
        return sorted(TableIdentifier(tenant, int(name[1:])) for _, name in found if name[1:].isdigit())

    def all_locations(self, *where: sa.ColumnElement[bool]) -> dict[tuple[str, str], str]:
        """Return the metadata locations of the tables of all tenants, or of some, by namespace and name."""
        query = sa.select(_tables).where(_tables.c.catalog_name == CATALOG_NAME, *where)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return {(row.table_namespace, row.table_name): row.metadata_location for row in rows if row.metadata_location}

    def need_own_location(self, place: TableIdentifier) -> None:
        """Refuse to write a table that has files outside the warehouse, or in that of another installation."""
        self._need_own_place(self.warehouse_url)
        location = self.metadata_location(place)
        if location is not None:
            # Its own place first: what lies elsewhere is not even read.
            warehouse.need_inside(self.warehouse_url, [location])
            warehouse.need_inside(self.warehouse_url, warehouse.named_locations(location))

    def need_own_places(self) -> None:
        """Refuse a warehouse or volumes folder of another installation, and tables outside the warehouse."""
        warehouse.need_inside(self.warehouse_url, self.all_locations().values())
        for root in self._places:
            self._need_own_place(root)

    def claim_places(self) -> None:
        """Make the warehouse and the volumes folder those of this installation, also if they were another one's."""
        for root in self._places:
            installation.claim_place(root, self._mark)

    def _need_own_place(self, root: str) -> None:
        installation.need_own_place(root, self._mark, self._is_known)

    def _is_known(self, root: str) -> bool:
        """Return whether a place without a marker is this installation's: its tables have been found inside."""
        return warehouse.is_inside(root, str(self._settings.data)) or bool(self.all_locations())

    @property
    def _places(self) -> tuple[str, str]:
        return self.warehouse_url, str(self._settings.volumes_folder)

    @cached_property
    def _mark(self) -> bytes:
        """The content of markers: the id of the installation, and where it is, by which a copy differs."""
        row = {"only": 1, "id": token_hex(16)}
        with self._engine.begin() as connection:
            if not connection.scalar(sa.select(_installation.c.id)):
                connection.execute(self._insert(_installation).values(row).on_conflict_do_nothing())
            uid = connection.scalar(sa.select(_installation.c.id))
            # Servers may reach one PostgreSQL by several addresses.
            home = self._settings.data.resolve() if self._is_file else connection.scalar(sa.text(_POSTGRESQL_HOME))
        return f"{uid}\n{home}\n".encode()

    @property
    def installation_id(self) -> str:
        """A short id of this installation, which a copy of it does not have."""
        return hashlib.sha256(self._mark).hexdigest()[:12]

    def relocate_table(self, name: tuple[str, str], old: str, new: str, previous: str | None) -> None:
        """Set the metadata file of a table, unless the table was written meanwhile."""
        which = _tables.update().where(
            _tables.c.catalog_name == CATALOG_NAME, _full_name == name, _tables.c.metadata_location == old
        )
        with self._engine.begin() as connection:
            values = {"metadata_location": new, "previous_metadata_location": previous}
            if not connection.execute(which.values(values)).rowcount:
                raise ConflictError("A table was written meanwhile.", "Stop all servers and workers, then try again.")

    def create_namespace(self, place: TableIdentifier) -> None:
        """Create the namespace of a tenant if it does not exist.

        Iceberg would look first and insert then, so that of two runs that start at once one would fail.
        """
        row = {"catalog_name": CATALOG_NAME, "namespace": place.namespace, "property_key": "exists"}
        with self._engine.begin() as connection:
            insert = self._insert(_namespaces).values(**row, property_value="true")
            connection.execute(insert.on_conflict_do_nothing())

    @property
    def warehouse_url(self) -> str:
        """The folder or URI of the tables' files."""
        return self._settings.warehouse_url

    @property
    def dropped_days(self) -> int:
        """The number of days for which the rows of a deleted table are retained."""
        return self._settings.dropped_days

    def spark_settings(self) -> dict[str, str]:
        """Return the Spark settings of the catalog, which only the platform's own session may have."""
        _ = self._engine
        here = f"spark.sql.catalog.{CATALOG_NAME}"
        if self._is_file:
            uri, login = f"jdbc:sqlite:file:{self._file}?busy_timeout=30000&journal_mode=WAL", {}
        else:
            host = f"{self._url.host or 'localhost'}:{self._url.port or 5432}"
            uri = f"jdbc:postgresql://{host}/{self._url.database}?currentSchema={SCHEMA}"
            # The driver takes them by name, so that they stand in no URL that an error might repeat.
            login = {"user": self._url.username, "password": self._url.password}
        return {
            here: "org.apache.iceberg.spark.SparkCatalog",
            f"{here}.type": "jdbc",
            f"{here}.uri": uri,
            f"{here}.warehouse": self._settings.warehouse_url,
            f"{here}.jdbc.schema-version": "V1",
            f"{here}.cache-enabled": "false",
            **{f"{here}.jdbc.{name}": value for name, value in login.items() if value},
        }

    def _insert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        return sqlite.insert(table) if self._is_file else postgresql.insert(table)

    @property
    def _is_file(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def _file(self) -> str:
        return str(self._settings.data.absolute() / "lake.sqlite")

    @cached_property
    def _engine(self) -> sa.Engine:
        if self._is_file:
            engine = sa.create_engine(f"sqlite:///{self._file}", connect_args={"timeout": 30})
            with engine.begin() as connection:
                _create_tables(connection)
            return engine
        url = self._url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, connect_args={"options": f"-csearch_path={SCHEMA}"})
        with engine.begin() as connection:
            # Of several that start at once, one makes them.
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": SCHEMA})
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
            _create_tables(connection)
        return engine


def _create_tables(connection: sa.Connection) -> None:
    """Create the tables of the catalog, and take over what an earlier release kept under the former name."""
    _metadata.create_all(connection)
    for table in (_tables, _namespaces):
        is_former = table.c.catalog_name == _FORMER_NAME
        if connection.execute(sa.select(sa.exists().where(is_former))).scalar():
            connection.execute(table.update().where(is_former).values(catalog_name=CATALOG_NAME))


def refuse_foreign_warehouse(settings: Settings) -> None:
    """Refuse to start an installation whose tables or places are those of another one, as a copy's are."""
    with closing(IcebergCatalog(settings)) as catalog:
        catalog.need_own_places()
