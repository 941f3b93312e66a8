"""Bad input of every sort: the error names the file, the line, what is wrong and what would be right."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from lakehold.access.model.errors import ModelError
from lakehold.access_as_code import parse_files, parser, read_files
from lakehold.kit.errors import InvalidInputError, LakeholdError

FILE = "people.yaml"
COMPANY = """\
tenant: {name: Acme, owner: ann}
members:
  ann: {name: Ann}
  bob: {}
groups:
  makers: {members: [ann]}
workspaces:
  lake:
    kind: lakehouse.lakehouse
    member: makers
    holds:
      layer:
        raw:
          holds:
            table:
              orders: {viewer: bob}
              items: {}
      query:
        copy: {reads: orders, writes: items}
  sales:
    kind: marts.project
    business_user: bob
    membership:
      bob: {scope: selected_contexts}
"""


class Wrong(NamedTuple):
    """A text in which the line that ends with `# <-` is wrong."""

    text: str
    message: str
    hint: str = ""


def refused(text: str) -> LakeholdError:
    with pytest.raises(LakeholdError) as caught:
        parse_files({FILE: dedent(text)})
    return caught.value


def assert_says(wrong: Wrong) -> None:
    error = refused(wrong.text)
    lines = dedent(wrong.text).splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.endswith("# <-"))
    assert isinstance(error, InvalidInputError)
    assert (error.code, error.status) == ("invalid_input", 422)
    assert error.message.startswith(f"{FILE}:{line}: "), error.message
    assert wrong.message in error.message
    assert wrong.hint in error.hint


def changed(old: str, new: str) -> str:
    """The company with one change, in the line that is wrong."""
    assert COMPANY.count(old) == 1
    lines = COMPANY.splitlines()
    return "\n".join(f"{line.replace(old, new)} # <-" if old in line else line for line in lines) + "\n"


def test_the_company_is_right() -> None:
    found = parse_files({FILE: COMPANY})
    assert found.is_whole
    assert {"ann", "bob", "makers", "lake", "raw", "orders", "items", "copy", "sales", "/", "/all"} == set(
        found.state.entries
    )


NOT_YAML = {
    "tab": Wrong("members:\n\tann: {} # <-", "not YAML", "Indent with spaces"),
    "open bracket": Wrong("members: {ann: {}\ngroups: x # <-", "not YAML"),
    "two documents": Wrong("members: {ann: {}}\n--- # <-\nmembers: {bob: {}}\n", "a second document"),
    "unknown alias": Wrong("members:\n  ann: *nothing # <-", "there is no anchor 'nothing' above"),
    "two anchors": Wrong("members:\n  ann: &x {}\n  bob: &x {} # <-", "the anchor 'x' is defined twice"),
    "tag": Wrong("members:\n  ann: !!python/object:os.system {} # <-", "has no meaning here", "Remove it."),
    "contains itself": Wrong("members: &x\n  ann: *x # <-", "this part contains itself"),
    "list at the top": Wrong("- a # <-\n- b", "a file is a mapping of names"),
    "text at the top": Wrong("hello # <-", "a file is a mapping of names"),
    "key twice": Wrong("members:\n  ann: {}\n  ann: {} # <-", "'ann' appears twice; first in line 2", "Keep one"),
    "key that is a list": Wrong("members:\n  ? [a, b] # <-\n  : c", "a name must be a single word or text"),
    "key that is nothing": Wrong("members:\n  ~: {} # <-", "a name must be a single word or text"),
}


@pytest.mark.parametrize("name", NOT_YAML)
def test_not_yaml(name: str) -> None:
    assert_says(NOT_YAML[name])


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\ud800"])
def test_characters_that_no_text_has(character: str) -> None:
    error = refused(f"members:\n  ann: {{name: a{character}}}\n")
    assert error.message.startswith(f"{FILE}:")
    assert "not YAML" in error.message


def test_deep() -> None:
    error = refused(f"members: {'[' * 5_000}")
    assert "nested more than 100 deep" in error.message


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_MOST_PARTS", 10_000)
    lines = ["x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than 10,000 parts" in refused("\n".join(lines)).message


def test_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_LARGEST", 1_000)
    assert "too many for one file" in refused("# " + "x" * 1_000).message


def test_aliases_may_repeat_a_part() -> None:
    found = parse_files({FILE: "members:\n  ann: &plain {}\n  bob: *plain\n"})
    assert {"ann", "bob"} <= set(found.state.entries)


WORDS = {
    "section": Wrong("tenent: {name: Acme} # <-", "there is no section 'tenent'", "Did you mean 'tenant'?"),
    "empty section": Wrong("members: # <-\n", "members is empty", "remove the line"),
    "members as a list": Wrong("members: [ann] # <-", "members is a mapping of names"),
    "tenant without a name": Wrong("tenant: {owner: ann} # <-\nmembers: {ann: {}}", "`name:` is missing"),
    "word": Wrong(changed("member: makers", "membr: makers"), "has no role, edge or attribute", "'member'"),
    "word of a membership": Wrong(
        changed("business_user: bob", "scope: entire_project"), "no role, edge or attribute 'scope'", "membership: {"
    ),
    "attribute of a membership": Wrong(
        changed("      bob: {scope: selected_contexts}", "      bob: {scop: entire_project}"),
        "'scop' is not known",
        "Did you mean 'scope'?",
    ),
    "value": Wrong(
        changed("      bob: {scope: selected_contexts}", "      bob: {scope: selected_context}"),
        "'selected_context' is not a valid value of scope",
        "Did you mean 'selected_contexts'?",
    ),
    "kind": Wrong(
        changed("kind: marts.project", "kind: marts.projekt"),
        "there is no kind 'marts.projekt'",
        "Did you mean 'marts.project'?",
    ),
    "no kind": Wrong("workspaces:\n  sales: {name: Sales} # <-", "`kind:` is missing", "marts.project"),
    "member as a workspace": Wrong(
        "workspaces:\n  ann: {kind: tenant.member} # <-", "is not a workspace", "Write it under `members:`"
    ),
    "kind inside": Wrong("workspaces:\n  x: {kind: lakehouse.layer} # <-", "lies in a lakehouse.lakehouse", "`holds:`"),
    "kind said again": Wrong(changed("items: {}", "items: {kind: lakehouse.layer}"), "`kind:` follows from the place"),
    "what lies nowhere near": Wrong(
        changed("      query:", "      data_mart:"), "no 'data_mart' lies in a lakehouse.lakehouse", "Known here"
    ),
    "empty": Wrong(changed("member: makers", "member:"), "`member:` is empty"),
    "a role for a table": Wrong(changed("viewer: bob", "viewer: {when: bob}"), "'when' is not known", "who"),
    "who is missing": Wrong(changed("viewer: bob", "viewer: {until: 2026-01-31}"), "`who:` is missing"),
    "loose": Wrong("workspaces:\n  x: {kind: lakehouse.layer, loose: maybe} # <-", "`loose:` can only be true"),
    "e-mail": Wrong("members:\n  ann: {email: ann} # <-", "'ann' is not an e-mail address", "name@host"),
    "e-mail twice": Wrong(
        "members:\n  ann: {email: a@b.c}\n  bob: {email: A@b.c} # <-", "already the address of 'ann'"
    ),
    "e-mail of a group": Wrong("groups:\n  makers: {email: a@b.c} # <-", "has no role, edge or attribute 'email'"),
    "service": Wrong("members:\n  ann: {service: maybe} # <-", "`service:` can only be true"),
    "service with an address": Wrong(
        "members:\n  ann: {service: true, email: a@b.c} # <-", "'ann' is a service account", "no e-mail address"
    ),
    "service of a group": Wrong("groups:\n  makers: {service: true} # <-", "no role, edge or attribute 'service'"),
    "settings": Wrong("members:\n  ann: {settings: [a]} # <-", "`settings:` is a mapping of names"),
    "name": Wrong('members:\n  ann: {name: " "} # <-', "must not be empty"),
    "id": Wrong(f"members:\n  {'x' * 201}: {{}} # <-", "has 201 characters"),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(name: str) -> None:
    assert_says(WORDS[name])


TIMES = {
    "no time": Wrong(
        changed("viewer: bob", "viewer: {who: bob, until: soon}"), "'soon' is not a valid time", "2026-01-31"
    ),
    "no such day": Wrong(changed("viewer: bob", "viewer: {who: bob, until: 2026-02-30}"), "is not a valid time"),
    "no zone": Wrong(changed("viewer: bob", "viewer: {who: bob, from: 2026-01-31T12:00}"), "no time zone", "Z"),
    "backwards": Wrong(
        changed("viewer: bob", "viewer: {who: bob, from: 2026-02-01, until: 2026-01-01}"), "ends before it begins"
    ),
}


@pytest.mark.parametrize("name", TIMES)
def test_times(name: str) -> None:
    assert_says(TIMES[name])


UNSOUND = {
    "unknown member": Wrong(changed("business_user: bob", "business_user: bobb"), "no member or group 'bobb'", "'bob'"),
    "role of a thing": Wrong(changed("business_user: bob", "business_user: raw"), "'raw' is a lakehouse.layer"),
    "a group owns": Wrong(
        "tenant: {name: Acme, owner: makers} # <-\ngroups: {makers: {}}", "owner is held by a person", "Name members."
    ),
    "unknown end": Wrong(changed("reads: orders, writes: items", "reads: ordrs, writes: items"), "'ordrs'", "'orders'"),
    "wrong end": Wrong(
        changed("reads: orders, writes: items", "reads: raw, writes: items"), "'raw' is a lakehouse.layer"
    ),
    "group in a group": Wrong("groups:\n  a: {}\n  b: {members: a} # <-", "'a' is a tenant.group"),
    "membership of nobody": Wrong(changed("      bob: {scope", "      bobb: {scope"), "no member 'bobb'", "'bob'"),
    "id twice": Wrong("members:\n  ann: {}\ngroups:\n  ann: {} # <-", "'ann' is defined twice; first at people.yaml:2"),
    "same twice": Wrong(changed("viewer: bob", "viewer: [bob, bob]"), "appears twice for the same time"),
    "two owners": Wrong(
        "members: {ann: {}, bob: {}}\nworkspaces:\n  mine:\n    kind: spaces.space\n    owner: [ann, bob] # <-",
        "there can be only one",
        "`until:`",
    ),
    "two values": Wrong(
        "workspaces:\n  mine:\n    kind: spaces.space\n    personal: ['true', 'false'] # <-", "there can be only one"
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_what_cannot_be(name: str) -> None:
    assert_says(UNSOUND[name])


def test_circles() -> None:
    text = """\
        workspaces:
          sales:
            kind: marts.project
            holds:
              data_mart:
                a: {joins: b}
                b: {joins: c}
                c: {joins: a}
    """
    assert "'a' → 'b' → 'c' → 'a': this is a cycle" in refused(text).message
    turned = text.replace("c: {joins: a}", "c: {joins: {to: a, from: 2030-01-01}}")
    assert "this is a cycle" in refused(turned).message
    parse_files({FILE: dedent(turned.replace("a: {joins: b}", "a: {joins: {to: b, until: 2030-01-01}}"))})


def test_all_problems_at_once() -> None:
    error = refused("members:\n  ann: {nam: Ann}\n  bob: {emial: b@c.d}\ngroupes: {}\n")
    assert [line.split(": ")[0] for line in error.message.splitlines()] == [f"{FILE}:{n}" for n in (2, 3, 4)]
    many = refused("members:\n" + "".join(f"  m{n}: {{x: y}}\n" for n in range(30)))
    assert many.message.splitlines()[-1] == "… and 10 more problems."


def test_the_same_id_in_two_files() -> None:
    with pytest.raises(InvalidInputError, match=r"b.yaml:1: 'ann' is defined twice; first at a.yaml:1"):
        parse_files({"a.yaml": "members: {ann: {}}", "b.yaml": "members: {ann: {}}"})


def test_models_are_refused_with_their_file() -> None:
    with pytest.raises(ModelError, match=r"models/labs.yaml:1: `kinds:` is missing"):
        parse_files({"models/labs.yaml": "model: labs\n"})
    with pytest.raises(ModelError, match=r"models/labs.yaml:5: .*'gest'"):
        parse_files(
            {"models/labs.yaml": "model: labs\nkinds:\n  lab:\n    actions: [see]\n    allow: [{who: gest, may: see}]"}
        )
    with pytest.raises(InvalidInputError, match="is defined twice"):
        parse_files({"a.yaml": "model: x\nkinds: {y: {}}", "b.yaml": "model: x\nkinds: {y: {}}"})


def test_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no file or folder 'nowhere'"):
        read_files(tmp_path / "nowhere")
    (tmp_path / "bad.yaml").write_bytes(b"members:\n  ann: {name: \xff}\n")
    with pytest.raises(InvalidInputError, match=r"bad.yaml:2: this is not UTF-8. Save the file as UTF-8."):
        read_files(tmp_path)
    (tmp_path / "bad.yaml").unlink()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "people.yml").write_text("members: {ann: {}}", encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text("no: such section", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("members: {bob: {}}", encoding="utf-8")
    (tmp_path / "empty.yaml").write_text("# nothing yet\n", encoding="utf-8")
    assert {"ann", "/", "/all"} == set(read_files(tmp_path).state.entries)
    assert {"ann", "/", "/all"} == set(read_files(tmp_path / "inner" / "people.yml").state.entries)


def test_values_stay_the_texts_that_they_were() -> None:
    found = parse_files({FILE: "members:\n  no: {name: 0123}\n  0x1F: {}\n  2026-01-31: {name: yes}\n  true: {}\n"})
    assert {"no", "0x1F", "2026-01-31", "true"} <= set(found.state.entries)
    assert found.state.entries["no"].name == "0123"
    assert found.state.entries["2026-01-31"].name == "yes"


def test_ids_with_a_slash() -> None:
    found = parse_files(
        {FILE: "members:\n  //all: {}\n  a/b: {}\ntenant: {name: Acme, owner: [//all, a/b], viewer: /all}\n"}
    )
    assert {"//all", "a/b", "/all", "/"} == set(found.state.entries)
