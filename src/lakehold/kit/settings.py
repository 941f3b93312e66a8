"""The platform's settings, read from the environment variables `LAKEHOLD_…` and from nothing else."""

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.jdbc_address import AllowedDatabase, parse_allowed


class Settings(BaseSettings):
    """The platform's settings. Every one has a default with which `lakehold up` works at once."""

    model_config = SettingsConfigDict(env_prefix="LAKEHOLD_", frozen=True, extra="ignore")

    data: Path = Field(default=Path("lakehold-data"), description="The folder for everything that is kept on disk.")
    database: str = Field(default="", description="The database's URL. Without one: a SQLite file in the folder.")
    key: SecretStr = Field(
        default=SecretStr(""),
        description="The key for secrets. Without one: made on the first run, kept in the folder.",
    )
    workspaces: str = Field(
        default="",
        description="More ways of working: Python packages with a module `workspace` each, separated by commas."
        " Read when a process starts.",
    )
    connectors: str = Field(
        default="", description="More connectors: Python packages with a module `connector` each, separated by commas."
    )
    host: str = Field(default="127.0.0.1", description="The address that the server listens on.")
    port: int = Field(default=8400, ge=0, le=65535, description="The port that the server listens on.")
    address: str = Field(
        default="", description="How people reach the server, for links in mails. Without one: host and port."
    )
    certificate: str = Field(
        default="", description="The server's TLS certificate with its chain: a PEM file. Without one: plain HTTP."
    )
    certificate_key: str = Field(default="", description="The key of the certificate: a PEM file without password.")
    smtp: SecretStr = Field(
        default=SecretStr(""),
        description="The SMTP server: smtp://user:password@host:port, or smtps://. Without one: no mails.",
    )
    mail_from: str = Field(default="lakehold@localhost", description="The sender of mails.")
    metrics_token: SecretStr = Field(
        default=SecretStr(""),
        description="The token with which Prometheus reads `/metrics`. Without one: tokens of tenant admins only.",
    )
    session_days: int = Field(default=14, ge=1, le=365, description="How long a sign-in lasts.")
    invite_days: int = Field(default=7, ge=1, le=90, description="How long an invite can be accepted.")
    link_minutes: int = Field(default=60, ge=1, le=1440, description="How long a sign-in or password link can be used.")
    worker_silence: int = Field(
        default=15, ge=2, le=3600, description="Seconds without a heartbeat after which a worker's runs are taken over."
    )
    spark: str = Field(default="local[*]", description="The Spark that workers use: a master URL.")
    spark_memory: str = Field(
        default="1g", pattern=r"\d+[mg]", description="The memory of a worker's Spark, such as 4g."
    )
    spark_address: str = Field(
        default="127.0.0.1", description="Where a worker's Spark listens. A cluster's machines have to reach it there."
    )
    spark_secret: SecretStr = Field(
        default=SecretStr(""), description="The secret of a standalone Spark cluster: its spark.authenticate.secret."
    )
    warehouse: str = Field(
        default="", description="Where the tables' files lie: a folder or a URI. Without one: in the folder."
    )
    volumes: str = Field(
        default="", description="Where the files of volumes lie: a folder. Without one: in the folder."
    )
    upload_megabytes: int = Field(default=5_000, ge=1, description="How large an uploaded file may be.")
    private_addresses: bool = Field(
        default=False, description="Whether sources and destinations may be in private networks."
    )
    databases: str = Field(
        default="",
        description="Databases that are allowed beside PostgreSQL's, separated by commas: JDBC addresses with exact"
        " host and port, each with the driver's properties that may be set.",
    )
    drivers: str = Field(default="", description="The folder with the JDBC drivers that an admin adds, as jars.")
    runs_at_once: int = Field(default=2, ge=1, le=100, description="How many runs of one workspace execute at once.")
    queries_at_once: int = Field(default=3, ge=1, le=100, description="How many queries one person may run at once.")
    query_seconds: int = Field(default=300, ge=1, le=86400, description="How long a query may take.")
    analysis_seconds: int = Field(
        default=60, ge=1, le=3600, description="How long Spark may take to understand a query before it runs."
    )
    match_memory: str = Field(
        default="2GB",
        pattern=r"^[1-9][0-9]{0,5}(MB|GB)$",
        description="How much memory the matching of a data product may use; beyond it, it uses the disk.",
    )
    query_parts: int = Field(
        default=2_000,
        ge=10,
        le=100_000,
        description="How many selections, joins and unions a query may have, each WITH part counted as often as it is"
        " named.",
    )
    query_rows: int = Field(default=100_000, ge=1, description="How many rows a query may return.")
    query_megabytes: int = Field(default=64, ge=1, description="How large the rows of a query may be.")
    query_patience: int = Field(
        default=15, ge=1, le=3600, description="How long a query may block others before it is stopped."
    )
    query_workers: int = Field(
        default=1, ge=0, le=16, description="How many processes that do nothing but queries `lakehold up` starts."
    )
    snapshot_days: int = Field(
        default=30, ge=1, le=3650, description="How long a table can be read as it was and rolled back."
    )
    dropped_days: int = Field(
        default=30, ge=1, le=3650, description="How long the rows of a deleted table can be restored."
    )
    result_days: int = Field(default=7, ge=1, le=365, description="How long the result of a job is kept.")
    read_log_days: int = Field(
        default=365, ge=0, le=3650, description="How long the audit log keeps who read what. 0: reads are not recorded."
    )
    gateway_port: int = Field(
        default=0, ge=0, le=65535, description="The port that gateways dial, with TLS. 0: there are no gateways."
    )
    gateway_address: str = Field(
        default="",
        description="How gateways reach that port: host:port. Without one: the host of the server's address.",
    )
    trusted_proxies: str = Field(
        default="", description="Addresses whose X-Forwarded-For and -Proto are trusted, separated by commas."
    )

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
