"""What Java said: the exceptions behind one that has come to Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

_DEEPEST = 20


def chain(error: BaseException) -> Iterator[Any]:
    """The exceptions of Java behind it, the outermost first."""
    here: Any = None
    if isinstance(error, Py4JJavaError):
        here = error.java_exception
    elif isinstance(error, CapturedException):
        here = error._origin  # noqa: SLF001 - only there is what Java said
    for _ in range(_DEEPEST):
        if here is None:
            return
        yield here
        here = here.getCause()


def is_sql(each: Any) -> bool:  # noqa: ANN401 - an exception of Java
    """Whether a database said it."""
    kind = each.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False
