"""The Spark session of a worker process: started when it is first needed, and kept.

Every user session inherits its configuration, so that holds no catalog and nothing of the platform's database. The
platform's own session gets its catalog at run time.
"""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from subprocess import Popen, TimeoutExpired
from threading import Lock, Thread

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from lakehold.lake.spark import runtime
from lakehold.lake.spark.jvm import jvm_of
from lakehold.lake.spark.runtime import JvmProcess, SparkOptions

_lock = Lock()
_started: list[SparkSession] = []
_processes: list[Popen[bytes]] = []
_on_lost: list[Callable[[], object]] = []

_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # A large query of one user does not block a small one of another.
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

_JAVA_FUNCTIONS = ("reflect", "java_method", "try_reflect")
# These log the whole text of a failed query, with all literals in it.
_QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# And these log errors with the values in them. Users get the error itself, and runs have logs of their own.
_VALUE_LOGGERS = ("org.apache.spark.executor.Executor", "org.apache.spark.scheduler.TaskSetManager")


def get_spark_session(options: SparkOptions, launched: JvmProcess | None = None) -> SparkSession:
    """Return the one Spark session of this process, whose JVM may be starting already."""
    with _lock:
        if not _started:
            # Python beside Spark is this one, with what is installed here.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            for name in _QUERY_LOGGERS:
                PySparkLogger.getLogger(name).disabled = True
            java = launched or runtime.launch(options)
            builder = SparkSession.builder.appName("lakehold").master(options.master)
            for name, value in {**_CONF, **java.conf, **options.secrets()}.items():
                builder = builder.config(name, value)
            # Spark's Python asks for it when it first hands something to the JVM, which is not there yet.
            Thread(target=import_module, args=("pyspark.testing.utils",), daemon=True, name="pandas").start()
            with java.connection_env():
                _started.append(builder.getOrCreate())
            _drop_java_functions(_started[0])
            _processes.append(java.process)
            _survive_out_of_memory(_started[0], java.process)
        return _started[0]


def _drop_java_functions(spark: SparkSession) -> None:
    """Remove the functions that call Java from SQL, for all sessions of this process."""
    known = jvm_of(spark).org.apache.spark.sql.catalyst
    for name in _JAVA_FUNCTIONS:
        known.analysis.FunctionRegistry.builtin().dropFunction(known.FunctionIdentifier(name))


def _survive_out_of_memory(spark: SparkSession, process: Popen[bytes]) -> None:
    """Let a query that exhausts the memory fail without affecting others.

    Where a task or an analysis runs out of memory, the error goes to its caller. If it hits a thread of Spark's own,
    which would be missing from then on, the JVM exits; and with it this process, for its supervisor to start another
    one.
    """
    jvm = jvm_of(spark)
    ends = jvm.org.apache.hadoop.yarn.YarnUncaughtExceptionHandler()
    jvm.java.lang.Thread.setDefaultUncaughtExceptionHandler(ends)
    for name in _VALUE_LOGGERS:
        jvm.org.apache.logging.log4j.core.config.Configurator.setLevel(name, jvm.org.apache.logging.log4j.Level.OFF)
    Thread(target=_exit_with, args=(process,), daemon=True, name="spark").start()


def _exit_with(process: Popen[bytes]) -> None:
    process.wait()
    if _started:
        logging.getLogger("lakehold.spark").critical("Spark has ended, and so does this process")
        try:
            for call in _on_lost:
                call()
        finally:
            os._exit(os.EX_SOFTWARE)


def on_lost(call: Callable[[], object]) -> None:
    """Call this when Spark has ended by itself, before this process exits. It must not take long."""
    _on_lost.append(call)


def is_lost(wait: float) -> bool:
    """Return whether the JVM has ended or does so within so many seconds; this process exits then."""
    for process in _processes if _started else ():
        with suppress(TimeoutExpired):
            process.wait(wait)
            return True
    return False


def kill() -> bool:
    """Kill the JVM, after which this process exits; return whether there was one."""
    for process in _processes:
        process.kill()
    return bool(_processes)


def stop(*, at_once: bool = False) -> None:
    """Stop Spark, if it was started; or kill it."""
    with _lock:
        if at_once:
            _started.clear()
            kill()
        _processes.clear()
        while _started:
            _started.pop().stop()
