"""Files that say nothing sensible: unknown, missing and repeated parts, and names that are no names."""

from __future__ import annotations

import pytest

from lakehold.access.model.loader import parse_model
from tests.access.model.refusals import InvalidModel, assert_error, kinds, load_error

FIELDS = {
    "model": InvalidModel("model: m\nkidns: {} # <-\n", "'kidns' is not known in a model.", "Did you mean 'kinds'?"),
    "kind": InvalidModel(kinds("a: {rols: {}} # <-"), "'rols' is not known in kind 'a'.", "Did you mean 'roles'?"),
    "role": InvalidModel(
        kinds("a: {roles: {r: {impleis: r}}} # <-"), "'impleis' is not known in role 'r'.", "'implies'"
    ),
    "attribute": InvalidModel(
        kinds("a: {attributes: {r: {value: r}}} # <-"), "'value' is not known in attribute", "'values'"
    ),
    "membership": InvalidModel(
        kinds("a: {membership: {r: {defalt: r}}} # <-"), "'defalt' is not known in", "'default'"
    ),
    "membership in files": InvalidModel(
        kinds("a: {membership: {r: {imported: r}}} # <-"), "'imported' is not known in"
    ),
    "edge": InvalidModel(
        kinds("a: {edges: {r: {too: r}}} # <-"), "'too' is not known in edge 'r'.", "Did you mean 'to'?"
    ),
    "parent": InvalidModel(
        kinds("a: {in: {a: {bak: r}}} # <-"), "'bak' is not known in edge 'a'.", "Did you mean 'back'?"
    ),
    "rule": InvalidModel(
        kinds("a: {allow: [{who: r, can: r}]} # <-"), "'can' is not known in a rule.", "may, when, who"
    ),
    "gate": InvalidModel(kinds("a: {gates: [{when: r, may: r}]} # <-"), "'may' is not known in a rule.", "for, when"),
}

MISSING = {
    "model": InvalidModel("# nothing\nkinds: {a: {}} # <-\n", "`model:` is missing.", "A model has a name and kinds."),
    "kinds": InvalidModel("model: m # <-\n", "`kinds:` is missing.", "A model has a name and kinds."),
    "a kind": InvalidModel("model: m\nkinds: {} # <-\n", "a model needs at least one kind."),
    "who": InvalidModel(
        kinds("a:\n  actions: [see]\n  allow:\n    - {may: see} # <-"), "a rule needs 'who' and 'may'."
    ),
    "may": InvalidModel(kinds("a: {allow: [{who: everyone}]} # <-"), "a rule needs 'who' and 'may'."),
    "when": InvalidModel(kinds("a: {actions: [see], gates: [{for: see}]} # <-"), "a rule needs 'when' and 'for'."),
    "for": InvalidModel(kinds("a: {gates: [{when: everyone}]} # <-"), "a rule needs 'when' and 'for'."),
    "empty may": InvalidModel(
        kinds("a:\n  actions: [see]\n  allow:\n    - who: everyone\n      may: [] # <-"), "`may:` is empty."
    ),
    "empty for": InvalidModel(kinds("a: {actions: [see], gates: [{when: x, for: []}]} # <-"), "`for:` is empty."),
    "empty to": InvalidModel(kinds("a:\n  edges:\n    r:\n      to: [] # <-"), "`to:` is empty.", "Name at least one"),
    "empty values": InvalidModel(kinds("a: {attributes: {r: {values: []}}} # <-"), "`values:` is empty."),
}

SHAPES = {
    "kinds": InvalidModel(
        "model: m\nkinds: [a, b] # <-\n", "kinds must be a mapping of names.", "Write `name: value` lines."
    ),
    "a kind": InvalidModel(kinds("a: # <-\nb: {}"), "kind 'a' must be a mapping of names."),
    "roles": InvalidModel(kinds("a: {roles: [owner, viewer]} # <-"), "roles must be a mapping of names."),
    "a role": InvalidModel(
        kinds("a:\n  roles:\n    owner: # <-\n    viewer: {}"), "role 'owner' must be a mapping of names."
    ),
    "an edge": InvalidModel(kinds("a: {edges: {r: a}} # <-"), "edge 'r' must be a mapping of names."),
    "define": InvalidModel(kinds("a: {define: everyone} # <-"), "define must be a mapping of names."),
    "a definition": InvalidModel(
        kinds("a: {define: {r: [everyone]}} # <-"), "definition 'r' must be a single word or text."
    ),
    "title": InvalidModel("model: m\ntitle: # <-\nkinds: {a: {}}\n", "title must be a single word or text."),
    "actions": InvalidModel(kinds("a: {actions: {see: {}}} # <-"), "actions must be a single word or text."),
    "an action": InvalidModel(
        kinds("a:\n  actions:\n    - see\n    - [edit] # <-"), "actions must be a single word or text."
    ),
    "allow": InvalidModel(
        kinds("a: {actions: [see], allow: {who: everyone, may: see}} # <-"), "rules are a list.", "a dash"
    ),
    "a rule": InvalidModel(kinds("a:\n  allow:\n    - everyone # <-"), "a rule must be a mapping of names."),
    "who": InvalidModel(
        kinds("a: {actions: [see], allow: [{who: [x, y], may: see}]} # <-"), "who must be a single word or"
    ),
    "many": InvalidModel(kinds("a:\n  edges:\n    r:\n      many: yes # <-"), "many is true or false, not 'yes'."),
    "single": InvalidModel(kinds("a: {roles: {r: {single: True}}} # <-"), "single is true or false, not 'True'."),
    "two parents": InvalidModel(kinds("a: {in: {a: {}, b: {}}} # <-"), "a kind lies in one other kind.", "as edges"),
    "no parent": InvalidModel(kinds("a: {in: {}} # <-"), "a kind lies in one other kind."),
    "many parents": InvalidModel(
        kinds("a: {in: {a: {many: true}}} # <-"), "a kind lies in one other kind.", "as edges"
    ),
    "an expression": InvalidModel(
        kinds("a:\n  define:\n    b: x and # <-"), "in 'x and': a name is expected, not 'the end'."
    ),
}

TWICE = {
    "model": InvalidModel("model: m\nmodel: n # <-\n", "'model' appears twice in a model.", "Keep one of them."),
    "kinds": InvalidModel(kinds("a: {}\nb: {}\na: {} # <-"), "'a' appears twice in kinds.", "Keep one of them."),
    "kind": InvalidModel(kinds("a:\n  in: b\n  in: c # <-"), "'in' appears twice in kind 'a'."),
    "roles": InvalidModel(kinds("a:\n  roles:\n    r: {}\n    r: {} # <-"), "'r' appears twice in roles."),
    "role": InvalidModel(kinds("a: {roles: {r: {to: person, to: person}}} # <-"), "'to' appears twice in role 'r'."),
    "define": InvalidModel(kinds("a:\n  define:\n    r: b\n    r: c # <-"), "'r' appears twice in define."),
    "actions": InvalidModel(kinds("a:\n  actions:\n    - see\n    - see # <-"), "'see' appears twice in actions."),
    "may": InvalidModel(
        kinds("a:\n  actions: [see]\n  allow: [{who: x, may: [see, see]}] # <-"), "'see' appears twice in may."
    ),
    "values": InvalidModel(kinds("a: {attributes: {b: {values: [c, c]}}} # <-"), "'c' appears twice in values."),
    "set_with": InvalidModel(
        kinds("a: {attributes: {b: {set_with: {true: x, true: x}}}} # <-"), "'true' appears twice in set_with."
    ),
    "to": InvalidModel(kinds("a: {edges: {b: {to: [c, c]}}} # <-"), "'c' appears twice in to."),
    "extends": InvalidModel("model: m\nextends: [a, a] # <-\nkinds: {a: {}}\n", "'a' appears twice in extends."),
    "parent and edge": InvalidModel(
        kinds("a:\n  in: a\n  edges:\n    a: {to: a} # <-"), "'a' is already the edge to the parent.", "rename it"
    ),
}

ALL = {
    f"{about}, {name}": wrong
    for about, cases in {"field": FIELDS, "missing": MISSING, "shape": SHAPES, "twice": TWICE}.items()
    for name, wrong in cases.items()
}


@pytest.mark.parametrize("name", ALL)
def test_refused(name: str) -> None:
    assert_error(load_error(ALL[name].text), ALL[name])


# What cannot be a name

PLACES = {
    "a model": "model: NAME # <-\nkinds: {a: {}}\n",
    "a kind": kinds("NAME: {} # <-"),
    "a role": kinds("a: {roles: {NAME: {}}} # <-"),
    "an attribute": kinds("a: {attributes: {NAME: {}}} # <-"),
    "an edge": kinds("a: {edges: {NAME: {}}} # <-"),
    "an edge seen from behind": kinds("a: {edges: {b: {back: NAME}}} # <-"),
    "a parent": kinds("a: {in: NAME} # <-"),
    "a definition": kinds("a: {define: {NAME: everyone}} # <-"),
    "an action": kinds("a:\n  actions:\n    - see\n    - NAME # <-"),
    "a value": kinds("a: {attributes: {b: {values: [c, NAME]}}} # <-"),
}

NO_NAMES = [
    "Shelf",
    "2nd",
    "_a",
    "a-b",
    "a.b",
    "a b",
    "größe",
    "полка",
    "ａ",
    "a²",
    "e\u0301",
    "a" * 64,
    "a" * 1000,
    "...",
]


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("name", NO_NAMES, ids=lambda name: name[:10])
def test_no_names(what: str, name: str) -> None:
    wrong = InvalidModel(
        PLACES[what].replace("NAME", name), f"cannot be the name of {what}.", "Use small letters, digits and _"
    )
    error = load_error(wrong.text)
    assert_error(error, wrong)
    assert name[:60] in error.message
    assert len(error.message) < 250


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("word", ["and", "or", "not", "any", "every", "no", "as", "where", "else"])
def test_words_of_the_language(what: str, word: str) -> None:
    wrong = InvalidModel(
        PLACES[what].replace("NAME", word), f"{word!r} is a word of the language, not a name for {what}."
    )
    assert_error(load_error(wrong.text), wrong)


@pytest.mark.parametrize("what", [what for what in PLACES if what != "a value"])
@pytest.mark.parametrize("word", ["everyone", "all"])
def test_words_that_mean_something_already(what: str, word: str) -> None:
    wrong = InvalidModel(
        PLACES[what].replace("NAME", word), f"{word!r} is a word of the language, not a name for {what}."
    )
    assert_error(load_error(wrong.text), wrong)


@pytest.mark.parametrize("verb", ["create", "give", "invite"])
def test_verbs_of_every_kind(verb: str) -> None:
    wrong = InvalidModel(
        PLACES["an action"].replace("NAME", verb), f"{verb!r} applies to every kind, and cannot be an action of one."
    )
    assert_error(load_error(wrong.text), wrong)


def test_the_longest_name() -> None:
    assert list(parse_model(PLACES["a kind"].replace("NAME", "a" * 63)).kinds) == ["a" * 63]


@pytest.mark.parametrize("title", ['"a\\0b"', '"\\ud800"', '" "', '"a\\nb"', "x" * 201])
@pytest.mark.parametrize(
    "text",
    [
        "model: m\ntitle: TITLE # <-\nkinds: {a: {}}",
        kinds("a: {title: TITLE} # <-"),
        kinds("a: {roles: {r: {title: TITLE}}} # <-"),
    ],
)
def test_titles(title: str, text: str) -> None:
    wrong = InvalidModel(text.replace("TITLE", title), "itle ")
    assert_error(load_error(wrong.text), wrong)


# One name for two things

SECTIONS = {
    "an action": "actions: [see, twin]",
    "a role": "roles:\n    twin: {}",
    "a definition": "define:\n    twin: everyone",
    "an attribute": "attributes:\n    twin: {}",
    "an attribute of its membership": "membership:\n    twin: {}",
    "an edge": "edges:\n    twin: {to: a}",
}
PAIRS = [(one, other) for number, one in enumerate(SECTIONS) for other in list(SECTIONS)[number + 1 :]]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_one_name_for_two_things(one: str, other: str, turned: bool) -> None:
    sections = [SECTIONS[one], SECTIONS[other] + " # <-"]
    text = kinds("a:\n  " + "\n  ".join(reversed(sections) if turned else sections))
    assert_error(
        load_error(text), InvalidModel(text, f"in 'a', 'twin' is the name of both {one} and {other}.", "Rename one")
    )
