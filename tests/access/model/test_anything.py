"""Whatever stands in a file, it becomes a model or a ModelError: never another exception, and soon."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehold import directory
from lakehold.access.decisions.check import CompiledChecks
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.kit.errors import LakeholdError
from lakehold.workspaces import models

FILE = "any/model.yaml"
EXTENDS = "extends: [tenant, lakehouse, marts]"
BASES = tuple(model for model in models() if model.name in {"lakehouse", "marts"})


def assert_helpful(error: ModelError, text: str) -> None:
    """It stands in the one error tree, and names a line that there is."""
    assert isinstance(error, LakeholdError)
    assert error.place.file == FILE
    assert 1 <= error.place.line <= len(text.splitlines()) + 1
    assert error.message
    assert len(str(error)) < 5000


def read(text: str) -> Policy | ModelError:
    """A policy with the model in the text, or why there is none."""
    try:
        policy = Policy([directory.model(), *(BASES if EXTENDS in text else ()), parse_model(text, FILE)])
    except ModelError as error:
        assert_helpful(error, text)
        return error
    # What is loaded can be decided with.
    for kind, name in policy.relations:
        CompiledChecks(policy).relation_test(kind, name)
    return policy


@given(st.text())
def test_any_text(text: str) -> None:
    read(text)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`,?# \n\t\\~<=\0\x85\u2028", max_size=60))
def test_any_text_of_marks_that_mean_something_in_yaml(text: str) -> None:
    read(text)


# Structures of the words that models are made of

NAMES = st.sampled_from(
    ["book", "shelf", "owner", "reader", "see", "edit", "tenant", "open", "state", "up", "all", "x"]
)
EXPRESSIONS = st.sampled_from(
    [
        "owner",
        "reader or owner",
        "not open",
        "not owner",
        "up.reader",
        "shelf.see",
        "tenant.admin",
        "any(up).see",
        "every(up where open else shelf).reader",
        "no(up)",
        "as owner (see)",
        "state = fresh",
        "everyone",
        "see and edit",
        "open = false",
        "x.y.z",
        "owner and",
        "",
    ]
)
WORDS = NAMES | EXPRESSIONS | st.sampled_from(["true", "false", "person", "fresh", "worn", "Ä", "a" * 70])
FIELDS = st.sampled_from(
    [
        "model",
        "title",
        "root",
        "extends",
        "everyone",
        "kinds",
        "in",
        "visible",
        "creator",
        "roles",
        "attributes",
        "membership",
        "edges",
        "define",
        "create",
        "edited_with",
        "deleted_with",
        "actions",
        "gates",
        "allow",
        "to",
        "many",
        "back",
        "set_with",
        "needs",
        "also_after",
        "implies",
        "from",
        "when",
        "given_with",
        "invited_with",
        "single",
        "values",
        "default",
        "who",
        "may",
        "for",
    ]
)
ANYTHING = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | NAMES, inner, max_size=4),
    max_leaves=20,
)


@given(ANYTHING)
def test_any_structure_of_words(structure: object) -> None:
    read(yaml.safe_dump(structure, allow_unicode=True))


# Models of the right shape, in which most names are known

ASKED = st.sampled_from(
    [
        "owner",
        "reader or owner",
        "not open",
        "not owner",
        "not known",
        "known",
        "seen",
        "everyone",
        "see and edit",
        "x.y",
        "state = fresh",
        "state = lost",
        "fee = low",
        "owner and state = worn",
        "owner and open and not open",
        "up.reader",
        "up.up.see",
        "beside.see",
        "any(beside).see",
        "every(beside, up).seen",
        "no(ups)",
        "any(ups).known",
        "every(beside where open else up).reader",
        "any(up where owner)",
        "as owner (see)",
        "as up.owner (reader)",
    ]
)
ROLES = st.sampled_from(["owner", "reader", "guest"])
ACTIONS = st.sampled_from(["see", "edit", "lend"])
KIND_NAMES = st.sampled_from(["book", "shelf"])
FLAGS = st.sampled_from(["true", "false"])


def _some(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    """A mapping of some of the fields; `from_` is the field `from`."""
    return st.fixed_dictionaries({}, optional={name.rstrip("_"): value for name, value in fields.items()})


def _several(names: st.SearchStrategy[str], least: int = 1) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=least, max_size=3, unique=True)


def _to_a_book(edge: dict[str, object]) -> dict[str, object]:
    return {"to": "book", **edge}


ROLE = _some(from_=ASKED, when=ASKED, given_with=ASKED, invited_with=ACTIONS, single=FLAGS)
ATTRIBUTE = _some(default=FLAGS, set_with=ASKED | st.dictionaries(FLAGS, ASKED))
EDGE = _some(to=KIND_NAMES | _several(KIND_NAMES), set_with=ASKED, needs=ROLES | ACTIONS, also_after=FLAGS)
RULE = st.fixed_dictionaries({"may": st.just("all") | _several(ACTIONS), "who": ASKED}, optional={"when": ASKED})
KIND = st.fixed_dictionaries(
    {
        "in": st.fixed_dictionaries({"up": _some(to=KIND_NAMES, back=st.just("ups")).map(_to_a_book)}),
        "actions": st.just(["see", "edit", "lend"]),
        "roles": st.fixed_dictionaries(
            {"reader": ROLE, "owner": ROLE.map(lambda role: {**role, "to": "person", "single": "true"})},
            optional={"guest": st.fixed_dictionaries({"implies": ROLES})},
        ),
        "attributes": st.fixed_dictionaries({"open": ATTRIBUTE, "state": st.just({"values": ["fresh", "worn"]})}),
        "membership": st.fixed_dictionaries({"fee": st.just({"values": ["low", "high"]})}),
        "edges": st.fixed_dictionaries({"beside": EDGE.map(_to_a_book).map(lambda edge: {**edge, "many": "true"})}),
        "define": st.fixed_dictionaries({"known": ASKED, "seen": ASKED}),
    },
    optional={
        "visible": ACTIONS,
        "creator": ROLES,
        "create": ASKED,
        "edited_with": ACTIONS,
        "deleted_with": ACTIONS,
        "gates": st.lists(st.fixed_dictionaries({"for": _several(ACTIONS), "when": ASKED}), max_size=2),
        "allow": st.lists(RULE, max_size=3),
    },
)
MODELS = st.fixed_dictionaries(
    {"model": st.just("mine"), "kinds": st.fixed_dictionaries({"book": KIND}, optional={"shelf": KIND})},
    optional={"extends": st.just(["tenant"]), "everyone": st.just("book"), "root": KIND_NAMES},
)


@settings(max_examples=200, deadline=None)
@given(MODELS)
def test_any_model_of_the_right_shape(structure: dict[str, object]) -> None:
    read(yaml.safe_dump(structure, sort_keys=False))


# Shipped models with something changed

SOURCES = [model.source for model in models() if model.name != "tenant"]
WORDS_OF_ALL = sorted({word for source in SOURCES for word in re.findall(r"\w+", source)})


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A shipped model in which a few words were exchanged, or a line was lost or written twice."""
    source = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            word = draw(st.sampled_from(list(re.finditer(r"\w+", source))))
            source = source[: word.start()] + draw(st.sampled_from(WORDS_OF_ALL)) + source[word.end() :]
        else:
            lines = source.splitlines(keepends=True)
            number = draw(st.integers(0, len(lines) - 1))
            lines[number : number + 1] = [lines[number]] * draw(st.sampled_from([0, 2]))
            source = "".join(lines)
    return source


@settings(max_examples=100, deadline=None)
@given(changed())
def test_any_change_of_a_shipped_model(source: str) -> None:
    read(source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source[2:10])
def test_the_shipped_models_themselves(source: str) -> None:
    assert isinstance(read(source), Policy)
