"""Starts the JVM of Spark before anything of Spark is imported: each takes its second, and so they take it together.

Spark's own way starts one JVM only to work out how to start another, and its Python waits for both. The command here is
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
from lakehold.pipeline.spark import archive, homes, jars

JAVA, ALLOW = "spark.driver.extraJavaOptions", "-Djava.security.manager=allow"
"""How the JVM is started, and what it has to be told in any case."""

_CLASSES, _MEMORY = "spark.driver.extraClassPath", "spark.driver.memory"
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
"""What every JVM of Spark is told of the modules of Java."""
_PATIENT = (
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=20000",
    "-XX:Tier4CompileThreshold=500000",
    "-XX:Tier4BackEdgeThreshold=200000",
)
"""To compile for good only what is asked very often: at a start nothing is yet, and the second compiler takes a core
from all the rest. Rows by the million are often enough soon.
"""

_PATIENCE, _PAUSE = 60.0, 0.01
_PARTS = "16"
_PORT, _SECRET, _TOLD = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "_PYSPARK_DRIVER_CONN_INFO_PATH"


@dataclass(frozen=True, slots=True)
class Launched:
    """A JVM that is on its way."""

    process: Popen[bytes]
    folder: Path
    told: Mapping[str, str]
    """What it was started with."""

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Let Spark's Python find it, once it answers."""
        port, secret = self._answer()
        os.environ |= {_PORT: port, _SECRET: secret}
        try:
            yield
        finally:
            del os.environ[_PORT], os.environ[_SECRET]

    def _answer(self) -> tuple[str, str]:
        file, end = self.folder / "answer", monotonic() + _PATIENCE
        while not file.exists():
            if self.process.poll() is not None or monotonic() > end:
                self.process.kill()
                raise UnavailableError("The JVM of Spark has not started.", "Its own words are above, in the log.")
            sleep(_PAUSE)
        answer = file.read_bytes()
        shutil.rmtree(self.folder)
        ((port,), (length,)) = struct.unpack(">i", answer[:4]), struct.unpack(">i", answer[4:8])
        return str(port), answer[8 : 8 + length].decode()


def launch(master: str, settings: Mapping[str, str], drivers: str = "") -> Launched:
    """Start it, with the jars of a folder beside its own."""
    told = {**_java(master, drivers), **settings}
    folder = Path(mkdtemp())
    home = homes.spark()
    # Texts have the same hashes in each Python that Spark starts; and there are no clients on other machines.
    around = {"SPARK_HOME": str(home), "PYTHONHASHSEED": "0", "SPARK_CONNECT_MODE": "0", _TOLD: str(folder / "answer")}
    process = Popen(  # noqa: S603 - our own command
        command(told),
        stdin=PIPE,
        env={**os.environ, **around},
        preexec_fn=_deaf,  # noqa: PLW1509 - as Spark itself does
    )
    return Launched(process, folder, told)


def command(told: Mapping[str, str]) -> list[str]:
    """How a JVM with these settings is started."""
    home = homes.spark()
    own = sorted((home / "jars").glob("*.jar"), key=lambda file: (not file.name.startswith("slf4j-api-"), file.name))
    classes = [told.get(_CLASSES, ""), str(home / "conf"), *map(str, own)]
    settings = [part for name, value in told.items() for part in ("--conf", f"{name}={value}")]
    return [
        str(homes.java()),
        "-cp",
        os.pathsep.join(filter(None, classes)),
        f"-Xmx{told.get(_MEMORY, '1g')}",
        *told.get(JAVA, "").split(),
        *_PATIENT,
        *MODULES,
        _MAIN,
        *settings,
        _SHELL,
    ]


def _java(master: str, drivers: str) -> dict[str, str]:
    """With which classes the JVM starts. On this machine it finds its own by itself; others are sent them."""
    own, added = jars.files(), sorted(Path(drivers).glob("*.jar")) if drivers else []
    told = {JAVA: f"{ALLOW} {archive.options(archive.kept(own))}"}
    if master.startswith("local"):
        told[_CLASSES] = archive.class_path(own)
        # Few cores have little use for many small parts; on a small table their number is all that takes time.
        told["spark.sql.shuffle.partitions"] = _PARTS
        own = []
    return {**told, "spark.jars": ",".join(map(str, (*own, *added)))}


def _deaf() -> None:
    """Ctrl-C is for the worker, which ends the JVM when it is ready to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
