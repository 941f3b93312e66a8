"""The search index of a version: found with typing errors, by every word, and never half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.products.entity_index import (
    IndexedEntity,
    IndexedRecord,
    build_index,
    delete_other_indexes,
    open_index,
    version_folder,
)

PEOPLE = {
    "e1": {"name": "Anna Müller", "city": "Köln", "email": "anna.mueller@example.com"},
    "e2": {"name": "Hanna Miller", "city": "London"},
    "e3": {"name": "Александр Пушкин", "city": "Москва"},
    "e4": {"name": "Bo Li", "city": "北京"},
    "e5": {"name": "Christopher Featherstonehaugh", "phone": "+442071234567"},
    "e6": {},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = version_folder(tmp_path, 1, 2, 3)
    assert build_index(found, (IndexedEntity(uid, values, {}, 1) for uid, values in PEOPLE.items())) == len(PEOPLE)
    return found


def search(folder: Path, text: str) -> list[str]:
    index = open_index(folder)
    assert index is not None
    return [hit.found.entity for hit in index.search(text).hits]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Who is called so is first, who is called almost so comes after.
        ("Anna", ["e1", "e2"]),
        ("anna muller", ["e1", "e2"]),
        ("MÜLLER", ["e1", "e2"]),
        ("mueler anna", ["e1"]),
        ("mulller anna", ["e1"]),
        ("mxxxxr anna", []),
        ("Kristopher featherstonhaugh", ["e5"]),
        ("anna example", ["e1"]),
        ("anna nobody", []),
        ("пушкин", ["e3"]),
        ("пушкен", ["e3"]),
        ("li", ["e4"]),
        ("feather", ["e5"]),
        ("442071234567", ["e5"]),
        ("!?", ["e1", "e2", "e3", "e4", "e5", "e6"]),
    ],
)
def test_what_a_search_finds(folder: Path, text: str, found: list[str]) -> None:
    hits = search(folder, text)
    assert sorted(hits) == found
    assert hits[:1] == found[:1] or text == "!?"


@pytest.mark.parametrize("text", ['"', "a AND (", "name:*", "\x00", "[a TO b]", "~2", "\\", "e" * 200])
def test_a_search_is_words_and_no_language(folder: Path, text: str) -> None:
    assert set(search(folder, text)) <= set(PEOPLE)


def test_a_search_that_is_too_long_is_refused(folder: Path) -> None:
    index = open_index(folder)
    assert index is not None
    with pytest.raises(InvalidInputError, match="201 characters"):
        index.search("e" * 201)
    with pytest.raises(InvalidInputError, match="100 at most"):
        index.search("anna", limit=101)


def test_an_entity_is_found_by_its_id_alone(folder: Path) -> None:
    index = open_index(folder)
    assert index is not None
    assert index.get("e1") == IndexedEntity("e1", PEOPLE["e1"], {}, 1, [])
    assert index.get("anna") is None
    assert index.get("E1") is None


def test_pages_go_on_where_the_last_one_ended(folder: Path) -> None:
    index = open_index(folder)
    assert index is not None
    pages = [index.search("", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert {page.total for page in pages} == {6}
    assert sorted(hit.found.entity for page in pages for hit in page.hits) == sorted(PEOPLE)


def test_what_was_broken_off_is_no_index(folder: Path) -> None:
    def broken() -> list[IndexedEntity]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build_index(folder, (each for each in (IndexedEntity("e9", {}, {}, 1), *broken())))
    assert search(folder, "anna muller")[0] == "e1"


def test_one_that_is_written_anew_is_opened_anew(folder: Path) -> None:
    assert search(folder, "anna muller")[0] == "e1"
    build_index(folder, [IndexedEntity("e7", {"name": "Somebody else"}, {}, 1)])
    assert search(folder, "anna muller") == []
    assert search(folder, "else") == ["e7"]


def test_only_the_versions_that_are_kept_stay(tmp_path: Path) -> None:
    for version in (1, 2, 3):
        build_index(version_folder(tmp_path, 1, 2, version), [])
    build_index(version_folder(tmp_path, 1, 9, 1), [])
    delete_other_indexes(tmp_path, 1, 2, keep=[2, 3])
    assert [open_index(version_folder(tmp_path, 1, 2, version)) is not None for version in (1, 2, 3)] == [
        False,
        True,
        True,
    ]
    assert open_index(version_folder(tmp_path, 1, 9, 1)) is not None


def test_records_are_found_by_their_entity_and_by_no_word(tmp_path: Path) -> None:
    def record(n: int, entity: str) -> IndexedRecord:
        return IndexedRecord(f"r{n}", entity, "crm", str(n), None, {"name": "Anna secret"})

    entities = [IndexedEntity("e1", {"name": "Anna"}, {}, 2), IndexedEntity("e2", {"name": "Berta"}, {}, 1)]
    build_index(tmp_path / "v1", entities, [record(2, "e1"), record(1, "e1"), record(3, "e2")])
    index = open_index(tmp_path / "v1")
    assert index is not None
    assert [each.record for each in index.records_of("e1")] == ["r1", "r2"]
    assert index.find_record("r3") == record(3, "e2")
    assert index.find_record("e1") is None
    assert index.get("r1") is None
    assert index.search("secret").total == 0
    assert index.search("").total == 2


def test_a_retired_id_names_its_successors(tmp_path: Path) -> None:
    build_index(tmp_path / "v1", [IndexedEntity("e1", {}, {}, 1)], retired=[("e7", ["e1"]), ("e8", [])])
    index = open_index(tmp_path / "v1")
    assert index is not None
    assert [index.successors_of(uid) for uid in ("e7", "e8", "e1", "e9")] == [["e1"], [], None, None]
    assert index.get("e7") is None
