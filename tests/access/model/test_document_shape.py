"""Files that say nothing sensible: unknown, missing and repeated parts, and names that are no names."""

from __future__ import annotations

import pytest

from lakehold.access.model.loader import parse_model
from tests.access.model.refusals import Wrong, assert_says, kinds, loading

FIELDS = {
    "model": Wrong("model: m\nkidns: {} # <-\n", "'kidns' is not known in a model.", "Did you mean 'kinds'?"),
    "kind": Wrong(kinds("a: {rols: {}} # <-"), "'rols' is not known in kind 'a'.", "Did you mean 'roles'?"),
    "role": Wrong(kinds("a: {roles: {r: {impleis: r}}} # <-"), "'impleis' is not known in role 'r'.", "'implies'"),
    "attribute": Wrong(kinds("a: {attributes: {r: {value: r}}} # <-"), "'value' is not known in attribute", "'values'"),
    "membership": Wrong(kinds("a: {membership: {r: {defalt: r}}} # <-"), "'defalt' is not known in", "'default'"),
    "membership in files": Wrong(kinds("a: {membership: {r: {imported: r}}} # <-"), "'imported' is not known in"),
    "edge": Wrong(kinds("a: {edges: {r: {too: r}}} # <-"), "'too' is not known in edge 'r'.", "Did you mean 'to'?"),
    "parent": Wrong(kinds("a: {in: {a: {bak: r}}} # <-"), "'bak' is not known in edge 'a'.", "Did you mean 'back'?"),
    "rule": Wrong(kinds("a: {allow: [{who: r, can: r}]} # <-"), "'can' is not known in a rule.", "may, when, who"),
    "gate": Wrong(kinds("a: {gates: [{when: r, may: r}]} # <-"), "'may' is not known in a rule.", "for, when"),
}

MISSING = {
    "model": Wrong("# nothing\nkinds: {a: {}} # <-\n", "`model:` is missing.", "A model has a name and kinds."),
    "kinds": Wrong("model: m # <-\n", "`kinds:` is missing.", "A model has a name and kinds."),
    "a kind": Wrong("model: m\nkinds: {} # <-\n", "a model needs at least one kind."),
    "who": Wrong(kinds("a:\n  actions: [see]\n  allow:\n    - {may: see} # <-"), "a rule needs 'who' and 'may'."),
    "may": Wrong(kinds("a: {allow: [{who: everyone}]} # <-"), "a rule needs 'who' and 'may'."),
    "when": Wrong(kinds("a: {actions: [see], gates: [{for: see}]} # <-"), "a rule needs 'when' and 'for'."),
    "for": Wrong(kinds("a: {gates: [{when: everyone}]} # <-"), "a rule needs 'when' and 'for'."),
    "empty may": Wrong(
        kinds("a:\n  actions: [see]\n  allow:\n    - who: everyone\n      may: [] # <-"), "`may:` names nothing."
    ),
    "empty for": Wrong(kinds("a: {actions: [see], gates: [{when: x, for: []}]} # <-"), "`for:` names nothing."),
    "empty to": Wrong(kinds("a:\n  edges:\n    r:\n      to: [] # <-"), "`to:` names nothing.", "Name at least one"),
    "empty values": Wrong(kinds("a: {attributes: {r: {values: []}}} # <-"), "`values:` names nothing."),
}

SHAPES = {
    "kinds": Wrong("model: m\nkinds: [a, b] # <-\n", "kinds must be a mapping of names.", "Write `name: value` lines."),
    "a kind": Wrong(kinds("a: # <-\nb: {}"), "kind 'a' must be a mapping of names."),
    "roles": Wrong(kinds("a: {roles: [owner, viewer]} # <-"), "roles must be a mapping of names."),
    "a role": Wrong(kinds("a:\n  roles:\n    owner: # <-\n    viewer: {}"), "role 'owner' must be a mapping of names."),
    "an edge": Wrong(kinds("a: {edges: {r: a}} # <-"), "edge 'r' must be a mapping of names."),
    "define": Wrong(kinds("a: {define: everyone} # <-"), "define must be a mapping of names."),
    "a definition": Wrong(kinds("a: {define: {r: [everyone]}} # <-"), "definition 'r' must be a single word or text."),
    "title": Wrong("model: m\ntitle: # <-\nkinds: {a: {}}\n", "title must be a single word or text."),
    "actions": Wrong(kinds("a: {actions: {see: {}}} # <-"), "actions must be a single word or text."),
    "an action": Wrong(kinds("a:\n  actions:\n    - see\n    - [edit] # <-"), "actions must be a single word or text."),
    "allow": Wrong(kinds("a: {actions: [see], allow: {who: everyone, may: see}} # <-"), "rules are a list.", "a dash"),
    "a rule": Wrong(kinds("a:\n  allow:\n    - everyone # <-"), "a rule must be a mapping of names."),
    "who": Wrong(kinds("a: {actions: [see], allow: [{who: [x, y], may: see}]} # <-"), "who must be a single word or"),
    "many": Wrong(kinds("a:\n  edges:\n    r:\n      many: yes # <-"), "many is true or false, not 'yes'."),
    "single": Wrong(kinds("a: {roles: {r: {single: True}}} # <-"), "single is true or false, not 'True'."),
    "two parents": Wrong(kinds("a: {in: {a: {}, b: {}}} # <-"), "a kind lies in one other kind.", "as edges"),
    "no parent": Wrong(kinds("a: {in: {}} # <-"), "a kind lies in one other kind."),
    "many parents": Wrong(kinds("a: {in: {a: {many: true}}} # <-"), "a kind lies in one other kind.", "as edges"),
    "an expression": Wrong(kinds("a:\n  define:\n    b: x and # <-"), "in 'x and': a name is expected, not 'the end'."),
}

TWICE = {
    "model": Wrong("model: m\nmodel: n # <-\n", "'model' stands twice in a model.", "Keep one of them."),
    "kinds": Wrong(kinds("a: {}\nb: {}\na: {} # <-"), "'a' stands twice in kinds.", "Keep one of them."),
    "kind": Wrong(kinds("a:\n  in: b\n  in: c # <-"), "'in' stands twice in kind 'a'."),
    "roles": Wrong(kinds("a:\n  roles:\n    r: {}\n    r: {} # <-"), "'r' stands twice in roles."),
    "role": Wrong(kinds("a: {roles: {r: {to: person, to: person}}} # <-"), "'to' stands twice in role 'r'."),
    "define": Wrong(kinds("a:\n  define:\n    r: b\n    r: c # <-"), "'r' stands twice in define."),
    "actions": Wrong(kinds("a:\n  actions:\n    - see\n    - see # <-"), "'see' stands twice in actions."),
    "may": Wrong(
        kinds("a:\n  actions: [see]\n  allow: [{who: x, may: [see, see]}] # <-"), "'see' stands twice in may."
    ),
    "values": Wrong(kinds("a: {attributes: {b: {values: [c, c]}}} # <-"), "'c' stands twice in values."),
    "set_with": Wrong(
        kinds("a: {attributes: {b: {set_with: {true: x, true: x}}}} # <-"), "'true' stands twice in set_with."
    ),
    "to": Wrong(kinds("a: {edges: {b: {to: [c, c]}}} # <-"), "'c' stands twice in to."),
    "extends": Wrong("model: m\nextends: [a, a] # <-\nkinds: {a: {}}\n", "'a' stands twice in extends."),
    "parent and edge": Wrong(
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
    assert_says(loading(ALL[name].text), ALL[name])


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
    wrong = Wrong(
        PLACES[what].replace("NAME", name), f"cannot be the name of {what}.", "Use small letters, digits and _"
    )
    error = loading(wrong.text)
    assert_says(error, wrong)
    assert name[:60] in error.message
    assert len(error.message) < 250


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("word", ["and", "or", "not", "any", "every", "no", "as", "where", "else"])
def test_words_of_the_language(what: str, word: str) -> None:
    wrong = Wrong(PLACES[what].replace("NAME", word), f"{word!r} is a word of the language, not a name for {what}.")
    assert_says(loading(wrong.text), wrong)


@pytest.mark.parametrize("what", [what for what in PLACES if what != "a value"])
@pytest.mark.parametrize("word", ["everyone", "all"])
def test_words_that_mean_something_already(what: str, word: str) -> None:
    wrong = Wrong(PLACES[what].replace("NAME", word), f"{word!r} is a word of the language, not a name for {what}.")
    assert_says(loading(wrong.text), wrong)


@pytest.mark.parametrize("verb", ["create", "give", "invite"])
def test_verbs_of_every_kind(verb: str) -> None:
    wrong = Wrong(
        PLACES["an action"].replace("NAME", verb), f"{verb!r} is asked of every kind; it is no action of one."
    )
    assert_says(loading(wrong.text), wrong)


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
    wrong = Wrong(text.replace("TITLE", title), "itle ")
    assert_says(loading(wrong.text), wrong)


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
    assert_says(loading(text), Wrong(text, f"in 'a', 'twin' is the name of both {one} and {other}.", "Rename one"))
