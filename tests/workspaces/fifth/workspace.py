"""The descriptor of gardens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehold.workspaces.descriptor import LINEAGE_PAGE, RUNS_PAGE, TRIGGERS_PAGE, KindDescriptor, Workspace

if TYPE_CHECKING:
    from fastapi import APIRouter

    from lakehold.kit.settings_schema import SettingsSchema
    from lakehold.lake.lineage import Lineage
    from lakehold.runs.runnable import Runnable, StepExecutors


def _runnables() -> Sequence[Runnable]:
    from tests.workspaces.fifth.steps import BedPipeline  # noqa: PLC0415

    return (BedPipeline(),)


def _settings_schemas() -> Mapping[str, SettingsSchema[Any]]:
    from tests.workspaces.fifth.settings import BY_KIND  # noqa: PLC0415

    return BY_KIND


def _executors() -> StepExecutors:
    from tests.workspaces.fifth.steps import STEP_EXECUTORS  # noqa: PLC0415

    return STEP_EXECUTORS


def _page_routers() -> Sequence[APIRouter]:
    from tests.workspaces.fifth.pages import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _api_routers() -> Sequence[APIRouter]:
    from tests.workspaces.fifth.api import ROUTERS  # noqa: PLC0415

    return ROUTERS


def _lineage() -> Mapping[str, Lineage]:
    from lakehold.lake.lineage import Lineage  # noqa: PLC0415
    from lakehold.workspaces.graph import edge_sources, edge_targets  # noqa: PLC0415

    return {
        "gardens.bed": Lineage(
            upstream_ids=lambda ctx, uid: edge_targets(ctx, uid, "fed_by"),
            downstream_ids=lambda ctx, uid: edge_sources(ctx, uid, "fed_by"),
            no_upstream="No bed feeds it.",
            no_downstream="It feeds no bed.",
        )
    }


WORKSPACE = Workspace(
    name="gardens",
    folder=Path(__file__).parent,
    root=KindDescriptor(name="garden", icon="boxes"),
    kinds=(
        KindDescriptor(
            name="bed",
            icon="box",
            overview="bed",
            create_form="beds/new",
            pages=(RUNS_PAGE, TRIGGERS_PAGE, LINEAGE_PAGE),
        ),
    ),
    pages=(RUNS_PAGE,),
    settings_schemas=_settings_schemas,
    runnables=_runnables,
    executors=_executors,
    page_routers=_page_routers,
    api_routers=_api_routers,
    lineage=_lineage,
)
