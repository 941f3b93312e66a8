"""Spark's runtime on this machine: where Spark, Java, the extra jars and the class data archive are; and its JVM, which
is started before PySpark is imported, so that both start at the same time.

Spark's own way starts one JVM only to find out how to start another, and its Python waits for both. The command here is
the one that its launcher would give.

Jars are resolved once, verified by checksum and cached for the user, so that a later start needs no network. The class
data archive (AppCDS) halves the start-up time; it is built in a process of its own. A JVM that it does not fit, of
another version or with other jars, ignores it.
"""

import hashlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path
from subprocess import PIPE, Popen
from time import monotonic, sleep
from urllib.parse import urlsplit

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.settings import Settings
from lakehold.lake.spark import scratch


@cache
def spark_home() -> Path:
    """Return the folder of the Spark distribution that PySpark brings."""
    return Path(str(distribution("pyspark").locate_file("pyspark")))


def java_program() -> Path:
    """Return the path of the `java` program."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home) / "bin" / "java" if home else shutil.which("java")
    if not found:
        raise UnavailableError("There is no Java on this machine.", "Install Java 17, or set JAVA_HOME.")
    return Path(found).resolve()


_FETCH_TIMEOUT = 300
_PROGRAMS = "lakehold.lake.spark.setup_programs"


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar of one version, with its checksum."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """Maven coordinate of the jar."""
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        """File name of the jar in the cache."""
        return f"{self.name}-{self.version}.jar"


JARS = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar("org.xerial", "sqlite-jdbc", "3.50.3.0", "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08"),
    Jar("org.postgresql", "postgresql", "42.7.8", "2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7"),
)


def jar_folder() -> Path:
    """Return the user's cache folder for jars."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lakehold" / "jars"


def resolve_jars() -> list[Path]:
    """Return the paths of the jars, fetching those that are missing or have a wrong checksum."""
    place = jar_folder()
    missing = [jar for jar in JARS if not _has_checksum(place / jar.file, jar)]
    if missing:
        place.mkdir(parents=True, exist_ok=True)
        _fetch(missing, place)
    return [place / jar.file for jar in JARS]


def _has_checksum(file: Path, jar: Jar) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == jar.sha256


def _fetch(jars: list[Jar], place: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: Spark resolves while it starts, and starts once in a process.
        command = [sys.executable, "-m", _PROGRAMS, "jars", folder, *(jar.coordinate for jar in jars)]
        done = subprocess.run(  # noqa: S603 - our own module, with coordinates from above
            command, capture_output=True, text=True, timeout=_FETCH_TIMEOUT, check=False
        )
        found = Path(folder) / "jars"
        for jar in jars:
            fetched = found / f"{jar.group}_{jar.file}"
            if not fetched.is_file():
                lines = (line for line in reversed(done.stderr.splitlines()) if line[:1].strip())
                last_line = next(lines, "")
                message = f"Spark could not fetch {jar.coordinate}: {last_line or 'no output'}."
                hint = f"Give this machine access to Maven Central, or put {jar.file} into {place}."
                raise UnavailableError(message, hint)
            if not _has_checksum(fetched, jar):
                message = f"{jar.coordinate} has another checksum than it should have; it is not used."
                raise UnavailableError(message, "Find out who changed it before you go on.")
            # Under another name first: somebody who starts at the same time sees all of it or nothing.
            partial = place / f"{jar.file}.{os.getpid()}"
            # A copy, as what the JVM writes can be read by its user alone.
            shutil.copyfile(fetched, partial)
            partial.replace(place / jar.file)


_ARCHIVE_TIMEOUT = 300
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""Options that keep a JVM from logging about its archive."""


def archive_file(files: Sequence[Path]) -> Path:
    """Return the path of the class data archive for these jars, whether or not it exists."""
    parts = [version("pyspark"), str(spark_home()), str(java_program()), *map(str, files)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return jar_folder().parent / "archives" / f"{key}.jsa"


def build_archive() -> bool:
    """Build the archive unless it exists; return whether it was built."""
    file = archive_file(resolve_jars())
    if file.exists():
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}")
    try:
        # Others go first: nobody waits for this.
        command = ["nice", "-n", "19", sys.executable, "-m", _PROGRAMS, "archive", str(partial)]
        subprocess.run(command, check=True, capture_output=True, timeout=_ARCHIVE_TIMEOUT)  # noqa: S603 - our own module
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return True


JAVA_OPTIONS, ALLOW_SECURITY_MANAGER = "spark.driver.extraJavaOptions", "-Djava.security.manager=allow"
"""The setting with the JVM's options, and the option that every JVM needs."""

_CLASS_PATH, _MEMORY = "spark.driver.extraClassPath", "spark.driver.memory"
_MAIN, _SHELL = "org.apache.spark.deploy.SparkSubmit", "pyspark-shell"
_OPENED = ("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent")
_INNER = ("java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action")
MODULES = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED),
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in (*_INNER, "sun.util.calendar")),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
"""The options for Java's modules that every JVM of Spark needs."""
_COMPILER_OPTIONS = (
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=20000",
    "-XX:Tier4CompileThreshold=500000",
    "-XX:Tier4BackEdgeThreshold=200000",
)
"""To optimise only very hot code: at a start nothing is hot yet, and the second compiler takes a core
from all the rest. Rows by the million are often enough soon.
"""

_TIMEOUT, _PAUSE = 60.0, 0.01
_SHUFFLE_PARTITIONS = "16"
_PORT, _SECRET, _CONNECTION_FILE = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "_PYSPARK_DRIVER_CONN_INFO_PATH"


LOOPBACK = "127.0.0.1"
_CLUSTER = "spark://"
_SECRET_CONF = "spark.authenticate.secret"  # noqa: S105 - the name of a setting
_SCRATCH_CONF = "spark.local.dir"
_KEPT_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_", "TZ", "LD_LIBRARY_PATH"),
    *("JAVA_", "JDK_", "PYTHON", "VIRTUAL_ENV"),
    *("SPARK_", "PYSPARK_", "KRB5"),
)
"""How the variables begin that Java and Spark are configured by. The JVM gets no others but those of its cluster and
object store: the key of the platform and the password of its database are among them.
"""
_CLUSTER_VARIABLES = ("HADOOP_", "YARN_", "KUBE")
_STORE_VARIABLES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "AWS_"),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), "AZURE_"),
    "gs": "GOOGLE_",
}
_SECRET_VARIABLES = {
    "AWS_ACCESS_KEY_ID": "spark.hadoop.fs.s3a.access.key",
    "AWS_SECRET_ACCESS_KEY": "spark.hadoop.fs.s3a.secret.key",
    "AWS_SESSION_TOKEN": "spark.hadoop.fs.s3a.session.token",
    "AZURE_CLIENT_SECRET": "spark.hadoop.fs.azure.account.oauth2.client.secret",
}
"""The settings by which the JVM is given secrets of an object store, instead of in its environment."""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """The options that Spark is started with."""

    master: str
    conf: Mapping[str, str] = field(default_factory=dict)
    drivers: str = ""
    """The folder with further JDBC drivers."""
    address: str = LOOPBACK
    """Where the JVM listens. Executors on other machines must reach it there."""
    secret: str = ""
    """The shared secret of a standalone cluster's processes. Elsewhere Spark makes one for each start."""
    scratch_parent: Path | None = None
    """Where the folder for shuffled rows and other temporary files is made."""
    warehouse: str = ""
    """Where the tables are: a folder or a URI."""

    @classmethod
    def from_settings(cls, settings: Settings) -> "SparkOptions":
        """Return the options that the platform's settings name."""
        secret = settings.spark_secret.get_secret_value()
        if settings.spark.startswith(_CLUSTER) and not secret:
            raise InvalidInputError(
                "A standalone Spark cluster needs a secret, without which anybody could read its rows.",
                "Set LAKEHOLD_SPARK_SECRET to the value of spark.authenticate.secret of the cluster.",
            )
        return cls(
            settings.spark,
            {"spark.driver.memory": settings.spark_memory},
            settings.drivers,
            settings.spark_address,
            secret,
            settings.data.absolute() / "scratch",
            settings.warehouse_url,
        )

    def variables(self) -> dict[str, str]:
        """Return the environment variables by which Java, Spark, the cluster and the object store are configured."""
        store, kept = urlsplit(self.warehouse).scheme, list(_KEPT_VARIABLES)
        if store not in {"", "file"} or not self.master.startswith("local"):
            kept += _CLUSTER_VARIABLES
        if store in _STORE_VARIABLES:
            kept.append(_STORE_VARIABLES[store])
        return {name: value for name, value in os.environ.items() if name.startswith(tuple(kept))}

    def secrets(self) -> dict[str, str]:
        """Return the settings that must not be on a command line, which every user of the machine can read."""
        found = self.variables()
        given = {conf: found.get(name, "") for name, conf in _SECRET_VARIABLES.items()}
        return {name: value for name, value in {_SECRET_CONF: self.secret, **given}.items() if value}


@dataclass(frozen=True, slots=True)
class JvmProcess:
    """A JVM that is starting."""

    process: Popen[bytes]
    folder: Path
    conf: Mapping[str, str]
    """The settings that it was started with."""

    @contextmanager
    def connection_env(self) -> Iterator[None]:
        """Set the environment variables by which PySpark finds the JVM, once it answers."""
        port, secret = self._wait_for_port()
        os.environ |= {_PORT: port, _SECRET: secret}
        try:
            yield
        finally:
            del os.environ[_PORT], os.environ[_SECRET]

    def _wait_for_port(self) -> tuple[str, str]:
        file, end = self.folder / "answer", monotonic() + _TIMEOUT
        while not file.exists():
            if self.process.poll() is not None or monotonic() > end:
                self.process.kill()
                raise UnavailableError("The JVM of Spark did not start.", "See its output above, in the log.")
            sleep(_PAUSE)
        answer = file.read_bytes()
        shutil.rmtree(self.folder)
        port, length = struct.unpack(">ii", answer[:8])
        return str(port), answer[8 : 8 + length].decode()


def launch(options: SparkOptions) -> JvmProcess:
    """Start the JVM, with the jars of the platform and of a driver folder besides Spark's own."""
    return launch_bare(replace(options, conf={**_java_conf(options.master, options.drivers), **options.conf}))


def launch_bare(options: SparkOptions) -> JvmProcess:
    """Start the JVM with Spark's own jars alone."""
    place = scratch.make_scratch_folder(options.scratch_parent or scratch.default_parent())
    conf = {
        # Ports require a secret, and files lie in a private folder.
        "spark.driver.bindAddress": options.address,
        "spark.driver.host": options.address,
        "spark.authenticate": "true",
        _SCRATCH_CONF: str(place),
        **options.conf,
    }
    folder = Path(tempfile.mkdtemp(dir=place))
    process = Popen(  # noqa: S603 - our own command
        launch_command(conf),
        stdin=PIPE,
        env={**_jvm_environment(options, place), _CONNECTION_FILE: str(folder / "answer")},
        preexec_fn=_ignore_interrupt,  # noqa: PLW1509 - as Spark itself does
        umask=0o077,
    )
    return JvmProcess(process, folder, conf)


def _jvm_environment(options: SparkOptions, place: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in options.variables().items() if name not in _SECRET_VARIABLES},
        "SPARK_HOME": str(spark_home()),
        # It goes before Spark's own settings of where to listen and where to put files.
        "SPARK_LOCAL_IP": options.address,
        "SPARK_LOCAL_DIRS": str(place),
        "TMPDIR": str(place),
        # Texts have the same hashes in each Python that Spark starts; and there are no clients on other machines.
        "PYTHONHASHSEED": "0",
        "SPARK_CONNECT_MODE": "0",
    }


def launch_command(conf: Mapping[str, str]) -> list[str]:
    """Return the command that starts a JVM with these settings."""
    home = spark_home()
    own = sorted((home / "jars").glob("*.jar"), key=lambda file: (not file.name.startswith("slf4j-api-"), file.name))
    classes = [conf.get(_CLASS_PATH, ""), str(home / "conf"), *map(str, own)]
    settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    return [
        str(java_program()),
        "-cp",
        os.pathsep.join(filter(None, classes)),
        f"-Xmx{conf.get(_MEMORY, '1g')}",
        # Libraries unpack native code there, and a JVM that is watched leaves a file for whoever watches.
        f"-Djava.io.tmpdir={conf.get(_SCRATCH_CONF, tempfile.gettempdir())}",
        "-XX:-UsePerfData",
        *conf.get(JAVA_OPTIONS, "").split(),
        *_COMPILER_OPTIONS,
        *MODULES,
        _MAIN,
        *settings,
        _SHELL,
    ]


def _java_conf(master: str, drivers: str) -> dict[str, str]:
    """Return the class path and jars of the JVM: a local one finds them on disk, a cluster is sent them."""
    own, added = resolve_jars(), sorted(Path(drivers).glob("*.jar")) if drivers else []
    # The JVM ignores an archive that does not exist.
    archive = f"-XX:SharedArchiveFile={archive_file(own)} {QUIET}"
    conf = {JAVA_OPTIONS: f"{ALLOW_SECURITY_MANAGER} {archive}"}
    if master.startswith("local"):
        # Only classes found through it get into an archive.
        conf[_CLASS_PATH] = os.pathsep.join(map(str, own))
        # Few cores have little use for many small parts; on a small table their number is all that takes time.
        conf["spark.sql.shuffle.partitions"] = _SHUFFLE_PARTITIONS
        own = []
    return {**conf, "spark.jars": ",".join(map(str, (*own, *added)))}


def _ignore_interrupt() -> None:
    """Ignore Ctrl-C, which is for the worker: it ends the JVM when it is ready to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
