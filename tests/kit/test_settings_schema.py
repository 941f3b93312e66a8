"""Schemas of settings: what is wrong is told by the path of the setting."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, make_dataclass
from threading import Barrier, Lock
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter

from lakehold.kit import settings_schema
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings_schema import (
    InvalidSettingError,
    SettingsRecord,
    SettingsSchema,
    Text,
    adapter_of,
    extend_record,
)


@dataclass(frozen=True, slots=True)
class Row(SettingsRecord):
    path: Text
    operator: Annotated[str, Field(alias="is")] = "="


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(SettingsRecord):
    kind: Literal["table"] = "table"
    table: Text
    rows: tuple[Row, ...] = ()
    count: Annotated[int, Field(ge=1, le=9)] = 1
    keys: tuple[str, ...] = ()
    on: bool = False

    def __post_init__(self) -> None:
        if self.on and not self.keys:
            raise InvalidSettingError("It has no keys.", "Set keys.", field="keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(SettingsRecord):
    kind: Literal["link"] = "link"
    inner: Table | None = None
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(SettingsRecord):
    notify: tuple[str, ...] = ()


SCHEMA = SettingsSchema[Table | Link](
    "thing", {"table": Table, "link": Link}, tag="kind", common=Shared, managed=("published",)
)


@pytest.mark.parametrize(
    ("settings", "path", "said"),
    [
        ({"table": "a"}, "kind", "The thing has no kind."),
        ({"kind": "sheet"}, "kind", "The kind of the thing cannot be 'sheet'. Use table, link."),
        ({"kind": "table"}, "table", "The thing has no table."),
        ({"kind": "table", "table": "  "}, "table", "The thing has no table."),
        ({"kind": "table", "table": 7}, "table", "The table of the thing must be a text."),
        ({"kind": "table", "table": "a", "tabel": "b"}, "tabel", "The thing has no setting 'tabel'."),
        ({"kind": "table", "table": "a", "count": "5"}, "count", "The count of the thing must be a whole number."),
        ({"kind": "table", "table": "a", "count": 0}, "count", "must be at least 1"),
        ({"kind": "table", "table": "a", "count": 10}, "count", "must be at most 9"),
        ({"kind": "table", "table": "a", "keys": "id"}, "keys", "The keys of the thing must be a list."),
        ({"kind": "table", "table": "a", "on": "yes"}, "on", "The on of the thing must be true or false."),
        ({"kind": "table", "table": "a", "on": True}, "keys", "It has no keys. Set keys."),
        ({"kind": "table", "table": "a", "rows": [{"path": "x"}, {"is": "<"}]}, "rows.1.path", "has no path"),
        ({"kind": "link", "inner": {"table": "a", "on": True}}, "inner.keys", "It has no keys."),
        ({"kind": "link", "inner": {"table": "a", "rows": [{}]}}, "inner.rows.0.path", "has no path"),
        ({"kind": "link", "words": [1]}, "words", "The words of the thing must be a mapping."),
    ],
)
def test_what_is_wrong_is_told_by_its_path(settings: dict[str, object], path: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        SCHEMA.parse(settings)
    assert caught.value.field == path
    assert said in str(caught.value)
    assert SCHEMA.problems(settings)[0].field == path


def test_values_are_what_the_record_says() -> None:
    parsed = SCHEMA.parse({"kind": "table", "table": "a", "rows": [{"path": "x", "is": "<"}], "keys": None})
    assert parsed == Table(table="a", rows=(Row("x", "<"),))
    assert hash(parsed) == hash(Table(table="a", rows=(Row("x", "<"),)))


def test_everything_that_is_wrong_is_listed() -> None:
    settings = {"kind": "table", "count": 0, "keys": "id"}
    assert {problem.field for problem in SCHEMA.problems(settings)} == {"table", "count", "keys"}


def test_common_and_managed_settings_make_no_resource_of_a_draft() -> None:
    for settings in ({}, {"notify": ["ann"]}, {"published": True}):
        assert (SCHEMA.is_draft(settings), SCHEMA.problems(settings)) == (True, [])
    assert SCHEMA.problems({"notify": "ann"})[0].field == "notify"
    assert not SCHEMA.is_draft({"kind": "table", "notify": []})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["kind", "table", "rows", "count", "keys", "on", "inner", "words", "notify", "published"])


@given(st.dictionaries(NAMES | st.text(max_size=3), JSON | st.sampled_from(["table", "link"]), max_size=6))
def test_any_json_is_valid_or_refused_by_a_path(settings: dict[str, object]) -> None:
    problems = SCHEMA.problems(settings)
    own = [problem for problem in problems if not problem.field.startswith("notify")]
    if own:
        with pytest.raises(InvalidInputError, match=r"\w"):
            SCHEMA.parse(settings)
    elif not problems and not SCHEMA.is_draft(settings):
        assert isinstance(SCHEMA.parse(settings), Table | Link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base(SettingsRecord):
    feed: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByNumber(SettingsRecord):
    feed: Literal["number"] = "number"
    port: int
    path: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ByName(SettingsRecord):
    feed: Literal["name"] = "name"
    port: str = "main"


def test_a_record_has_the_settings_of_all_variants_beside_its_own() -> None:
    schema = SettingsSchema[Base]("thing", extend_record(Base, {"number": ByNumber, "name": ByName}, "feed"))
    assert set(schema.json_schema()["properties"]) == {"feed", "title", "port", "path"}
    assert schema.problems({"title": "a"}) == schema.problems({"feed": "number", "port": 7, "path": "x"}) == []
    assert schema.problems({"feed": "name", "port": "side"}) == []
    (wrong,) = schema.problems({"feed": "other"})
    assert (wrong.field, wrong.message) == ("feed", "The feed of the thing cannot be 'other'.")
    assert [each.field for each in schema.problems({"typo": 1})] == ["typo"]


def test_a_variant_does_not_have_a_setting_of_the_record_beside_it() -> None:
    with pytest.raises(InvalidInputError, match="The setting title of base has the name of another one"):
        extend_record(Base, {"base": Base}, "feed")


def test_a_text_may_be_needed_where_a_variant_has_it() -> None:
    records = {"table": Table, "link": Link}
    schema = SettingsSchema[Table | Link]("thing", {"base": Base, **records}, needed=("title",))
    (missing,) = schema.problems({"title": " "})
    assert (missing.field, missing.message) == ("title", "The thing has no title.")
    assert schema.problems({"title": "a"}) == schema.problems({"kind": "link"}) == []


@dataclass(frozen=True, slots=True, kw_only=True)
class Fast(SettingsRecord):
    feed: Literal["fast"] = "fast"
    batch: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow(SettingsRecord):
    feed: Literal["slow"] = "slow"
    batch: int = 1


def test_a_default_that_depends_on_the_variant_is_none() -> None:
    schema = SettingsSchema[Base]("thing", extend_record(Base, {"fast": Fast, "slow": Slow}, "feed"))
    assert getattr(schema.parse({"feed": "fast"}), "batch") is None  # noqa: B009 - only the made record has it
    assert getattr(schema.parse({"feed": "slow", "batch": 2}), "batch") == 2  # noqa: B009 - as above


def test_adapters_are_built_once_and_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [make_dataclass(f"Record{n}", [("name", str)]) for n in range(4)]
    alone, built, begin = Lock(), list[type](), Barrier(8)

    def build(record: type) -> TypeAdapter[object]:
        assert alone.acquire(blocking=False)
        built.append(record)
        made: TypeAdapter[object] = TypeAdapter(record)
        alone.release()
        return made

    def ask(n: int) -> object:
        begin.wait()
        return adapter_of(records[n % 4]).validate_python({"name": str(n)})

    monkeypatch.setattr(settings_schema, "TypeAdapter", build)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [records[n % 4](str(n)) for n in range(8)]
    assert sorted(each.__name__ for each in built) == sorted(each.__name__ for each in records)
