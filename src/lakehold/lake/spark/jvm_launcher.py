"""Starts Spark's JVM before PySpark is imported, so that both start at the same time.

Spark's own way starts one JVM only to find out how to start another, and its Python waits for both. The command here is
the one that its launcher would give.
"""

from __future__ import annotations

import os
import shutil
import signal
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import mkdtemp
from time import monotonic, sleep

from lakehold.kit.errors import UnavailableError
from lakehold.lake.spark import runtime

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


@dataclass(frozen=True, slots=True)
class JvmProcess:
    """A JVM that is starting."""

    process: Popen[bytes]
    folder: Path
    conf: Mapping[str, str]
    """What it was started with."""

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
                raise UnavailableError("The JVM of Spark has not started.", "Its own words are above, in the log.")
            sleep(_PAUSE)
        answer = file.read_bytes()
        shutil.rmtree(self.folder)
        ((port,), (length,)) = struct.unpack(">i", answer[:4]), struct.unpack(">i", answer[4:8])
        return str(port), answer[8 : 8 + length].decode()


def launch(master: str, settings: Mapping[str, str], drivers: str = "") -> JvmProcess:
    """Start the JVM, with the jars of a driver folder besides Spark's own."""
    conf = {**_java_conf(master, drivers), **settings}
    folder = Path(mkdtemp())
    home = runtime.spark_home()
    # Texts have the same hashes in each Python that Spark starts; and there are no clients on other machines.
    around = {
        "SPARK_HOME": str(home),
        "PYTHONHASHSEED": "0",
        "SPARK_CONNECT_MODE": "0",
        _CONNECTION_FILE: str(folder / "answer"),
    }
    process = Popen(  # noqa: S603 - our own command
        launch_command(conf),
        stdin=PIPE,
        env={**os.environ, **around},
        preexec_fn=_ignore_interrupt,  # noqa: PLW1509 - as Spark itself does
    )
    return JvmProcess(process, folder, conf)


def launch_command(conf: Mapping[str, str]) -> list[str]:
    """Return the command that starts a JVM with these settings."""
    home = runtime.spark_home()
    own = sorted((home / "jars").glob("*.jar"), key=lambda file: (not file.name.startswith("slf4j-api-"), file.name))
    classes = [conf.get(_CLASS_PATH, ""), str(home / "conf"), *map(str, own)]
    settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    return [
        str(runtime.java_program()),
        "-cp",
        os.pathsep.join(filter(None, classes)),
        f"-Xmx{conf.get(_MEMORY, '1g')}",
        *conf.get(JAVA_OPTIONS, "").split(),
        *_COMPILER_OPTIONS,
        *MODULES,
        _MAIN,
        *settings,
        _SHELL,
    ]


def _java_conf(master: str, drivers: str) -> dict[str, str]:
    """Return the class path and jars of the JVM: a local one finds them on disk, a cluster is sent them."""
    own, added = runtime.resolve_jars(), sorted(Path(drivers).glob("*.jar")) if drivers else []
    # The JVM ignores an archive that does not exist.
    archive = f"-XX:SharedArchiveFile={runtime.archive_file(own)} {runtime.QUIET}"
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
