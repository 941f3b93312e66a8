"""Where tables lie: the Iceberg catalog, in a file or schema of its own, and the warehouse with their files.

In there everything goes by number: the tenant's and the table's. What people call a table is the catalog's business and
no part of any path, so that a rename moves nothing and a name can do no harm.

Python reads here which metadata file a table has at the moment; Spark writes through the same tables by JDBC.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.pipeline import metadata
from lakehold.pipeline.metadata import Metadata

NAME = "house"
"""What the platform's own Spark session calls the catalog."""
SCHEMA = "lakehold_lake"
_AT_ONCE = 500

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
sa.Table(
    "iceberg_namespace_properties",
    _metadata,
    sa.Column("catalog_name", _SHORT, primary_key=True),
    sa.Column("namespace", _SHORT, primary_key=True),
    sa.Column("property_key", _SHORT, primary_key=True),
    sa.Column("property_value", _LONG),
)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a table lies: by the numbers of its tenant and of itself."""

    tenant: int
    number: int

    @property
    def namespace(self) -> str:
        """Iceberg's name for the tenant."""
        return f"t{self.tenant}"

    @property
    def table(self) -> str:
        """Iceberg's name for the table."""
        return f"r{self.number}"

    @property
    def sql(self) -> str:
        """The table in SQL of the platform's own session."""
        return f"{NAME}.{self.namespace}.{self.table}"


class Lake:
    """The catalog of an installation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._url = sa.make_url(settings.database_url)

    def close(self) -> None:
        """Give all connections back."""
        if "_engine" in self.__dict__:
            self._engine.dispose()

    def metadata_of(self, place: Place) -> str | None:
        """The metadata file that says what the table is now; None if it has none yet."""
        return self.metadata_of_many([place]).get(place)

    def now(self, place: Place) -> Metadata | None:
        """What the table is now; None if it has not been made yet."""
        location = self.metadata_of(place)
        return None if location is None else metadata.read(location)

    def metadata_of_many(self, places: Iterable[Place]) -> dict[Place, str]:
        """The same for several of one tenant or more."""
        wanted = sorted(places)
        found: dict[Place, str] = {}
        c = _tables.c
        with self._engine.connect() as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                some = {(place.namespace, place.table): place for place in wanted[start : start + _AT_ONCE]}
                query = sa.select(c.table_namespace, c.table_name, c.metadata_location).where(
                    c.catalog_name == NAME,
                    c.table_namespace.in_({namespace for namespace, _ in some}),
                    c.table_name.in_({table for _, table in some}),
                )
                for row in connection.execute(query):
                    place = some.get((row.table_namespace, row.table_name))
                    if place is not None and row.metadata_location:
                        found[place] = row.metadata_location
        return found

    def places(self, tenant: int) -> list[Place]:
        """Where the tables of a tenant lie, whether or not anybody still knows of them."""
        c, namespace = _tables.c, Place(tenant, 0).namespace
        query = sa.select(c.table_name).where(c.catalog_name == NAME, c.table_namespace == namespace)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalars().all()
        return sorted(Place(tenant, int(name[1:])) for name in found if name[1:].isdigit())

    def move(self, old: Place, new: Place) -> None:
        """Let the rows of one be those of the other, which has none. The files stay where they are."""
        c = _tables.c
        if self.metadata_of(old) is None and self.metadata_of(new) is not None:
            return
        moved = _tables.update().where(
            c.catalog_name == NAME, c.table_namespace == old.namespace, c.table_name == old.table
        )
        with self._engine.begin() as connection:
            if not connection.execute(moved.values(table_name=new.table)).rowcount:
                raise ConflictError("The rows of the table are gone.", "They may have been restored before.")

    def spark_settings(self) -> dict[str, str]:
        """What the platform's own Spark session has to be told, and no other one may know."""
        _ = self._engine
        here = f"spark.sql.catalog.{NAME}"
        told = {
            here: "org.apache.iceberg.spark.SparkCatalog",
            f"{here}.type": "jdbc",
            f"{here}.uri": self._jdbc,
            f"{here}.warehouse": self._settings.warehouse_url,
            f"{here}.jdbc.schema-version": "V1",
            f"{here}.cache-enabled": "false",
        }
        if self._is_file:
            return told
        # The driver takes them by name, so that they stand in no URL that an error might repeat.
        login = {"user": self._url.username, "password": self._url.password}
        return told | {f"{here}.jdbc.{name}": value for name, value in login.items() if value}

    @property
    def _is_file(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @property
    def _jdbc(self) -> str:
        if self._is_file:
            return f"jdbc:sqlite:file:{self._file}?busy_timeout=30000&journal_mode=WAL"
        host = self._url.host or "localhost"
        return f"jdbc:postgresql://{host}:{self._url.port or 5432}/{self._url.database}?currentSchema={SCHEMA}"

    @property
    def _file(self) -> str:
        return str(self._settings.data.absolute() / "lake.sqlite")

    @cached_property
    def _engine(self) -> sa.Engine:
        if self._is_file:
            engine = sa.create_engine(f"sqlite:///{self._file}", connect_args={"timeout": 30})
            _metadata.create_all(engine)
            return engine
        url = self._url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, connect_args={"options": f"-csearch_path={SCHEMA}"})
        with engine.begin() as connection:
            # Of several that start at once, one makes them.
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": SCHEMA})
            connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
            _metadata.create_all(connection)
        return engine
