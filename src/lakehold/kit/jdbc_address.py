"""JDBC addresses, and the databases that the installation allows beside PostgreSQL's.

Drivers take far more in an address than a host: classes to load, files to read and write, other hosts. So an address is
parsed by a narrow grammar and written anew from its parts; its properties are given to the driver apart from it, and
only those that are permitted.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote as percent_encode
from urllib.parse import unquote

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

POSTGRESQL, SQLITE = "postgresql", "sqlite"
DRIVER_CLASSES = {
    POSTGRESQL: "org.postgresql.Driver",
    SQLITE: "org.sqlite.JDBC",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "oracle": "oracle.jdbc.OracleDriver",
}
_PORTS = {POSTGRESQL: 5432, "mysql": 3306, "mariadb": 3306, "sqlserver": 1433, "oracle": 1521}
_IN_PROCESS = {"h2", "hsqldb", "derby", "duckdb"}
"""Engines that can run inside the worker, whose SQL reads files and runs code."""
_NO_LOCAL_FILES = {
    **dict.fromkeys(("allowLoadLocalInfile", "allowUrlInLocalInfile", "allowLocalInfile"), "false"),
    **dict.fromkeys(("autoDeserialize", "allowMultiQueries"), "false"),
}
_FORCED_PROPERTIES: Mapping[str, Mapping[str, str]] = {
    SQLITE: {"enable_load_extension": "false"},
    # Either one's driver may be used for the other.
    "mysql": _NO_LOCAL_FILES,
    "mariadb": _NO_LOCAL_FILES,
}

_RESERVED = {
    # Another host, another login.
    *("user", "username", "password", "host", "hostname", "server", "servername", "port", "portnumber", "database"),
    *("databasename", "pghost", "pgport", "pgdbname", "service", "options", "readonly", "readonlymode", "open_mode"),
    # Options of Spark's, among which properties are given to it.
    *("url", "driver", "dbtable", "query", "preparequery", "sessioninitstatement", "customschema"),
    *("connectionprovider", "keytab", "principal", "refreshkrb5config", "createtableoptions", "createtablecolumntypes"),
    *("isolationlevel", "partitioncolumn", "lowerbound", "upperbound", "numpartitions", "fetchsize", "batchsize"),
    *("querytimeout", "truncate", "cascadetruncate", "pushdownpredicate", "pushdownaggregate", "pushdownlimit"),
    *("pushdownoffset", "pushdowntablesample", "prefertimestampntz", "hint", "schema", "path"),
    *("sessionvariables", "readonlyusers", "permitmysqlscheme"),
    # To set it at all lets a server ask for files.
    "allowloadlocalinfileinpath",
}
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?)(?::\d{1,5})?"
_PLACE = rf"(?P<hosts>{_HOST}(?:,{_HOST})*)"
_NETWORK = re.compile(rf"//{_PLACE}(?P<database>/[^/?;&\s]*)?(?:\?(?P<query>\S*))?")
_GRAMMARS = {
    POSTGRESQL: re.compile(rf"(?://{_PLACE}?)?/?(?P<database>[^/?;&\s]*)(?:\?(?P<query>\S*))?"),
    "sqlserver": re.compile(rf"//{_PLACE}(?P<database>)(?:;(?P<query>\S*))?"),
    "oracle": re.compile(rf"thin:@(?://)?{_PLACE}(?P<database>[/:][A-Za-z0-9_.$-]+)?(?P<query>)"),
    SQLITE: re.compile(r"(?:file:)?(?P<hosts>)(?P<database>/[^?;%#\\\n]+)(?:\?(?P<query>\S*))?"),
}
_READERS = "readOnlyUsers"
_MAX_LENGTH = 2_000
_PRODUCT = re.compile(r"[a-z0-9+_-]+")
_SQLSERVER_DATABASE = re.compile(r"[\w.$-]+")
_PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class JdbcAddress:
    """A database's address, in its parts."""

    product: str
    hosts: tuple[tuple[str, int], ...]
    """Names and ports; a port is 0 if it is not known. Empty for a file."""
    database: str
    """A name, or the path of a file; with its separator for Oracle, which has two."""
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address for the driver, without properties."""
        start = f"jdbc:{self.product}:"
        each = [(f"[{host}]" if ":" in host else host, port) for host, port in self.hosts]
        hosts = ",".join(f"{host}:{port}" if port else host for host, port in each)
        match self.product:
            case "sqlite":
                return f"{start}{self.database}"
            case "oracle":
                return f"{start}thin:@{'' if self.database.startswith(':') else '//'}{hosts}{self.database}"
            case "sqlserver":
                return f"{start}//{hosts}" + (f";databaseName={self.database}" if self.database else "")
        return f"{start}//{hosts}/{percent_encode(self.database, safe='')}"


def parse_address(text: str) -> JdbcAddress:
    """Return the parts of an address, or refuse one that has anything else in it."""
    start, _, rest = text[: _MAX_LENGTH + 1].partition(":")
    product, _, rest = rest.partition(":")
    found = _GRAMMARS.get(product, _NETWORK).fullmatch(rest)
    if start != "jdbc" or len(text) > _MAX_LENGTH or found is None or not _PRODUCT.fullmatch(product):
        raise _invalid_address(product)
    port = _PORTS.get(product, 0)
    hosts = tuple(_split_port(each, port) for each in found["hosts"].split(",")) if found["hosts"] else ()
    if product == POSTGRESQL and not hosts:
        hosts = (("localhost", port),)
    properties = _parse_properties(found["query"] or "", ";" if product == "sqlserver" else "&")
    database = _parse_database(product, found["database"] or "", properties)
    return JdbcAddress(product, hosts, database, properties)


def _parse_database(product: str, text: str, properties: dict[str, str]) -> str:
    match product:
        case "oracle":
            return text
        case "sqlite":
            valid, name = all(part not in {"", ".", ".."} for part in text[1:].split("/")), text
        case "sqlserver":
            named = [each for each in properties if each.lower() in {"databasename", "database"}]
            name = properties.pop(named[0]) if named else ""
            valid = len(named) <= 1 and bool(_SQLSERVER_DATABASE.fullmatch(name or "x"))
        case _:
            name = unquote(text.removeprefix("/"))
            valid = name.isprintable()
    if not valid:
        raise _invalid_address(product)
    return name


def _invalid_address(product: str) -> InvalidInputError:
    examples = {
        SQLITE: "jdbc:sqlite:/folder/file.sqlite",
        "sqlserver": "jdbc:sqlserver://host:1433;databaseName=name",
        "oracle": "jdbc:oracle:thin:@//host:1521/service",
    }
    hint = f"Write it like {examples.get(product, f'jdbc:{product}://host:{_PORTS.get(product, 5432)}/name')}."
    return InvalidInputError("Addresses of databases in this form are not allowed here.", hint, field="address")


def _split_port(text: str, default: int) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if ":" in text and not text.endswith("]") else (text, "", "")
    return host.strip("[]").lower().rstrip("."), int(port) if port else default


def _parse_properties(text: str, separator: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, text.split(separator)):
        name, _, value = (unquote(each) for each in part.partition("="))
        _add_property(found, name, value, "address")
    return found


def _add_property(found: dict[str, str], name: str, value: str, where: str) -> None:
    if not _PROPERTY.fullmatch(name) or not value.isprintable():
        raise InvalidInputError(f"{quote(name)} is no property of a driver.", "Correct it.", field=where)
    if name.lower() in {each.lower() for each in found}:
        raise InvalidInputError(f"The property {name} is given twice.", "Give it once.", field=where)
    found[name] = value


@dataclass(frozen=True, slots=True)
class AllowedDatabase:
    """A database that the installation allows: driver, exact host and port, and the properties that may be set."""

    address: JdbcAddress
    """Without a database name: every database of the host."""
    driver: str
    permitted: frozenset[str] = frozenset()
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Properties that the installation sets itself."""
    readers: frozenset[str] = frozenset()
    """The users who can only read, as the installation says."""

    def matches(self, address: JdbcAddress) -> bool:
        """Return whether an address is of this database."""
        same = (self.address.product, self.address.hosts) == (address.product, address.hosts)
        return same and self.address.database in {"", address.database}


def forced_properties(product: str) -> Mapping[str, str]:
    """Return the properties that are set last, whatever was given: a server, or a query, must not reach this machine.

    Drivers have further spellings of their product, such as `mysql+srv`.
    """
    return _FORCED_PROPERTIES.get(product.partition("+")[0], {})


def permitted_properties(
    address: JdbcAddress, properties: Mapping[str, str], permitted: Collection[str]
) -> dict[str, str]:
    """Return the properties of an address and those beside it, spelled as the driver has them; refuse all others."""
    spelled = {name.lower(): name for name in permitted}
    found: dict[str, str] = {}
    for where, given in (("address", address.properties), ("properties", properties)):
        for name, value in given.items():
            if name.lower() not in spelled:
                allowed = f"It may be told: {', '.join(sorted(permitted))}." if permitted else "It may be told nothing."
                hint = f"{allowed} The setting LAKEHOLD_DATABASES of the installation says so."
                raise InvalidInputError(f"The database's driver may not be told {quote(name)}.", hint, field=where)
            _add_property(found, spelled[name.lower()], value, where)
    return found


def parse_allowed(text: str) -> tuple[AllowedDatabase, ...]:
    """Return the databases that LAKEHOLD_DATABASES names, or refuse what names none exactly."""
    return tuple(_parse_entry(entry.strip()) for entry in re.split(r",\s*(?=jdbc:)", text.strip()) if entry.strip())


def _parse_entry(entry: str) -> AllowedDatabase:
    place, _, options = entry.partition("?")
    product = place.removeprefix("jdbc:").partition(":")[0]
    if product in _IN_PROCESS:
        raise _entry_error(entry, "is an engine that can run inside the worker", "Use a database that is a server")
    example = f"jdbc:{product or 'mysql'}://db.shop.internal:{_PORTS.get(product, 3306)}"
    if product == SQLITE:
        example = "jdbc:sqlite:/srv/shop.sqlite"
    exact = f"Write {example}, one entry for each; a beginning of an address is no longer enough."
    try:
        address = parse_address(place)
    except InvalidInputError:
        raise _entry_error(entry, "names no database exactly", exact) from None
    named = len(address.hosts) == 1 and re.search(r":\d+(?=[/;:]|$)", place.removeprefix(f"jdbc:{product}:"))
    if product != SQLITE and not named:
        raise _entry_error(entry, "names no host with its port", exact)
    chosen = _parse_properties(options.replace(";", "&"), "&")
    driver = chosen.pop("driver", "") or DRIVER_CLASSES.get(product, "")
    if not re.fullmatch(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+", driver):
        raise _entry_error(entry, "has no driver class", f"Write {place}?driver=com.example.Driver.")
    if _READERS in chosen and not chosen[_READERS]:
        raise _entry_error(entry, "names no user who can only read", f"Write {place}?{_READERS}=reporting.")
    readers = frozenset(chosen.pop(_READERS, "").split(",")) - {""}
    forced = {name.lower() for name in forced_properties(product)}
    if refused := [name for name in chosen if name.lower() in _RESERVED | forced]:
        raise _entry_error(entry, f"cannot permit {', '.join(refused)}", "Leave it out: the platform sets it.")
    return AllowedDatabase(
        address,
        driver,
        frozenset(name for name, value in chosen.items() if not value),
        {name: value for name, value in chosen.items() if value},
        readers,
    )


def _entry_error(entry: str, what: str, hint: str) -> ValueError:
    return ValueError(f"{quote(entry)} {what}. {hint.rstrip('.')}")
