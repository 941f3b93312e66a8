"""Chains of visual steps over made-up inputs, from settings as a task has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, SettingsSchema
from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepColumn
from lakehold.workspaces.spaces.tasks.visual_steps.compiler import CompiledChain, compile_steps
from lakehold.workspaces.spaces.tasks.visual_steps.settings import VisualStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(SettingsRecord):
    """Steps as a task's settings have them."""

    steps: tuple[VisualStep, ...]


CHAIN = SettingsSchema[Chain]("transform", Chain)
Settings = Mapping[str, object]


def columns(**types: str | None) -> list[StepColumn]:
    return [StepColumn(name, kind) for name, kind in types.items()]


SCHEMAS = {
    "landing.orders": columns(id="long", customer="long", status="string", amount="decimal(10, 2)", day="date"),
    "landing.customers": columns(customer="long", name="string", status="string"),
    "crm.sales.old_orders": columns(id="int", status="string", note="string"),
}
NAMES = [each.name for each in SCHEMAS["landing.orders"]]


def compiled(*steps: Settings, schemas: Mapping[str, list[StepColumn]] = SCHEMAS) -> CompiledChain:
    first = next(iter(schemas))
    return compile_steps(first, CHAIN.parse({"steps": list(steps)}).steps, schemas)


def refusal(*steps: Settings) -> InvalidSettingError:
    with pytest.raises(InvalidSettingError) as refused:
        compiled(*steps).check()
    return refused.value


def condition(column: str, operator: str = "is empty", **rest: object) -> Settings:
    return {"step": "filter", "conditions": [{"column": column, "operator": operator, **rest}]}
