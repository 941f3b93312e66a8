"""Expressions: which tree a text becomes, and what is said of one that becomes none."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access.model.errors import ModelError, SourceLocation
from lakehold.access.model.syntax import (
    KEYWORDS,
    AndNode,
    AsHolderNode,
    ComparisonNode,
    ItemNode,
    NotNode,
    OrNode,
    PathNode,
    QuantifierNode,
    SyntaxTree,
    parse_expression,
)

HERE = SourceLocation("model.yaml", 7)
A, B, C = PathNode(("a",)), PathNode(("b",)), PathNode(("c",))

TREES: dict[str, SyntaxTree] = {
    "a": A,
    "  a  ": A,
    "a.b": PathNode(("a", "b")),
    "a . b": PathNode(("a", "b")),
    "data_mart.project.technical_user": PathNode(("data_mart", "project", "technical_user")),
    "plan = starter": PathNode(("plan",), "starter"),
    "tenant.plan=starter": PathNode(("tenant", "plan"), "starter"),
    "enabled = false": PathNode(("enabled",), "false"),
    "a2_b": PathNode(("a2_b",)),
    # A word of the language inside a name is no word of the language.
    "order": PathNode(("order",)),
    "android.nothing": PathNode(("android", "nothing")),
    # `and` binds tighter than `or`, `not` tighter than both.
    "a and b": AndNode((A, B)),
    "a or b": OrNode((A, B)),
    "a and b and c": AndNode((A, B, C)),
    "a or b or c": OrNode((A, B, C)),
    "a or b and c": OrNode((A, AndNode((B, C)))),
    "a and b or c": OrNode((AndNode((A, B)), C)),
    "(a or b) and c": AndNode((OrNode((A, B)), C)),
    "a and (b or c)": AndNode((A, OrNode((B, C)))),
    "((a))": A,
    "a or (b or c)": OrNode((A, OrNode((B, C)))),
    "not a": NotNode(A),
    "not a and b": AndNode((NotNode(A), B)),
    "not (a and b)": NotNode(AndNode((A, B))),
    "not not a": A,
    "not not not a": NotNode(A),
    "not (not a)": NotNode(NotNode(A)),
    "not plan = starter": NotNode(PathNode(("plan",), "starter")),
    # Quantifiers
    "any(a)": QuantifierNode("any", (ItemNode("a"),), None),
    "no(a)": QuantifierNode("no", (ItemNode("a"),), None),
    "no(a, b)": QuantifierNode("no", (ItemNode("a"), ItemNode("b")), None),
    "any(a).b": QuantifierNode("any", (ItemNode("a"),), B),
    "every(a).b": QuantifierNode("every", (ItemNode("a"),), B),
    "every(a).b.c": QuantifierNode("every", (ItemNode("a"),), PathNode(("b", "c"))),
    "any(a).plan = starter": QuantifierNode("any", (ItemNode("a"),), PathNode(("plan",), "starter")),
    "every(a, b else c).b": QuantifierNode("every", (ItemNode("a"), ItemNode("b", None, "c")), B),
    "every(a where b).c": QuantifierNode("every", (ItemNode("a", B),), C),
    "every(a where b else c).b": QuantifierNode("every", (ItemNode("a", B, "c"),), B),
    "any(a where not b)": QuantifierNode("any", (ItemNode("a", NotNode(B)),), None),
    "any(a where b.c = d)": QuantifierNode("any", (ItemNode("a", PathNode(("b", "c"), "d")),), None),
    # `where` takes one condition; more than one stand in brackets.
    "any(a where (b or c))": QuantifierNode("any", (ItemNode("a", OrNode((B, C))),), None),
    "any(a where any(b)).c": QuantifierNode("any", (ItemNode("a", QuantifierNode("any", (ItemNode("b"),), None)),), C),
    "any(a).b and c": AndNode((QuantifierNode("any", (ItemNode("a"),), B), C)),
    "not any(a)": NotNode(QuantifierNode("any", (ItemNode("a"),), None)),
    # The same question about another person
    "as a (b)": AsHolderNode(A, B),
    "as a.b (b and c)": AsHolderNode(PathNode(("a", "b")), AndNode((B, C))),
    "as a (b) and c": AndNode((AsHolderNode(A, B), C)),
    "as a (as b (c))": AsHolderNode(A, AsHolderNode(B, C)),
    "a\n  and b": AndNode((A, B)),
}


@pytest.mark.parametrize("text", TREES)
def test_tree(text: str) -> None:
    assert parse_expression(text, HERE) == TREES[text]


WRONG = {
    "": "a name is expected, not 'the end'",
    "   ": "a name is expected, not 'the end'",
    "and": "a name is expected, not 'and'",
    "a and": "a name is expected, not 'the end'",
    "a or or b": "a name is expected, not 'or'",
    "a b": "'b' is not expected here",
    "a) or b": "')' is not expected here",
    "(a": "')' is missing before 'the end'",
    "()": "a name is expected, not ')'",
    "a.": "a name is expected, not 'the end'",
    ".a": "a name is expected, not '.'",
    "a..b": "a name is expected, not '.'",
    "a =": "a name is expected, not 'the end'",
    "a == b": "a name is expected, not '='",
    "a = no": "a name is expected, not 'no'",
    "a = b = c": "'=' is not expected here",
    "not": "a name is expected, not 'the end'",
    "any a": "'(' is missing before 'a'",
    "any()": "a name is expected, not ')'",
    "any(a,)": "a name is expected, not ')'",
    "any(a.b)": "')' is missing before '.'",
    "any(a where)": "a name is expected, not ')'",
    "any(a else)": "a name is expected, not ')'",
    "any(a where b or c)": "')' is missing before 'or'",
    "any(a else b where c)": "')' is missing before 'where'",
    "every(a)": "every(…) needs a relation",
    "no(a).b": "no(…) only tests whether there is one",
    "as a": "'(' is missing before 'the end'",
    "as (a)": "a name is expected, not '('",
    "as a = b (c)": "'(' is missing before '='",
    "Owner": "'Owner' cannot be read",
    "owner && admin": "'&& admin' cannot be read",
    "a != b": "'!= b' cannot be read",
    "a-b": "'-b' cannot be read",
    "2a": "'2a' cannot be read",
    "naïve": "'ïve' cannot be read",
    "владелец": "'владелец' cannot be read",
    "a > 1": "'>' is not expected here",
    "a['b']": "\"['b']\" cannot be read",
    "__import__('os')": '"__import__(\'" cannot be read',
    "lambda: 0": "': 0' cannot be read",
    "a" * 64: "a name has 63 letters at most",
    "a\0b": "'\\x00b' cannot be read",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_expression(text, HERE)
    error = caught.value
    assert (error.code, error.place) == ("model_invalid", HERE)
    assert WRONG[text] in error.message
    assert "Expressions read like: owner and project.technical_user" in error.hint


def test_the_longest_name_is_a_name() -> None:
    assert parse_expression("a" * 63, HERE) == PathNode(("a" * 63,))


@pytest.mark.parametrize("opening", ["(", "not (", "any(a where ", "as a (", "no(a where not "])
@pytest.mark.parametrize("depth", [51, 5000])
def test_deep_nesting_is_refused(opening: str, depth: int) -> None:
    with pytest.raises(ModelError, match="brackets are nested more than 50 deep"):
        parse_expression(opening * depth + "a" + ")" * depth, HERE)


def test_some_nesting_is_read() -> None:
    assert parse_expression("(" * 49 + "a" + ")" * 49, HERE) == A


def test_brackets_side_by_side_are_not_deep() -> None:
    assert parse_expression(" and ".join(["(a)"] * 100), HERE) == AndNode((A,) * 100)


@pytest.mark.parametrize("names", [21, 5000])
def test_long_paths_are_refused(names: int) -> None:
    with pytest.raises(ModelError, match="a path has 20 names at most"):
        parse_expression(".".join(["a"] * names), HERE)


def test_long_texts_are_cut_in_the_message() -> None:
    for text in ("A" + "b" * 100_000, "a " + "b" * 100_000, "(a " + "b" * 100_000, "b" * 100_000):
        with pytest.raises(ModelError) as caught:
            parse_expression(text, HERE)
        assert len(caught.value.message) < 500


# Any text at all

TOKENS = st.sampled_from([*sorted(KEYWORDS), "a", "b_2", "owner", "(", ")", ".", ",", "=", " "])


@given(st.text() | st.lists(TOKENS, max_size=30).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ModelError):
        parse_expression(text, HERE)


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True).filter(lambda name: name not in KEYWORDS)
PATHS = st.builds(
    lambda names, value: PathNode(tuple(names), value), st.lists(NAMES, min_size=1, max_size=3), st.none() | NAMES
)
HOLDERS = st.builds(lambda names: PathNode(tuple(names)), st.lists(NAMES, min_size=1, max_size=3))


def _larger(trees: st.SearchStrategy[SyntaxTree]) -> st.SearchStrategy[SyntaxTree]:
    several = st.lists(trees, min_size=2, max_size=3).map(tuple)
    items = st.lists(st.builds(ItemNode, NAMES, st.none() | trees, st.none() | NAMES), min_size=1, max_size=2).map(
        tuple
    )
    return st.one_of(
        st.builds(AndNode, several),
        st.builds(OrNode, several),
        st.builds(NotNode, trees),
        st.builds(AsHolderNode, HOLDERS, trees),
        st.builds(QuantifierNode, st.just("no"), items, st.none()),
        st.builds(QuantifierNode, st.just("any"), items, st.none() | PATHS),
        st.builds(QuantifierNode, st.just("every"), items, PATHS),
    )


def written(tree: SyntaxTree) -> str:
    """The tree as a text, with every bracket that could be needed."""
    match tree:
        case PathNode(names, value):
            return ".".join(names) + (f" = {value}" if value else "")
        case ComparisonNode():
            return str(tree)
        case AndNode(trees):
            return " and ".join(f"({written(part)})" for part in trees)
        case OrNode(trees):
            return " or ".join(f"({written(part)})" for part in trees)
        case NotNode(part):
            return f"not ({written(part)})"
        case AsHolderNode(holder, question):
            return f"as {written(holder)} ({written(question)})"
        case QuantifierNode(word, items, then):
            return f"{word}({', '.join(map(_written_item, items))})" + (f".{written(then)}" if then else "")


def _written_item(item: ItemNode) -> str:
    where = f" where ({written(item.where)})" if item.where else ""
    return item.edge + where + (f" else {item.otherwise}" if item.otherwise else "")


@given(st.recursive(PATHS, _larger, max_leaves=12))
def test_a_tree_that_is_written_down_is_read_back(tree: SyntaxTree) -> None:
    assert parse_expression(written(tree), HERE) == tree
