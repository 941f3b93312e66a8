"""Finds the columns that the datasets of a star schema are to have, from those of its sources; nothing is read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import types as t

from lakehold.kit.errors import LakeholdError
from lakehold.workspaces.spaces.executors.star_members import MemberColumns, find_field, refuse_incomparable
from lakehold.workspaces.spaces.tasks.data_mart import (
    CHANGED_AT,
    IS_CURRENT,
    IS_DELETED,
    VALID_FROM,
    VALID_TO,
    DataMartTaskSettings,
    StarDimension,
    StarFact,
    StarView,
    view_column,
)

_OWN_TYPES: Mapping[str, t.DataType] = {
    IS_DELETED: t.BooleanType(),
    VALID_FROM: t.TimestampType(),
    VALID_TO: t.TimestampType(),
    IS_CURRENT: t.BooleanType(),
    CHANGED_AT: t.TimestampType(),
}


def star_schemas(
    star: DataMartTaskSettings, sources: Mapping[str, t.StructType | None]
) -> Iterator[tuple[str, t.StructType | None]]:
    """Yield each dataset with its columns, given the sources of dimensions and facts by their names.

    None where a source has no columns yet, so that only a run tells.
    """
    found: dict[str, t.StructType | None] = {}
    for n, dimension in enumerate(star.dimensions):
        source = sources[dimension.name]
        with _in_member(dimension.name, f"dimensions.{n}"):
            found[dimension.name] = None if source is None else _dimension_schema(dimension, source)
    for n, fact in enumerate(star.facts):
        source = sources[fact.name]
        with _in_member(fact.name, f"facts.{n}"):
            found[fact.name] = None if source is None else _fact_schema(fact, source)
    for n, view in enumerate(star.views):
        with _in_member(view.name, f"views.{n}"):
            found[view.name] = _view_schema(star, view, found)
    for schema in filter(None, found.values()):
        refuse_incomparable(schema)
    yield from found.items()


@contextmanager
def _in_member(name: str, path: str) -> Iterator[None]:
    """Let the errors raised inside name the dimension, fact or view, and its settings."""
    try:
        yield
    except LakeholdError as error:
        error.message, error.field = f"{name}: {error.message}", error.field or path
        raise


def _dimension_schema(dimension: StarDimension, source: t.StructType) -> t.StructType:
    columns = MemberColumns(dimension, source)
    if dimension.at:
        find_field(source, dimension.at)
    own = [t.StructField(name, _OWN_TYPES[name]) for name in dimension.own_columns]
    kept = (find_field(source, name) for name in (*columns.keys, *columns.kept))
    return t.StructType([t.StructField(dimension.key_column, t.LongType()), *kept, *own])


def _fact_schema(fact: StarFact, source: t.StructType) -> t.StructType:
    keys = [t.StructField(link.key_column, t.LongType()) for link in fact.links]
    kept = [find_field(source, name) for name in fact.kept_columns or source.fieldNames()]
    for name in fact.needed_columns:
        find_field(source, name)
    return t.StructType([*keys, *kept])


def _view_schema(
    star: DataMartTaskSettings, view: StarView, schemas: Mapping[str, t.StructType | None]
) -> t.StructType | None:
    fact = star.fact(view.fact)
    links = {link.role_name: link for link in fact.links}
    fact_schema = schemas[fact.name]
    if fact_schema is None:
        return None
    fields = fact_schema.fields[len(fact.links) :]
    for chosen in view.dimensions:
        members = schemas[links[chosen.role].dimension]
        if members is None:
            return None
        names = {name: view_column(chosen.role, name) for name in chosen.columns}
        fields += [t.StructField(called, find_field(members, name).dataType) for name, called in names.items()]
    return t.StructType(fields)
