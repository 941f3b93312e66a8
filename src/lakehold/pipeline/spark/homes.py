"""Where Spark and Java are, found without importing anything of Spark."""

from __future__ import annotations

import os
import shutil
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from lakehold.kit.errors import UnavailableError


@cache
def spark() -> Path:
    """The folder that PySpark brings Spark in."""
    found = find_spec("pyspark")
    assert found is not None  # noqa: S101 - a dependency
    assert found.origin is not None  # noqa: S101 - and no namespace
    return Path(found.origin).parent


@cache
def spark_version() -> str:
    """Which Spark it is."""
    return version("pyspark")


def java() -> Path:
    """The program."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home) / "bin" / "java" if home else shutil.which("java")
    if not found:
        raise UnavailableError("There is no Java on this machine.", "Install Java 17, or set JAVA_HOME.")
    return Path(found).resolve()
