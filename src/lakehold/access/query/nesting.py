"""How deeply a statement may be nested: SQLite's parser has a small stack, and refuses what needs more."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

from lakehold.access.query.sets import UNLIMITED

_LONGEST = 400_000


def shallow(dialect: str, write: Callable[[int], str]) -> str:
    """The statement, with as many of its parts set apart as it takes for the database to read it. `write` is told
    after how many subqueries inside each other the next one is set apart.
    """
    text = write(UNLIMITED)
    for deepest in (4, 3, 2, 1):
        if len(text) <= _LONGEST and not (dialect == "sqlite" and is_too_deep(text)):
            break
        text = write(deepest)
    return text


def is_too_deep(text: str) -> bool:
    """Whether SQLite's parser gives up. It does so before it looks for the tables, so none have to be there."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(text)
        except sqlite3.Error as error:
            return "parser stack overflow" in str(error)
    return False
