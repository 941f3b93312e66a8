"""The Spark of a worker: started when the first work needs it, and kept warm.

What stands in its configuration is inherited by every session of every person, so nothing stands there that one of
them could use: no catalog, no credential. The platform's own session is told of its catalog at run time.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from subprocess import Popen
from threading import Lock, Thread

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from lakehold.pipeline.spark import launching
from lakehold.pipeline.spark.jvm import jvm_of
from lakehold.pipeline.spark.launching import Launched

_lock = Lock()
_started: list[SparkSession] = []

_ALWAYS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # One person's large query and another's small one take turns.
    "spark.scheduler.mode": "FAIR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    # A path is no table, and a text in a query stays what it is.
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.legacy.createHiveTableByDefault": "false",
    # Rows go between Python and the JVM as Arrow.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.faulthandler.enabled": "true",
    # A query that wants more memory than there is fails, and it alone; see `_outlive`.
    "spark.executor.killOnFatalError.depth": "0",
    # Nothing of a table comes to the driver but the rows of a query and the small side of a join.
    "spark.driver.maxResultSize": "256m",
}

_JAVA = ("reflect", "java_method", "try_reflect")
# Of each error these write down the whole text of the query, with all that somebody typed into it.
_CHATTY = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# And these the error with the value that it is about; the asker is told, and the platform's own runs log theirs.
_REPEATING = ("org.apache.spark.executor.Executor", "org.apache.spark.scheduler.TaskSetManager")


def session(
    master: str, settings: Mapping[str, str] | None = None, drivers: str = "", launched: Launched | None = None
) -> SparkSession:
    """The one Spark of this process, with nothing in its session that concerns anybody, and with the jars of a folder
    beside its own. Its JVM may be on its way already.
    """
    with _lock:
        if not _started:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            # Python beside Spark is this one, with what is installed here.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            for name in _CHATTY:
                PySparkLogger.getLogger(name).disabled = True
            java = launched or launching.launch(master, settings or {}, drivers)
            builder = SparkSession.builder.appName("lakehold").master(master)
            for name, value in {**_ALWAYS, **java.told, **(settings or {})}.items():
                builder = builder.config(name, value)
            # Spark's Python asks for it when it first hands something to the JVM, which is not there yet.
            Thread(target=import_module, args=("pyspark.testing.utils",), daemon=True, name="pandas").start()
            with java.reached():
                _started.append(builder.getOrCreate())
            _forget_java(_started[0])
            _outlive(_started[0], java.process)
        return _started[0]


def _forget_java(spark: SparkSession) -> None:
    """Take the functions that call Java out of SQL, for everybody: no session of this process will know them."""
    known = jvm_of(spark).org.apache.spark.sql.catalyst
    for name in _JAVA:
        known.analysis.FunctionRegistry.builtin().dropFunction(known.FunctionIdentifier(name))


def _outlive(spark: SparkSession, process: Popen[bytes]) -> None:
    """Let a query that takes all memory end, and the others go on.

    Where a task or an analysis runs out of memory, the error is its asker's. If it hits a thread of Spark's own, which
    would be missing from then on, the JVM ends; and without it this process, for its supervisor to start another one.
    """
    jvm = jvm_of(spark)
    ends = jvm.org.apache.hadoop.yarn.YarnUncaughtExceptionHandler()
    jvm.java.lang.Thread.setDefaultUncaughtExceptionHandler(ends)
    for name in _REPEATING:
        jvm.org.apache.logging.log4j.core.config.Configurator.setLevel(name, jvm.org.apache.logging.log4j.Level.OFF)
    Thread(target=_end_with, args=(process,), daemon=True, name="spark").start()


def _end_with(process: Popen[bytes]) -> None:
    process.wait()
    if _started:
        logging.getLogger("lakehold.spark").critical("Spark has ended, and so does this process")
        os._exit(os.EX_SOFTWARE)


def stop() -> None:
    """End it, if it was ever started."""
    with _lock:
        while _started:
            _started.pop().stop()
