"""Expressions: which tree a text becomes, and what is said of one that becomes none."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access.model.errors import ModelError, Place
from lakehold.access.model.syntax import WORDS, AsHolder, Asked, Both, Either, Item, Not, Path, Quantified, Tree, parse

HERE = Place("model.yaml", 7)
A, B, C = Path(("a",)), Path(("b",)), Path(("c",))

TREES: dict[str, Tree] = {
    "a": A,
    "  a  ": A,
    "a.b": Path(("a", "b")),
    "a . b": Path(("a", "b")),
    "data_mart.project.technical_user": Path(("data_mart", "project", "technical_user")),
    "plan = starter": Path(("plan",), "starter"),
    "tenant.plan=starter": Path(("tenant", "plan"), "starter"),
    "enabled = false": Path(("enabled",), "false"),
    "a2_b": Path(("a2_b",)),
    # A word of the language inside a name is no word of the language.
    "order": Path(("order",)),
    "android.nothing": Path(("android", "nothing")),
    # `and` binds tighter than `or`, `not` tighter than both.
    "a and b": Both((A, B)),
    "a or b": Either((A, B)),
    "a and b and c": Both((A, B, C)),
    "a or b or c": Either((A, B, C)),
    "a or b and c": Either((A, Both((B, C)))),
    "a and b or c": Either((Both((A, B)), C)),
    "(a or b) and c": Both((Either((A, B)), C)),
    "a and (b or c)": Both((A, Either((B, C)))),
    "((a))": A,
    "a or (b or c)": Either((A, Either((B, C)))),
    "not a": Not(A),
    "not a and b": Both((Not(A), B)),
    "not (a and b)": Not(Both((A, B))),
    "not not a": A,
    "not not not a": Not(A),
    "not (not a)": Not(Not(A)),
    "not plan = starter": Not(Path(("plan",), "starter")),
    # Quantifiers
    "any(a)": Quantified("any", (Item("a"),), None),
    "no(a)": Quantified("no", (Item("a"),), None),
    "no(a, b)": Quantified("no", (Item("a"), Item("b")), None),
    "any(a).b": Quantified("any", (Item("a"),), B),
    "every(a).b": Quantified("every", (Item("a"),), B),
    "every(a).b.c": Quantified("every", (Item("a"),), Path(("b", "c"))),
    "any(a).plan = starter": Quantified("any", (Item("a"),), Path(("plan",), "starter")),
    "every(a, b else c).b": Quantified("every", (Item("a"), Item("b", None, "c")), B),
    "every(a where b).c": Quantified("every", (Item("a", B),), C),
    "every(a where b else c).b": Quantified("every", (Item("a", B, "c"),), B),
    "any(a where not b)": Quantified("any", (Item("a", Not(B)),), None),
    "any(a where b.c = d)": Quantified("any", (Item("a", Path(("b", "c"), "d")),), None),
    # `where` takes one condition; more than one stand in brackets.
    "any(a where (b or c))": Quantified("any", (Item("a", Either((B, C))),), None),
    "any(a where any(b)).c": Quantified("any", (Item("a", Quantified("any", (Item("b"),), None)),), C),
    "any(a).b and c": Both((Quantified("any", (Item("a"),), B), C)),
    "not any(a)": Not(Quantified("any", (Item("a"),), None)),
    # The same question about another person
    "as a (b)": AsHolder(A, B),
    "as a.b (b and c)": AsHolder(Path(("a", "b")), Both((B, C))),
    "as a (b) and c": Both((AsHolder(A, B), C)),
    "as a (as b (c))": AsHolder(A, AsHolder(B, C)),
    "a\n  and b": Both((A, B)),
}


@pytest.mark.parametrize("text", TREES)
def test_tree(text: str) -> None:
    assert parse(text, HERE) == TREES[text]


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
    "every(a)": "every(…) needs what is asked of each",
    "no(a).b": "no(…) asks only whether there is one",
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
    "a" * 64: "a name has 63 letters at the most",
    "a\0b": "'\\x00b' cannot be read",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(text, HERE)
    error = caught.value
    assert (error.code, error.place) == ("model_invalid", HERE)
    assert WRONG[text] in error.message
    assert "Expressions read like: owner and project.technical_user" in error.hint


def test_the_longest_name_is_a_name() -> None:
    assert parse("a" * 63, HERE) == Path(("a" * 63,))


@pytest.mark.parametrize("opening", ["(", "not (", "any(a where ", "as a (", "no(a where not "])
@pytest.mark.parametrize("depth", [51, 5000])
def test_deep_nesting_is_refused(opening: str, depth: int) -> None:
    with pytest.raises(ModelError, match="brackets are nested more than 50 deep"):
        parse(opening * depth + "a" + ")" * depth, HERE)


def test_some_nesting_is_read() -> None:
    assert parse("(" * 49 + "a" + ")" * 49, HERE) == A


def test_brackets_side_by_side_are_not_deep() -> None:
    assert parse(" and ".join(["(a)"] * 100), HERE) == Both((A,) * 100)


@pytest.mark.parametrize("names", [21, 5000])
def test_long_paths_are_refused(names: int) -> None:
    with pytest.raises(ModelError, match="a path has 20 names at the most"):
        parse(".".join(["a"] * names), HERE)


def test_long_texts_are_cut_in_the_message() -> None:
    for text in ("A" + "b" * 100_000, "a " + "b" * 100_000, "(a " + "b" * 100_000, "b" * 100_000):
        with pytest.raises(ModelError) as caught:
            parse(text, HERE)
        assert len(caught.value.message) < 500


# Any text at all

TOKENS = st.sampled_from([*sorted(WORDS), "a", "b_2", "owner", "(", ")", ".", ",", "=", " "])


@given(st.text() | st.lists(TOKENS, max_size=30).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ModelError):
        parse(text, HERE)


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True).filter(lambda name: name not in WORDS)
PATHS = st.builds(
    lambda names, value: Path(tuple(names), value), st.lists(NAMES, min_size=1, max_size=3), st.none() | NAMES
)
HOLDERS = st.builds(lambda names: Path(tuple(names)), st.lists(NAMES, min_size=1, max_size=3))


def _larger(trees: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(trees, min_size=2, max_size=3).map(tuple)
    items = st.lists(st.builds(Item, NAMES, st.none() | trees, st.none() | NAMES), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Both, several),
        st.builds(Either, several),
        st.builds(Not, trees),
        st.builds(AsHolder, HOLDERS, trees),
        st.builds(Quantified, st.just("no"), items, st.none()),
        st.builds(Quantified, st.just("any"), items, st.none() | PATHS),
        st.builds(Quantified, st.just("every"), items, PATHS),
    )


def written(tree: Tree) -> str:
    """The tree as a text, with every bracket that could be needed."""
    match tree:
        case Path(names, value):
            return ".".join(names) + (f" = {value}" if value else "")
        case Asked():
            return str(tree)
        case Both(trees):
            return " and ".join(f"({written(part)})" for part in trees)
        case Either(trees):
            return " or ".join(f"({written(part)})" for part in trees)
        case Not(part):
            return f"not ({written(part)})"
        case AsHolder(holder, question):
            return f"as {written(holder)} ({written(question)})"
        case Quantified(word, items, then):
            return f"{word}({', '.join(map(_written_item, items))})" + (f".{written(then)}" if then else "")


def _written_item(item: Item) -> str:
    where = f" where ({written(item.where)})" if item.where else ""
    return item.edge + where + (f" else {item.otherwise}" if item.otherwise else "")


@given(st.recursive(PATHS, _larger, max_leaves=12))
def test_a_tree_that_is_written_down_is_read_back(tree: Tree) -> None:
    assert parse(written(tree), HERE) == tree
