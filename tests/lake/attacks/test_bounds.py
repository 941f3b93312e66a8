"""What a query text makes of Spark's parser and analyser is bounded before they begin, and nothing runs meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakehold.kit.errors import LakeholdError
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.lake.spark.guard import allow_list, constants, plan_size, query_errors, query_guard, text_bounds
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.jvm import active_session, class_of, java_session, jvm_of
from lakehold.lake.spark.session_pool import USER_SESSION_CONF
from tests.lake.attacks.test_lists import examples
from tests.processor_time import bounded
from tests.structure.test_patterns import hostile_texts

PARSER = "org.apache.spark.sql.catalyst.parser."
DEEP = {
    "brackets": "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "index": "SELECT " + "a[" * 200 + "1" + "]" * 200,
    "cases": "SELECT " + "CASE WHEN 1 = 1 THEN " * 200 + "1" + " END" * 200,
    "types": "SELECT CAST(NULL AS " + "array /* < */ <" * 200 + "int" + ">" * 200 + ")",
    "lambdas": "SELECT transform(array(1), " + "x -> " * 200 + "1)",
    "comments": "SELECT 1 " + "/*" * 800 + "*/" * 800,
    "open comments": "/*" * 50_000,
    "behind a text": "SELECT ')))' || '/*', r'\\' || " + "(" * 200 + "1" + ")" * 200,
    "behind a comment": "SELECT 1 -- '\n + /* ' /* ( */ */ " + "(" * 200 + "1" + ")" * 200,
    "with closed ones between": "SELECT " + "(')))' + `)` + " * 200 + "1" + ")" * 200,
    "a cube in sets": "SELECT 1 GROUP BY GROUPING SETS (cube /**/ (" + ", ".join(f"c{n}" for n in range(25)) + "))",
    "cases in cases": "SELECT " + "CASE WHEN true THEN 1 ELSE " * 60 + "1" + " END" * 60,
    "a case as a value": "SELECT CASE upper(CASE 1 WHEN 1 THEN 'a' END) WHEN 'A' THEN 1 END",
    "a long value": f"SELECT CASE {'1 + ' * 5_000}1 {'WHEN 1 THEN 1 ' * 5_000} END",
    "filters": "SELECT " + "count(*) FILTER (WHERE 1 = " * 60 + "1" + ")" * 60,
    "trims": "SELECT " + "trim(BOTH " * 60 + "'a'" + " FROM 'b')" * 60,
    "many cubes": "SELECT 1 GROUP BY " + ", ".join(["CUBE (a, b, c, d, e, f, g, h)"] * 20),
}
SHALLOW = {
    "texts": "SELECT '(((' || \"[[[\" || r'(\\' || 'it''s \\' (' FROM `a((` -- (((\n /* ((( */" * 60,
    "hints": "SELECT /*+ BROADCAST(a) */ 1 " * 150,
    "comments in a row": "SELECT 1 " + "/* one */ -- two (\n" * 500,
    "globs": "SELECT " + "'/a/*', " * 500 + "1",
    "cases in a row": "SELECT " + "CASE WHEN a < 1 THEN 1 ELSE 2 END AS b, " * 500 + "1",
    "sums of cases": "SELECT " + "CASE WHEN a > 1 THEN 1 END + " * 500 + "1",
    "comparisons": "SELECT 1 WHERE " + "a < 1 AND b > 2 AND " * 500 + "true",
    "casts": "SELECT " + "CAST(a AS map<string, array<struct<b: int>>>), " * 200 + "1",
    "lambdas": "SELECT " + "transform(a, x -> x + 1), " * 200 + "1",
    "multiplications": "SELECT 2 */* by */ 3" + " */* by */ 3" * 300,
    "else if": "SELECT " + "CASE WHEN a THEN 1 ELSE " * 10 + "1" + " END" * 10 + ", CASE a WHEN 1 THEN 2 END" * 50,
    "a value": f"SELECT CASE upper(a) {'WHEN 1 THEN CASE WHEN b THEN 2 END ' * 500} END, trim(a)",
    "one cube": "SELECT 1 GROUP BY CUBE (a, b, c, (d, e), f)",
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_too_deeply_is_refused_before_the_parser_sees_it(name: str) -> None:
    with pytest.raises(RefusedQueryError, match=r"nested|CUBE|CASE"):
        text_bounds.refuse_text(DEEP[name])


@pytest.mark.parametrize("name", SHALLOW)
def test_what_is_long_and_flat_is_not(name: str) -> None:
    text_bounds.refuse_text(SHALLOW[name])


def test_the_text_is_read_in_linear_time() -> None:
    parts = ("'", "\\'", "''", '"', "`", "r'", "/*", "*/", "--", "\n", "(", ")", "case ", "end ", "cube ", "cube(", "a")
    for text in hostile_texts(200_000, parts):
        with bounded(text[:20]), suppress(RefusedQueryError):
            text_bounds.refuse_text(text)


def test_brackets_are_counted_as_spark_reads_them(spark: SparkSession) -> None:
    for text in (*SHALLOW.values(), DEEP["behind a text"], DEEP["with closed ones between"]):
        assert own_depth(text) == spark_depth(spark, text), text[:80]


def own_depth(text: str) -> int:
    """How deep the brackets are for us."""
    found = (each["sign"] for each in tokens_of(text) if each["sign"])
    return deepest("".join(sign for sign in found if sign in "()[]"))


def tokens_of(text: str) -> Iterator[dict[str, str]]:
    at = 0
    while found := text_bounds._TOKEN.search(text, at):
        at = text_bounds._end_of_comment(text, found.end()) if found["comment"] else found.end()
        yield found.groupdict()


def spark_depth(spark: SparkSession, text: str) -> int:
    """How deep they are for Spark's own lexer."""
    jvm = jvm_of(spark)
    stream = class_of(jvm, PARSER + "UpperCaseCharStream")(jvm.org.antlr.v4.runtime.CharStreams.fromString(text))
    tokens = jvm.org.antlr.v4.runtime.CommonTokenStream(class_of(jvm, PARSER + "SqlBaseLexer")(stream))
    tokens.fill()
    kinds = jvm.java.util.HashSet()
    for kind in ("LEFT_PAREN", "RIGHT_PAREN", "LEFT_BRACKET", "RIGHT_BRACKET"):
        kinds.add(getattr(class_of(jvm, PARSER + "SqlBaseLexer"), kind))
    found = tokens.getTokens(0, tokens.size() - 1, kinds)
    return deepest("".join(found[n].getText() for n in range(found.size()))) if found is not None else 0


def deepest(signs: str) -> int:
    depth = most = 0
    for sign in signs:
        depth += 1 if sign in "([" else -1
        most = max(most, depth)
    return most


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    found = spark.newSession()
    for name, value in USER_SESSION_CONF.items():
        found.conf.set(name, value)
    return found


@pytest.fixture(scope="module")
def guard(spark: SparkSession) -> QueryGuard:
    return QueryGuard(spark)


def ctes(first: str, each: str, count: int) -> str:
    """A chain of CTEs, each made of the one before it."""
    parts = [f"c0 AS ({first})", *(f"c{n + 1} AS ({each.format(c=f'c{n}')})" for n in range(count))]
    return f"WITH {', '.join(parts)} SELECT * FROM c{count}"


def nested(first: str, each: str, count: int) -> str:
    for _ in range(count):
        first = each.format(c=f"({first})")
    return first


LENGTH = 200_000
RECURSIVE = {
    "not": "SELECT " + "NOT " * (LENGTH // 4) + "true",
    "minus": "SELECT " + "- " * (LENGTH // 2) + "1",
    "tilde": "SELECT " + "~" * LENGTH + "1",
    "sums": "SELECT 1" + " + 1" * (LENGTH // 4),
    "comparisons": "SELECT 1" + " = 1" * (LENGTH // 4),
    "fields": "SELECT a" + ".a" * (LENGTH // 2),
    "indexes": "SELECT a" + "[1]" * (LENGTH // 3),
    "casts": "SELECT 1" + "::int" * (LENGTH // 5),
    "joins": "SELECT 1 FROM a" + " JOIN a ON true" * (LENGTH // 15),
    "joins before their conditions": "SELECT 1 FROM a" + " JOIN a" * (LENGTH // 15) + " ON true" * (LENGTH // 15),
    "relations": "SELECT 1 FROM a" + ", a" * (LENGTH // 30),
    "unions": "SELECT 1" + " UNION SELECT 1" * (LENGTH // 15),
    "pipes": "SELECT 1 AS a" + " |> WHERE a" * (LENGTH // 11),
}
"""Deep without a bracket, and as long as a query may be; a tenth of that overflows the parser's stack as well. Most
take less than a second, and the longest lists of relations a few."""


@pytest.mark.parametrize("name", RECURSIVE)
def test_what_is_deep_without_brackets_ends_in_an_error_and_harms_nothing(
    session: SparkSession, guard: QueryGuard, name: str
) -> None:
    text_bounds.refuse_text(RECURSIVE[name])
    with pytest.raises((PySparkException, Py4JJavaError)) as failed:
        guard.analyse(session, RECURSIVE[name])
    told = query_errors.translate_error(failed.value)
    assert isinstance(told, QueryError)
    assert re.search("too complex|too deeply|Syntax error", told.message)
    assert guard.analyse(session, "SELECT 1 AS a").columns == ["a"]


def test_what_is_long_and_not_deep_is_analysed(session: SparkSession, guard: QueryGuard) -> None:
    assert guard.analyse(session, "SELECT true" + " OR true" * (LENGTH // 80)).columns


LARGE = {
    "unions": ctes("SELECT 1 AS a", "SELECT * FROM {c} UNION ALL SELECT * FROM {c}", 22),
    "joins": ctes("SELECT 1 AS a", "SELECT x.a FROM {c} x JOIN {c} y ON x.a = y.a", 22),
    "subqueries": ctes("SELECT 1 AS a", "SELECT (SELECT max(a) FROM {c}) AS a FROM {c}", 22),
    "in other cases": ctes("SELECT 1 AS A", "TABLE {c} UNION ALL TABLE {c}", 22).replace("TABLE c", "TABLE C"),
    "in scopes": nested("SELECT 1 AS a", "WITH c AS {c} SELECT * FROM c UNION ALL SELECT * FROM c", 22),
    "structs": nested("SELECT 1 AS a", "SELECT struct(a, a) AS a FROM {c}", 22),
    "structs in ctes": ctes("SELECT 1 AS a", "SELECT named_struct('x', a, 'y', a) AS a FROM {c}", 22),
    "renamed structs": ctes("SELECT 1 AS a", "SELECT b AS a FROM (SELECT struct(a, a) FROM {c}) t(b)", 22),
    "structs in one list": "SELECT 1 AS a0" + "".join(f", struct(a{n}, a{n}) AS a{n + 1}" for n in range(22)),
    "structs by pipes": "SELECT 1 AS a" + " |> SET a = struct(a, a)" * 22,
    "structs by lambdas": "SELECT " + "transform(" * 22 + "array(1)" + ", x -> struct(x, x))" * 22,
    "maps": ctes("SELECT 1 AS a", "SELECT map(a, a) AS a FROM {c}", 22),
    "stars": ctes("SELECT 1 AS a", "SELECT *, * FROM {c}", 22),
    "stars in structs": ctes("SELECT 1 AS a", "SELECT struct(*) AS a, struct(*) AS b FROM {c}", 22),
    "cubes": "SELECT count(*) FROM range(1) GROUP BY CUBE (1,2,3,4,5,6,7,8,9), CUBE (1,2,3,4,5,6,7,8,9)",
    "columns": "SELECT " + "1, " * 6_000 + "1",
    "conditions in one another": "SELECT " + "(" * 60 + "true" + " BETWEEN false AND true)" * 60,
    "functions in one another": "SELECT (SELECT " + "nvl(1, " * 60 + "2" + ")" * 60 + ")",
    "pivots": f"SELECT * FROM range(1) PIVOT ({', '.join(f'sum(id) AS s{n}' for n in range(100))} FOR id IN"
    f" ({', '.join(map(str, range(100)))}))",
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_become_too_large_is_refused_before_it_is_analysed(
    session: SparkSession, guard: QueryGuard, name: str
) -> None:
    with pytest.raises(RefusedQueryError, match=r"more than [\d,]+ (parts|columns)"):
        guard.analyse(session, LARGE[name])


def test_functions_that_repeat_their_arguments_are_known(spark: SparkSession) -> None:
    java = spark._jvm.java.lang.Class  # type: ignore[union-attr]
    repeating = java.forName(f"{allow_list.EXPRESSIONS}InheritAnalysisRules")
    found = {
        name
        for name, kind in query_guard.registered_functions(spark)
        if name in allow_list.ALLOWED_FUNCTIONS and repeating.isAssignableFrom(java.forName(kind))
    }
    assert found - set(plan_size.REPEATING) == set()
    assert found >= {"nvl", "try_add", "nullif"}


def test_named_windows_are_not_multiplied_out(session: SparkSession, guard: QueryGuard) -> None:
    text = "SELECT " + "sum(1) OVER w, " * 2_000 + "1 WINDOW w AS (ORDER BY " + "1, " * 5_000 + "1)"
    with pytest.raises(RefusedQueryError, match="named windows"):
        guard.analyse(session, text)


def test_a_plan_is_measured_in_linear_time(session: SparkSession) -> None:
    with active_session(session):
        parser = java_session(session).sessionState().sqlParser()
        tree = json.loads(parser.parsePlan(ctes("SELECT 1 AS a", "SELECT x.a FROM {c} x, {c} y", 400)).toJSON())
    with bounded("400 doubling CTEs"), pytest.raises(RefusedQueryError):
        plan_size.refuse_size(tree, 2_000)


USUAL = {
    "steps": ctes("SELECT id AS a, id AS b FROM range(3)", "SELECT *, struct(a, b) AS s FROM {c} WHERE a < 9", 8),
    "conditions on conditions": ctes(
        "SELECT id AS a FROM range(3)", "SELECT CASE WHEN a > 1 THEN a ELSE a + 1 END AS a FROM {c}", 30
    ),
    "a shadow of itself": "WITH t AS (SELECT 1 AS a), u AS (WITH t AS (SELECT a FROM t) TABLE t) SELECT * FROM u",
    "recursion": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) FROM r",
    "a long list": f"SELECT 1 WHERE 1 IN ({', '.join(map(str, range(3_000)))})",
    "many unions": " UNION ALL ".join(["SELECT 1 AS a"] * 200),
    "a few in one another": "SELECT " + "nvl(id, " * 12 + "id" + ")" * 12 + " FROM range(3) WHERE id BETWEEN 1 AND 2",
    "constants of functions": "SELECT round(id, 2), to_json(struct(id), map('a', 'b')), named_struct('a', id),"
    " percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM range(3) GROUP BY id, to_char(id, '9' || '9')",
    "many columns": "SELECT " + ", ".join(f"{n} AS c{n}" for n in range(500)),
    "filtered arrays": ctes(
        "SELECT array(struct(1 AS a, 2 AS b)) AS x", "SELECT filter(x, e -> e.a = size(x)) AS x FROM {c}", 12
    ),
    "constants": "SELECT * FROM VALUES (array(1), to_date('2026-01-01'), map('a', 1), upper('a') || 'b') LIMIT 1 + 1",
    "schemas": "SELECT from_json('{}', schema_of_json('{\"a\": 1}')), percentile(id, array(0.1)) FROM range(2 * 5)",
    "a gap of each row": "SELECT count(*) FROM range(3) GROUP BY session_window(now(), concat(lower(id), ' minutes'))",
}


@pytest.mark.parametrize("name", USUAL)
def test_what_people_write_is_analysed(session: SparkSession, guard: QueryGuard, name: str) -> None:
    assert guard.analyse(session, USUAL[name]).columns


WORK = [
    "SELECT * FROM a.t TIMESTAMP AS OF (SELECT timestamp(max(id)) FROM range(100000000000))",
    "SELECT * FROM a.t FOR SYSTEM_TIME AS OF now() - make_interval(size(sequence(1, 100000000)))",
    "SELECT * FROM a.t TIMESTAMP AS OF repeat('2', 1000000000)",
    "WITH q AS (SELECT * FROM a.t TIMESTAMP AS OF CAST((SELECT 1) AS TIMESTAMP)) SELECT 1",
    "SELECT (SELECT max(a) FROM a.t TIMESTAMP AS OF (SELECT now()))",
    "VALUES (1), (length(repeat('x', 1000000000)))",
    "SELECT * FROM VALUES (transform(sequence(1, 1000000), x -> x))",
    "VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaab' RLIKE '(a+)+$')",
    "SELECT 1 LIMIT length(repeat('x', 100000000))",
    "SELECT 1 OFFSET size(sequence(1, 100000000))",
    "SELECT * FROM range(size(sequence(1, 100000000)))",
    "SELECT * FROM range(3) PIVOT (sum(id) FOR id IN (length(repeat('x', 100000000))))",
    "SELECT from_json('{}', repeat('a int, ', 100000000))",
    "SELECT schema_of_json(repeat('[', 100000000))",
    "SELECT ntile(length(repeat('x', 100000000))) OVER (ORDER BY 1)",
    "SELECT lead(id, length(repeat('x', 100000000))) OVER (ORDER BY 1) FROM range(3)",
    "SELECT stack(length(repeat('x', 100000000)), 1)",
    "SELECT transform(array(1), x -> percentile(x, double(repeat('1', 100000000))))",
    "SELECT `extract`(repeat('x', 100000000), now())",
    "SELECT array(1, 2)[length(repeat('x', 100000000))]",
    "SELECT mask('a', upperChar => repeat('x', 100000000))",
    "SELECT sum(1) OVER (ORDER BY 1 ROWS BETWEEN 1 PRECEDING AND CAST('ab' RLIKE '(a+)+$' AS INT) FOLLOWING)",
    # Functions that are called by their names alone are no columns, whose values there are only with the rows.
    "SELECT to_char(1, IF(current_date IS NULL, '', repeat('x', 100000000)))",
    "SELECT stack(IF(Current_Timestamp IS NULL, 1, length(repeat('x', 100000000))), 1)",
    # GROUP BY puts in the place of an alias what it stands for.
    "SELECT repeat('x', 100000000) AS c FROM range(3) GROUP BY ROLLUP(to_char(1, C))",
    # Each doubles what it is given.
    f"VALUES ({'hex(' * 40}'a'{')' * 40})",
    f"VALUES ({'to_json(array(' * 40}'\"'{'))' * 40})",
    f"SELECT from_json('{{}}', {'schema_of_json(concat(' * 40}'{{}}'{'))' * 40})",
]


@pytest.mark.parametrize("text", WORK)
def test_nothing_is_evaluated_while_a_query_is_analysed(session: SparkSession, guard: QueryGuard, text: str) -> None:
    with pytest.raises(RefusedQueryError, match="may not contain"):
        guard.analyse(session, text)


def test_no_argument_of_a_function_is_evaluated_while_a_query_is_analysed(
    session: SparkSession, guard: QueryGuard
) -> None:
    # What is in the place of an argument is of its type, and fails as soon as it is evaluated.
    work = "IF(CAST(reverse('detaulave') AS BOOLEAN), {0}, {0})"
    evaluated: list[str] = []
    tried = 0
    for text in examples(session):
        for start, end in argument_spans(text):
            changed = f"{text[:start]} {work.format(text[start:end])}{text[end:]}"
            try:
                guard.analyse(session, changed)
            except (LakeholdError, PySparkException, Py4JJavaError) as error:
                if "'evaluated'" in str(error) and "CAST_INVALID_INPUT" in str(error):
                    evaluated.append(changed)
            tried += 1
    assert tried > 1_000
    assert evaluated == []


_STRING_OR_SIGN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\w+\s*\(|[()\[\],]""")


def argument_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the arguments of all calls in a text begin and end."""
    open_: list[tuple[bool, int]] = []
    for found in _STRING_OR_SIGN.finditer(text):
        sign = found[0][-1]
        if sign in "([":
            open_.append((len(found[0]) > 1, found.end()))
        elif sign in ",)]" and open_:
            is_call, start = open_.pop()
            if is_call and text[start : found.start()].strip():
                yield start, found.start()
            if sign == ",":
                open_.append((is_call, found.end()))


def test_functions_of_constants_are_allowed_ones() -> None:
    assert constants.FUNCTIONS <= allow_list.ALLOWED_FUNCTIONS
    assert set(constants._EVALUATED_ARGUMENTS) - {"an index"} <= allow_list.ALLOWED_FUNCTIONS
