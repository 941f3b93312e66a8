"""The platform's settings, read from the environment variables `LAKEHOLD_…` and from nothing else."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.jdbc_address import AllowedDatabase, parse_allowed


class Settings(BaseSettings):
    """The platform's settings. Every one has a default with which `lakehold up` works at once."""

    model_config = SettingsConfigDict(env_prefix="LAKEHOLD_", frozen=True, extra="ignore")

    data: Annotated[Path, Field(description="The folder for everything that is kept on disk.")] = Path("lakehold-data")
    database: Annotated[str, Field(description="The database's URL. Without one: a SQLite file in the folder.")] = ""
    key: Annotated[
        SecretStr, Field(description="The key for secrets. Without one: made on the first run, kept in the folder.")
    ] = SecretStr("")
    workspaces: Annotated[
        str,
        Field(
            description="More ways of working: Python packages with a module `workspace` each, separated by commas."
            " Read when a process starts."
        ),
    ] = ""
    connectors: Annotated[
        str, Field(description="More connectors: Python packages with a module `connector` each, separated by commas.")
    ] = ""
    host: Annotated[str, Field(description="The address that the server listens on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="The port that the server listens on.")] = 8400
    address: Annotated[
        str, Field(description="How people reach the server, for links in mails. Without one: host and port.")
    ] = ""
    certificate: Annotated[
        str, Field(description="The server's TLS certificate with its chain: a PEM file. Without one: plain HTTP.")
    ] = ""
    certificate_key: Annotated[str, Field(description="The key of the certificate: a PEM file without password.")] = ""
    smtp: Annotated[
        SecretStr,
        Field(description="The SMTP server: smtp://user:password@host:port, or smtps://. Without one: no mails."),
    ] = SecretStr("")
    mail_from: Annotated[str, Field(description="The sender of mails.")] = "lakehold@localhost"
    metrics_token: Annotated[
        SecretStr,
        Field(
            description="The token with which Prometheus reads `/metrics`. Without one: tokens of tenant admins only."
        ),
    ] = SecretStr("")
    session_days: Annotated[int, Field(ge=1, le=365, description="How long a sign-in lasts.")] = 14
    invite_days: Annotated[int, Field(ge=1, le=90, description="How long an invite can be accepted.")] = 7
    link_minutes: Annotated[
        int, Field(ge=1, le=1440, description="How long a sign-in or password link can be used.")
    ] = 60
    worker_silence: Annotated[
        int, Field(ge=2, le=3600, description="Seconds without a heartbeat after which a worker's runs are taken over.")
    ] = 15
    spark: Annotated[str, Field(description="The Spark that workers use: a master URL.")] = "local[*]"
    spark_memory: Annotated[
        str, Field(description="The memory of a worker's Spark, such as 4g.", pattern=r"\d+[mg]")
    ] = "1g"
    spark_address: Annotated[
        str, Field(description="Where a worker's Spark listens. A cluster's machines have to reach it there.")
    ] = "127.0.0.1"
    spark_secret: Annotated[
        SecretStr, Field(description="The secret of a standalone Spark cluster: its spark.authenticate.secret.")
    ] = SecretStr("")
    warehouse: Annotated[
        str, Field(description="Where the tables' files lie: a folder or a URI. Without one: in the folder.")
    ] = ""
    volumes: Annotated[
        str, Field(description="Where the files of volumes lie: a folder. Without one: in the folder.")
    ] = ""
    upload_megabytes: Annotated[int, Field(ge=1, description="How large an uploaded file may be.")] = 5_000
    private_addresses: Annotated[
        bool, Field(description="Whether sources and destinations may be in private networks.")
    ] = False
    databases: Annotated[
        str,
        Field(
            description="Databases that are allowed beside PostgreSQL's, separated by commas: JDBC addresses with exact"
            " host and port, each with the driver's properties that may be set."
        ),
    ] = ""
    drivers: Annotated[str, Field(description="The folder with the JDBC drivers that an admin adds, as jars.")] = ""
    runs_at_once: Annotated[int, Field(ge=1, le=100, description="How many runs of one workspace execute at once.")] = 2
    queries_at_once: Annotated[int, Field(ge=1, le=100, description="How many queries one person may run at once.")] = 3
    query_seconds: Annotated[int, Field(ge=1, le=86400, description="How long a query may take.")] = 300
    query_rows: Annotated[int, Field(ge=1, description="How many rows a query may return.")] = 100_000
    query_megabytes: Annotated[int, Field(ge=1, description="How large the rows of a query may be.")] = 64
    query_patience: Annotated[
        int, Field(ge=1, le=3600, description="How long a query may block others before it is stopped.")
    ] = 15
    snapshot_days: Annotated[
        int, Field(ge=1, le=3650, description="How long a table can be read as it was and rolled back.")
    ] = 30
    dropped_days: Annotated[
        int, Field(ge=1, le=3650, description="How long the rows of a deleted table can be restored.")
    ] = 30
    result_days: Annotated[int, Field(ge=1, le=365, description="How long the result of a job is kept.")] = 7
    trusted_proxies: Annotated[
        str, Field(description="Addresses whose X-Forwarded-For and -Proto are trusted, separated by commas.")
    ] = ""

    @field_validator("address")
    @classmethod
    def _without_slash(cls, address: str) -> str:
        return address.rstrip("/")

    @model_validator(mode="after")
    def _certificate_with_key(self) -> Self:
        if bool(self.certificate) != bool(self.certificate_key):
            message = "LAKEHOLD_CERTIFICATE and LAKEHOLD_CERTIFICATE_KEY belong together"
            raise ValueError(message)
        return self

    @field_validator("databases")
    @classmethod
    def _exact_databases(cls, databases: str) -> str:
        parse_allowed(databases)
        return databases

    @property
    def allowed_databases(self) -> tuple[AllowedDatabase, ...]:
        """The databases that are allowed beside PostgreSQL's."""
        return parse_allowed(self.databases)

    @property
    def database_url(self) -> str:
        """The database's URL."""
        return self.database or f"sqlite:///{self.data / 'lakehold.sqlite'}"

    @property
    def warehouse_url(self) -> str:
        """The folder or URI of the tables' files."""
        return self.warehouse or str(self.data.absolute() / "warehouse")

    @property
    def volumes_folder(self) -> Path:
        """The folder of the volumes' files."""
        return Path(self.volumes) if self.volumes else self.data.absolute() / "volumes"

    @property
    def base_url(self) -> str:
        """The URL at which people reach the server."""
        return self.address or self.url_of(self.host, self.port)

    def url_of(self, host: str, port: int) -> str:
        """Return the URL of an address that the server listens on."""
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def environment(self) -> dict[str, str]:
        """Return the settings as environment variables for another process of the platform."""
        prefix = self.model_config["env_prefix"]
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            f"{prefix}{name}".upper(): value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in values.items()
        }


def load_settings(**overrides: object) -> Settings:
    """Load the settings from the environment; keyword arguments override them."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = "LAKEHOLD_" + "_".join(str(part) for part in first["loc"]).upper()
        what = f"The setting {name} cannot be used" if first["loc"] else "These settings cannot be used"
        raise InvalidInputError(f"{what}: {first['msg']}.", "Correct it or unset it.") from error
