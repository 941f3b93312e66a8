"""YAML itself: what no model needs is refused with its line, and nothing in a file is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import load_model, parse_model
from lakehold.access.model.yaml_nodes import compose_yaml
from tests.access.model.refusals import FILE, InvalidModel, assert_error, load_error

TINY = "model: tiny\nkinds:\n  thing: {}\n"

NOT_YAML = {
    "tab": InvalidModel("model: tiny\nkinds:\n\tthing: {} # <-", "found character '\\t'", "Indent with spaces"),
    "open bracket": InvalidModel("model: tiny\nkinds: {thing: {}\nroot: x # <-", "while parsing a flow mapping"),
    "colon": InvalidModel("model: tiny\ntitle: a: b # <-", "mapping values are not allowed here", "in quotes"),
    "two documents": InvalidModel("model: tiny\n--- # <-\nmodel: other\n", "found another document"),
    "unknown alias": InvalidModel("model: tiny\nkinds:\n  thing: *nothing # <-", "undefined alias 'nothing'"),
    "two anchors": InvalidModel("model: tiny\nkinds:\n  a: &x {}\n  b: &x {} # <-", "duplicate anchor 'x'"),
    "unknown tag handle": InvalidModel("model: tiny\nkinds:\n  a: !x!y {} # <-", "found undefined tag handle '!x!'"),
    "escape": InvalidModel('model: tiny\ntitle: "\\q" # <-', "found unknown escape character 'q'"),
    "no such character": InvalidModel(
        'model: tiny\ntitle: "\\UFFFFFFFF" # <-', "a number in it is too large", "Remove it."
    ),
    "no such version": InvalidModel(f"%YAML {'1' * 5000}.1 # <-\n---\nmodel: tiny\n", "a number in it is too large"),
}


@pytest.mark.parametrize("name", NOT_YAML)
def test_not_yaml(name: str) -> None:
    error = load_error(NOT_YAML[name].text)
    assert_error(error, NOT_YAML[name])
    assert "not YAML: " in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("character", "quoted"), [("\0", "'\\x00'"), ("\x1b", "'\\x1b'"), ("\x7f", "'\\x7f'"), ("\ud800", "'\\ud800'")]
)
def test_characters_that_no_text_has(character: str, quoted: str) -> None:
    wrong = InvalidModel(
        f"model: tiny\nkinds:\n  thing{character}: {{}}\n", f"not YAML: a character {quoted}", "Remove it."
    )
    assert_error(load_error(wrong.text), wrong, line=3)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", " "])
def test_empty(text: str) -> None:
    assert_error(
        load_error(text), InvalidModel(text, "the file is empty.", "A model starts with `model: its_name`."), line=1
    )


@pytest.mark.parametrize(
    "text", ["--- # <-", "just a text # <-", "- a # <-\n- list", "# first\n\n42 # <-", "null # <-"]
)
def test_not_a_mapping(text: str) -> None:
    assert_error(
        load_error(text), InvalidModel(text, "a model must be a mapping of names.", "Write `name: value` lines.")
    )


def test_the_text_of_a_key() -> None:
    wrong = InvalidModel("model: tiny\n? [a, b] # <-\n: c\n", "a key of a model must be a single word or text.")
    assert_error(load_error(wrong.text), wrong)


# Python

TAGS = [
    "!!python/object/apply:os.system [exit 1]",
    "!!python/object:os.system {}",
    "!!python/object/new:os.system [exit 1]",
    "!!python/name:os.system x",
    "!!python/module:os x",
    "!!python/tuple [a, b]",
    "!!binary aGk=",
    "!!set {a}",
    "!mine x",
    "!<tag:example.org,2026:x> y",
    "! x",
    "!!str tiny",
]


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("where", ["model: TAG # <-\nkinds: {}", TINY + "title: TAG # <-", "TAG # <-"])
def test_tags(tag: str, where: str) -> None:
    text = where.replace("TAG", tag)
    assert_error(load_error(text), InvalidModel(text, "the tag '", "Remove it."))
    assert "is not allowed in a model." in load_error(text).message


def test_a_tag_makes_no_object(tmp_path: Path) -> None:
    made = tmp_path / "made"
    for text in (
        f"model: !!python/object/apply:pathlib.Path.touch [{made}]",
        f"!!python/object/apply:open [{made}, w]",
    ):
        load_error(text)
    assert not made.exists()


# Aliases

BOMB = "".join(
    ["model: bomb\n", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]{' # <-' if n == 4 else ''}\n" for n in range(1, 10)]
)


def test_alias_bomb() -> None:
    assert_error(
        load_error(BOMB), InvalidModel(BOMB, "with its aliases this has more than 20,000 parts.", "Repeat less.")
    )


def test_a_bomb_larger_than_any_number_that_can_be_printed() -> None:
    lines = [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 190)]
    assert "has more than 20,000 parts." in load_error("a0: &a0 [x, x]\n" + "".join(lines)).message


@pytest.mark.parametrize(
    "text",
    [
        "&a # <-\nmodel: tiny\nkinds: *a\n",
        "model: tiny\nkinds: &a {thing: *a} # <-\n",
        "model: tiny\nkinds:\n  a: &x [[*x]] # <-\n",
        "model: tiny\nkinds:\n  &x a: {? [*x] : b}\n  c: &y [d, {e: *y}] # <-\n",
    ],
)
def test_parts_that_contain_themselves(text: str) -> None:
    assert_error(
        load_error(text), InvalidModel(text, "this part contains itself.", "Write it out where the alias stands.")
    )


def test_aliases_may_repeat_a_part() -> None:
    model = parse_model("model: tiny\nkinds:\n  a: &a {actions: [see], allow: [{who: everyone, may: all}]}\n  b: *a\n")
    assert model.kinds["a"].allow == model.kinds["b"].allow


def test_merge_keys_are_no_part_of_the_language() -> None:
    wrong = InvalidModel(
        "model: tiny\nkinds:\n  a: &a {}\n  b:\n    <<: *a # <-\n", "'<<' is not known in kind 'b'.", "title"
    )
    assert_error(load_error(wrong.text), wrong)


# Too much of it

DEEP = {
    "flow lists": "model: [\n" + "[" * 100_000,
    "flow lists, closed": "model:\n  " + "[" * 400 + "]" * 400,
    "flow maps": "model:\n  " + "{a: " * 40_000,
    "keys": "model:\n  " + "? " * 90_000,
    "dashes": "model:\n  " + "- " * 90_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting(name: str) -> None:
    wrong = InvalidModel(DEEP[name], "the file is nested more than 20 deep.")
    assert_error(load_error(wrong.text), wrong, line=2)


def test_the_line_of_deep_nesting_is_the_first_that_is_too_deep() -> None:
    text = "".join(f"{' ' * depth}a:\n" for depth in range(40))
    assert_error(load_error(text), InvalidModel(text, "the file is nested more than 20 deep."), line=20)


@pytest.mark.parametrize("size", [200_001, 2_000_000])
def test_large_files(size: int) -> None:
    text = TINY + "#" * (size - len(TINY))
    assert_error(
        load_error(text), InvalidModel(text, f"a model of {size:,} characters is too large.", "Split it."), line=1
    )


def test_a_file_that_is_just_small_enough() -> None:
    assert parse_model(TINY + "#" * (200_000 - len(TINY))).name == "tiny"


def test_many_entries() -> None:
    text = "model: tiny\nkinds:\n" + "".join(f"  k{number}: {{}}\n" for number in range(201))
    assert_error(load_error(text), InvalidModel(text, "this part has more than 200 entries.", "Split it."), line=3)
    assert len(parse_model("\n".join(text.splitlines()[:-1])).kinds) == 200


# Files


def test_load_names_folder_and_file(tmp_path: Path) -> None:
    path = tmp_path / "library" / "model.yaml"
    path.parent.mkdir()
    path.write_text("model: library\nkindz: {}\n", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert_error(caught.value, InvalidModel("", "'kindz' is not known in a model.", "Did you mean 'kinds'?"), line=2)


def test_a_file_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"^mine\.yaml:1: the file is empty"):
        load_model(Path("mine.yaml"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"library/model\.yaml:1: it cannot be read: No such file or directory\."):
        load_model(tmp_path / "library" / "model.yaml")


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("model: tiny\ntitle: Größe\n".encode("latin-1"))
    with pytest.raises(ModelError, match=r"latin\.yaml:2: this is not UTF-8") as caught:
        load_model(path)
    assert "Save the file as UTF-8" in caught.value.hint


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + TINY.encode(), TINY.replace("\n", "\r\n").encode()])
def test_files_from_other_editors(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.yaml"
    path.write_bytes(data)
    assert load_model(path).kinds["thing"].place.line == 3


def test_lines_are_counted_the_same_with_other_line_ends() -> None:
    wrong = InvalidModel(
        "model: tiny\r\nkinds:\r\n  thing:\r\n    rolls: {}\r\n", "'rolls' is not known in kind 'thing'.", "'roles'"
    )
    assert_error(load_error(wrong.text), wrong, line=4)


def test_nodes_stay_text() -> None:
    """Not even numbers, dates and truth values become Python objects."""
    root = compose_yaml("a: [1, 2026-01-01, true, null, 1.5]", FILE)
    assert isinstance(root, yaml.MappingNode)
    assert [part.value for part in root.value[0][1].value] == ["1", "2026-01-01", "true", "null", "1.5"]
