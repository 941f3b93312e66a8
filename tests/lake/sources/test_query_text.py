"""A query in parentheses stays in them, however it is written."""

from __future__ import annotations

from time import monotonic

import pytest

from lakehold.connectors.database.source import parenthesize
from lakehold.kit.errors import InvalidInputError

WHOLE = [
    ("postgresql", "SELECT ')', '(', '''(' FROM t -- it's ( here\nWHERE a = '(' /* ) ' */"),
    ("postgresql", "SELECT $$ ) ' $$, $a$ ( $$ ' $a$, E'it\\'s )', \"a)b\"\"(\" FROM t"),
    ("postgresql", "SELECT ARRAY[1, (2)][1], data #> '{a,b}', 'a\\b' FROM t;\n"),
    ("mysql", "SELECT `a b`, 5--3 # it's (\nFROM t -- )"),
    ("sqlserver", "SELECT [a)']]b] FROM [t(]"),
    ("sqlite", "SELECT 1 -- the last line is a comment ("),
    ("oracle", "SELECT 'it''s' FROM dual"),
    ("trino", 'SELECT a[1], "b)" FROM t'),
]
HOSTILE = [
    ("postgresql", "SELECT 1) x UNION SELECT (2"),
    ("postgresql", "SELECT 1) x --"),
    ("postgresql", "SELECT 1) x /*"),
    ("postgresql", "SELECT (1"),
    ("postgresql", "SELECT [1)"),
    ("postgresql", "SELECT 'a\\' ) x, ' '"),
    ("postgresql", "SELECT E'a' ) x, E'\\'"),
    ("postgresql", "SELECT aE'\\' ) x, ' '"),
    ("postgresql", "SELECT $a$ ( $b$ ) x"),
    ("postgresql", "SELECT $€$ ( $€$ ) x"),
    ("postgresql", "SELECT €$$ ) x, (€$$"),
    ("postgresql", "SELECT 1$$ ( $$ ) x"),
    ("postgresql", "SELECT /* /* */ ( */ ) x"),
    ("postgresql", "SELECT 1 ` ) x ( `"),
    ("postgresql", "SELECT -- \r ' \n ) x, ' ("),
    ("postgresql", "SELECT 'never ends"),
    ("postgresql", 'SELECT "never ends'),
    ("postgresql", "SELECT 1; DROP TABLE t"),
    ("postgresql", "SELECT 1 \x00 )"),
    ("mysql", "SELECT 'a\\' ) x INTO OUTFILE '/x' -- '"),
    ("mysql", "SELECT 1 /*! ) x INTO OUTFILE '/x' */"),
    ("mysql", "SELECT 1 /*M! ) x */"),
    ("mysql", "SELECT 1 --\u00a0) x\n("),
    ("mysql", "SELECT 1 --\x01 (\n) x"),
    ("mysql", "SELECT 1 # ( \n ) x"),
    ("mysql", "SELECT ` ) x, ( `"),
    ("sqlserver", "SELECT [x'] ) y, ['z] FROM t"),
    ("oracle", "SELECT q'!'!' ) y, q'!'!' FROM t"),
    ("trino", "SELECT [x'] ) y, ['z] FROM t"),
    ("trino", "SELECT q'!'!' ) y, q'!'!' FROM t"),
    ("trino", "SELECT 1 # ( \n ) x"),
]


@pytest.mark.parametrize(("product", "text"), WHOLE)
def test_a_whole_query_is_put_in_parentheses_as_it_is(product: str, text: str) -> None:
    assert parenthesize(text, product) == f"({text.strip().rstrip(';')}\n)"


@pytest.mark.parametrize(("product", "text"), HOSTILE)
def test_a_query_that_would_leave_them_is_refused(product: str, text: str) -> None:
    with pytest.raises(InvalidInputError, match="query"):
        parenthesize(text, product)


@pytest.mark.parametrize("piece", ["'", "$a$ $", "/*", "(", "`", "\\'", "[", "E'\\", "--", "$$ "])
def test_a_long_hostile_text_takes_no_time(piece: str) -> None:
    for product in ("postgresql", "mysql", "sqlserver", "trino"):
        begun = monotonic()
        with pytest.raises(InvalidInputError):
            parenthesize("SELECT (" + piece * (99_000 // len(piece)), product)
        assert monotonic() - begun < 5
