"""Named views of a data product: filters and columns that everybody who sees its entities can use."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from secrets import token_hex
from typing import Any

from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import fold_name, quote, valid_name
from lakehold.workspaces.products.curation.curated_product import CuratedProduct
from lakehold.workspaces.products.curation.tables import view_table

MAX_VIEWS = 200
MAX_FILTERS = 20
MAX_VALUE = 1_000
ENTITY_COLUMNS = ("entity", "records", "flags")
"""Columns that entities have beside their attributes."""


class ViewOperator(StrEnum):
    """The comparison of a filter."""

    IS = "is"
    IS_NOT = "is not"
    CONTAINS = "contains"
    STARTS = "starts with"
    EMPTY = "is empty"
    FILLED = "is not empty"

    @property
    def takes_value(self) -> bool:
        """Whether it compares with a value."""
        return self not in {ViewOperator.EMPTY, ViewOperator.FILLED}


@dataclass(frozen=True, slots=True)
class ViewFilter:
    """A condition on an attribute."""

    attribute: str
    operator: ViewOperator
    value: str = ""


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """The name, filters and columns of a view. Of several filters, all must hold."""

    name: str
    filters: Sequence[ViewFilter] = ()
    columns: Sequence[str] = ()
    """In this order; all of them if it is empty."""


@dataclass(frozen=True, slots=True)
class NamedView:
    """A view that was saved."""

    uid: str
    definition: ViewDefinition = field(default_factory=lambda: ViewDefinition(""))
    by: str = ""
    at: Moment = 0
    changed_by: str = ""
    changed_at: Moment = 0


def list_views(product: CuratedProduct) -> list[NamedView]:
    """Return the views of a data product by name."""
    product.need("view_360")
    return _load(product)


def create(product: CuratedProduct, definition: ViewDefinition) -> NamedView:
    """Save a new view."""
    _need_editable(product, definition)
    ctx, there = product.ctx, _load(product)
    if len(there) >= MAX_VIEWS:
        raise ConflictError(f"The data product has {MAX_VIEWS} views.", "Delete one of them first.")
    _refuse_taken(there, definition.name)
    uid = f"view_{token_hex(8)}"
    origin = {"made_by": ctx.caller.member, "made_at": ctx.at, "changed_by": ctx.caller.member, "changed_at": ctx.at}
    here = {"resource_id": ctx.view.resource(product.uid), "id": uid}
    ctx.rows(view_table).insert(**here, **origin, **_stored(definition))
    ctx.note("create view", product.uid, after={"view": uid, "name": definition.name})
    return need_view(product, uid)


def change(product: CuratedProduct, uid: str, definition: ViewDefinition) -> NamedView:
    """Replace the definition of a view."""
    _need_editable(product, definition)
    before = need_view(product, uid)
    _refuse_taken([each for each in _load(product) if each.uid != uid], definition.name)
    if before.definition == definition:
        return before
    ctx, c = product.ctx, view_table.c
    here = (c.resource_id == ctx.view.resource(product.uid), c.id == uid)
    ctx.rows(view_table).update(*here, changed_by=ctx.caller.member, changed_at=ctx.at, **_stored(definition))
    ctx.note("change view", product.uid, before={"name": before.definition.name}, after={"name": definition.name})
    return need_view(product, uid)


def delete(product: CuratedProduct, uid: str) -> None:
    """Delete a view."""
    product.ctx.need_writable()
    product.need("delete_views")
    found = need_view(product, uid)
    c = view_table.c
    product.ctx.rows(view_table).delete(c.resource_id == product.ctx.view.resource(product.uid), c.id == uid)
    product.ctx.note("delete view", product.uid, before={"view": uid, "name": found.definition.name})


def need_view(product: CuratedProduct, uid: str) -> NamedView:
    """Return a view, or refuse if there is none of this id."""
    found = next((each for each in _load(product) if each.uid == uid), None)
    if found is None:
        raise NotFoundError(f"The data product has no view {quote(uid)}.", "List its views for the IDs.")
    return found


def _need_editable(product: CuratedProduct, definition: ViewDefinition) -> None:
    product.ctx.need_writable()
    product.need("edit_views")
    valid_name(definition.name)
    if len(definition.filters) > MAX_FILTERS:
        message = f"The view has {len(definition.filters)} filters."
        raise InvalidInputError(message, f"Use {MAX_FILTERS} at most.", field="filters")
    for n, each in enumerate(definition.filters):
        product.need_attribute(each.attribute, f"filters.{n}.attribute")
        _check_value(each, f"filters.{n}.value")
    for n, name in enumerate(definition.columns):
        if name not in ENTITY_COLUMNS:
            product.need_attribute(name, f"columns.{n}")
    if len({*definition.columns}) < len(definition.columns):
        raise InvalidInputError("A column is named twice.", "Name each once.", field="columns")


def _check_value(found: ViewFilter, place: str) -> None:
    if found.operator.takes_value != bool(found.value.strip()):
        needs = "needs a value" if found.operator.takes_value else "takes no value"
        raise InvalidInputError(f"The filter on {found.attribute} {needs}.", "Correct the filter.", field=place)
    if len(found.value) > MAX_VALUE:
        message = f"The value has {len(found.value):,} characters."
        raise InvalidInputError(message, f"Use {MAX_VALUE:,} at most.", field=place)


def _refuse_taken(views: Sequence[NamedView], name: str) -> None:
    if any(fold_name(each.definition.name) == fold_name(name) for each in views):
        raise ConflictError(f"The name {quote(name)} is taken by another view.", "Choose another one.", field="name")


def _stored(definition: ViewDefinition) -> dict[str, str]:
    filters = [[each.attribute, each.operator.value, each.value] for each in definition.filters]
    content = json.dumps({"filters": filters, "columns": list(definition.columns)}, ensure_ascii=False)
    return {"name": definition.name, "folded_name": fold_name(definition.name), "definition": content}


def _load(product: CuratedProduct) -> list[NamedView]:
    c = view_table.c
    here = c.resource_id == product.ctx.view.resource(product.uid)
    return [_view(row) for row in product.ctx.rows(view_table).select(here, order_by=(c.folded_name,))]


def _view(row: Any) -> NamedView:  # noqa: ANN401 - a row
    content = json.loads(row.definition)
    filters = tuple(ViewFilter(name, ViewOperator(operator), value) for name, operator, value in content["filters"])
    definition = ViewDefinition(row.name, filters, tuple(content["columns"]))
    return NamedView(row.id, definition, row.made_by, row.made_at, row.changed_by, row.changed_at)
