"""Transfer of rows in and out, for the executors of all workspaces: probes of sources, and the state of deliveries.

Only a worker imports this.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryRequest, DeliveryResult
from lakehold.connectors.files.source import FileSource
from lakehold.connectors.settings import DestinationSettings, SyncMode
from lakehold.connectors.sources.source import SourceConnector
from lakehold.runs.step_context import StepContext, StepResult

_SAMPLE_ROWS = 20


def probe_source(source: SourceConnector, stream: str) -> dict[str, Any]:
    """Return as JSON a sample of a stream, or without a stream the streams that there are."""
    if not stream:
        source.check()
        return {"streams": [asdict(each) for each in source.streams()]}
    found = asdict(source.sample(stream, _SAMPLE_ROWS))
    if isinstance(source, FileSource):
        found["format"] = asdict(source.stream_format(stream))
    return found


def sync_mode(mode: SyncMode, *, reload: bool) -> SyncMode:
    """Return the sync mode of a run: a reload of an incremental stream replaces everything."""
    return SyncMode.FULL if reload and mode in {SyncMode.INCREMENTAL, SyncMode.APPEND} else mode


def with_report_name(to: DestinationSettings, name: str) -> DestinationSettings:
    """Return the settings with a name for the file and a subject for the mail, where these are empty."""
    empty = [each for each in ("name", "subject") if getattr(to, each, None) == ""]
    return replace(to, **dict.fromkeys(empty, name))  # type: ignore[type-var]


def delivery_result(step_ctx: StepContext, sent: DeliveryResult, **more: object) -> StepResult:
    """Log what was delivered and return it as the result of the step."""
    step_ctx.log(f"{sent.rows:,} rows delivered: {sent.said or ', '.join(sent.places)}")
    if sent.words:
        step_ctx.log(sent.words, "info" if sent.sure else "warning")
    return StepResult(sent.rows, sent.size, state={"places": list(sent.places), "sure": sent.sure, **more})


@dataclass(frozen=True, slots=True)
class StepDeliveryProgress:
    """The progress of a delivery, saved with its step."""

    step_ctx: StepContext

    def read(self) -> DeliveryProgress | None:
        """Return the progress, or None if the delivery was never begun."""
        saved: Mapping[str, Any] = self.step_ctx.load_progress()
        if not saved:
            return None
        return DeliveryProgress(**{**saved, "refused": tuple(saved["refused"])})

    def keep(self, reached: DeliveryProgress) -> None:
        """Save the progress."""
        self.step_ctx.save_progress(asdict(reached))


def delivery_request(step_ctx: StepContext, table: str = "") -> DeliveryRequest:
    """Return the request of a step's delivery."""
    return DeliveryRequest(table, step_ctx.mark, step_ctx.retained_folder, StepDeliveryProgress(step_ctx))
