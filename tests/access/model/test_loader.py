"""One file to a model: what it says, and every word in it that can be wrong by itself."""

from __future__ import annotations

import copy
import pickle

import pytest

from lakehold.access.model.errors import LocatedName, SourceLocation, did_you_mean
from lakehold.access.model.loader import parse_model
from lakehold.access.model.schema import AttributeKind, Clause, EdgeKind, PolicyRule
from lakehold.access.model.syntax import PathNode
from tests.access.model.refusals import FILE, InvalidModel, assert_error, kinds, load_error

FULL = """\
model: library
title: The library
root: hall
extends: [tenant]
everyone: hall
kinds:
  hall:
    in: tenant
  shelf:
    title: Long shelf
    in: {hall: {back: shelves}}
    visible: look
    creator: keeper
    roles:
      keeper: {title: Head keeper, implies: reader, from: hall.look, when: open, given_with: lend,
               invited_with: lend, to: person, single: true}
      reader: {}
    attributes:
      open: {}
      state: {values: [fresh, worn], default: worn, set_with: {fresh: lend, worn: reader}}
    membership:
      fee: {values: [low, high], set_with: lend}
    edges:
      beside: {to: [shelf, hall], many: true, set_with: lend, needs: look, also_after: true}
      hall_before: {to: hall}
    define:
      tidy:   reader  and   open
    create: hall.look
    actions: [look, lend]
    gates:
      - {when: open, for: lend}
    allow:
      - {who: reader, may: look}
      - {who: keeper, when: tidy, may: all}
"""


def at(line: int) -> SourceLocation:
    return SourceLocation(FILE, line)


def clause(text: str, line: int) -> Clause:
    return Clause(text, PathNode(tuple(text.split("."))), at(line))


def test_a_model() -> None:
    model = parse_model(FULL, FILE)
    assert (model.name, model.title, model.root, model.extends) == ("library", "The library", "hall", ("tenant",))
    assert (model.everyone, model.source, model.place, list(model.kinds)) == ("hall", FULL, at(1), ["hall", "shelf"])
    assert model.extends[0].place == at(4)


def test_a_kind() -> None:
    shelf = parse_model(FULL, FILE).kinds["shelf"]
    assert (shelf.id, shelf.title, shelf.parent, shelf.visible) == ("library.shelf", "Long shelf", "hall", "look")
    assert (shelf.creator, shelf.place, shelf.actions) == ("keeper", at(9), ("look", "lend"))
    assert shelf.create == clause("hall.look", 28)
    assert shelf.define["tidy"].text == "reader and open"
    assert shelf.gates == (PolicyRule(None, clause("open", 31), ("lend",), at(31)),)
    assert shelf.allow[1] == PolicyRule(clause("keeper", 34), clause("tidy", 34), ("look", "lend"), at(34))


def test_what_it_is_edited_and_deleted_with() -> None:
    said = parse_model(kinds("a: {actions: [see, mend], edited_with: mend, deleted_with: b.burn}")).kinds["a"]
    assert [clause.text for clause in (said.edited_with, said.deleted_with) if clause] == ["mend", "b.burn"]
    usual = parse_model(kinds("a: {actions: [see, edit, delete]}")).kinds["a"]
    assert [clause.text for clause in (usual.edited_with, usual.deleted_with) if clause] == ["edit", "delete"]
    neither = parse_model(kinds("a: {actions: [see]}")).kinds["a"]
    assert (neither.edited_with, neither.deleted_with) == (None, None)


def test_its_roles() -> None:
    roles = parse_model(FULL, FILE).kinds["shelf"].roles
    keeper, reader = roles["keeper"], roles["reader"]
    assert (keeper.title, keeper.implies, keeper.place) == ("Head keeper", "reader", at(15))
    assert (keeper.derived, keeper.when) == (clause("hall.look", 15), clause("open", 15))
    assert (keeper.given_with, keeper.invited_with) == (clause("lend", 15), "lend")
    assert (keeper.person_only, keeper.single) == (True, True)
    assert (reader.title, reader.implies, reader.person_only, reader.single) == ("Reader", None, False, False)


def test_its_attributes() -> None:
    shelf = parse_model(FULL, FILE).kinds["shelf"]
    assert shelf.attributes["open"] == AttributeKind("open", ("false", "true"), "false", at(19))
    assert shelf.attributes["state"].default == "worn"
    assert shelf.attributes["state"].set_with == {"fresh": clause("lend", 20), "worn": clause("reader", 20)}
    assert shelf.membership["fee"].default == "low"
    assert shelf.membership["fee"].set_with == dict.fromkeys(("low", "high"), clause("lend", 22))
    assert [shelf.attributes[name].is_flag for name in ("open", "state")] == [True, False]


def test_a_flag_may_be_written_in_either_order() -> None:
    kind = parse_model(kinds("a: {attributes: {on: {values: [true, false]}, off: {values: [false, true]}}}")).kinds["a"]
    assert [(one.is_flag, one.default) for one in kind.attributes.values()] == [(True, "true"), (True, "false")]


def test_what_an_attribute_is_of_what_files_bring_in() -> None:
    on = '{imported: "true"}'
    kind = parse_model(
        kinds(f"a: {{attributes: {{on: {on}, off: {{}}, same: {{values: [x, y], imported: x}}}}}}")
    ).kinds["a"]
    assert [one.imported for one in kind.attributes.values()] == ["true", "", ""]
    assert [one.import_default for one in kind.attributes.values()] == ["true", "false", "x"]


def test_its_edges() -> None:
    edges = parse_model(FULL, FILE).kinds["shelf"].edges
    assert edges["hall"] == EdgeKind("hall", (LocatedName("hall", at(11)),), at(11), back="shelves")
    assert edges["beside"].to == ("shelf", "hall")
    assert (edges["beside"].many, edges["beside"].needs, edges["beside"].also_after) == (True, "look", True)
    assert (edges["hall_before"].to, edges["hall_before"].many) == (("hall",), False)


def test_what_is_left_out() -> None:
    model = parse_model("kinds:\n  big_thing: {}\n  other: {}\nmodel: my_things\n")
    assert (model.title, model.root, model.extends, model.everyone) == ("My things", "big_thing", (), None)
    thing = model.kinds["big_thing"]
    assert (thing.title, thing.parent, thing.visible, thing.creator) == ("Big thing", None, "see", None)
    assert (thing.create, thing.actions, thing.gates, thing.allow) == (None, (), (), ())
    assert [thing.roles, thing.attributes, thing.membership, thing.edges, thing.define] == [{}] * 5


def test_titles_may_be_in_any_language() -> None:
    assert parse_model(kinds("a: {title: Ein großes Regal – 書架 📚}")).kinds["a"].title == "Ein großes Regal – 書架 📚"


def test_words_keep_their_line_in_copies() -> None:
    word = LocatedName("shelf", at(3))
    copies = (copy.copy(word), copy.deepcopy(word), pickle.loads(pickle.dumps(word)))  # noqa: S301 - our own
    assert [(text, text.place) for text in copies] == [("shelf", at(3))] * 3


def test_did_you_mean() -> None:
    assert did_you_mean("owenr", ["admin", "owner"]) == "Did you mean 'owner'?"
    assert did_you_mean("x", ["owner", "admin"]) == "Known here: admin, owner."
    assert did_you_mean("x", []) == "None is known here."


NAMES = {
    "implies": InvalidModel(
        kinds("""
        shelf:
          roles:
            keeper:
              implies: raeder  # <-
            reader: {}
        """),
        "implies: no role 'raeder'.",
        "Did you mean 'reader'?",
    ),
    "creator": InvalidModel(
        kinds("""
        shelf:
          creator: keper  # <-
          roles: {keeper: {}}
        """),
        "creator: no role 'keper'.",
        "Did you mean 'keeper'?",
    ),
    "creator without roles": InvalidModel(
        kinds("shelf: {creator: keeper} # <-"), "creator: no role 'keeper'.", "None is known here."
    ),
    "invited_with": InvalidModel(
        kinds("""
        shelf:
          roles:
            reader: {}
            keeper:
              title: Keeper
              invited_with: invit_keeper  # <-
          actions: [see, invite_keeper]
        """),
        "invited_with: no role, action or definition 'invit_keeper'.",
        "Did you mean 'invite_keeper'?",
    ),
    "root": InvalidModel(
        "model: m\nroot: shelv # <-\nkinds: {shelf: {}}\n", "root: no kind 'shelv'.", "Did you mean 'shelf'?"
    ),
    "everyone": InvalidModel(
        "model: m\neveryone: al # <-\nkinds: {all_of_it: {}}\n", "everyone: no kind 'al'.", "all_of_it"
    ),
    "extends itself": InvalidModel(
        "model: m\nextends:\n  - tenant\n  - m # <-\nkinds: {a: {}}\n", "'m' extends itself.", "Name the models"
    ),
    "may": InvalidModel(
        kinds("""
        shelf:
          actions: [see, lend]
          allow:
            - who: everyone
              may: [see,
                    lent]  # <-
        """),
        "a shelf has no action 'lent'.",
        "Did you mean 'lend'?",
    ),
    "may all and more": InvalidModel(
        kinds("shelf: {actions: [see], allow: [{who: everyone, may: [all, see]}]} # <-"),
        "a shelf has no action 'all'.",
        "Known here: see.",
    ),
    "may all of nothing": InvalidModel(
        kinds("shelf: {allow: [{who: everyone, may: all}]} # <-"), "a shelf has no action 'all'.", "None is known here."
    ),
    "for": InvalidModel(
        kinds("""
        shelf:
          actions: [see, lend]
          gates:
            - {when: everyone, for: see}
            - {when: everyone, for: lnd}  # <-
        """),
        "a shelf has no action 'lnd'.",
        "Did you mean 'lend'?",
    ),
    "visible": InvalidModel(
        kinds("""
        shelf:
          roles: {looker: {}}
          visible: looker  # <-
          actions: [look]
        """),
        "visible: no action 'looker'.",
        "Did you mean 'look'?",
    ),
    "edited with more than an action": InvalidModel(
        kinds("""
        shelf:
          actions: [see, lend]
          edited_with: see and lend  # <-
        """),
        "edited_with names one action.",
        "Use one action, such as edit or tenant.create_workspace.",
    ),
    "visible left out": InvalidModel(
        kinds("""
        shelf:  # <-
          actions: [look, seek]
        """),
        "`visible:` is missing: without an action 'see'",
        "Did you mean 'seek'?",
    ),
    "rules of one kind used for another": InvalidModel(
        kinds("""
        shelf:
          actions: [see, lend]
          allow: &rules
            - {who: everyone, may: [see, lend]}  # <-
        book:
          actions: [see, end]
          allow: *rules
        """),
        "a book has no action 'lend'.",
        "Did you mean 'end'?",
    ),
    "default": InvalidModel(
        kinds("""
        shelf:
          attributes:
            state:
              values: [fresh, worn]
              default: wron  # <-
        """),
        "default: no value 'wron'.",
        "Did you mean 'worn'?",
    ),
    "imported": InvalidModel(
        kinds("shelf: {attributes: {open: {imported: yes}}} # <-"), "imported: no value 'yes'.", "false, true"
    ),
    "default of a flag": InvalidModel(
        kinds("shelf: {attributes: {open: {default: yes}}} # <-"), "default: no value 'yes'.", "false, true"
    ),
    "set_with": InvalidModel(
        kinds("""
        shelf:
          membership:
            fee:
              values: [low, high]
              set_with:
                low: everyone
                hihg: everyone  # <-
        """),
        "set_with: no value 'hihg'.",
        "Did you mean 'high'?",
    ),
    "role to": InvalidModel(
        kinds("""
        shelf:
          roles:
            keeper:
              to: persn  # <-
        """),
        "a role goes to a person or to anyone, not to 'persn'.",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_unknown_names(name: str) -> None:
    assert_error(load_error(NAMES[name].text), NAMES[name])
