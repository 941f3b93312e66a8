"""The step that waters a bed, and the kind that it is a run of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.runs.runnable import Runnable, RunOptions, Step, StepExecutors
from lakehold.runs.step_context import StepContext, StepResult
from tests.workspaces.fifth.settings import BED


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterBed(Step):
    """Give a bed some litres of water."""

    bed: str
    litres: int


class BedPipeline(Runnable):
    """Waters a bed."""

    kind = "gardens.bed"
    trigger, schedule, stop, see = "water", "water", "water", "see"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the bed."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step."""
        del options
        settings = BED.parse(resource_metadata.load(ctx, uid).settings)
        return [WaterBed(name="water", writes=(uid,), bed=uid, litres=settings.litres)]

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse those who may no longer water."""
        del step
        ctx.need("water", uid)


def water_bed(step: WaterBed, step_ctx: StepContext) -> StepResult:
    """Water it."""
    step_ctx.log(f"{step.litres} litres for {step.bed}")
    return StepResult(rows=step.litres)


STEP_EXECUTORS: StepExecutors = {WaterBed: water_bed}
