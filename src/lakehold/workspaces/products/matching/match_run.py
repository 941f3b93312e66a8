"""One match run over Parquet files, full or incremental."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from lakehold.workspaces.products.matching.engine import MatchEngine
from lakehold.workspaces.products.matching.match_process import (
    FREQUENCIES,
    MODEL,
    PAIRS,
    REPORT,
    TOUCHED,
    MatchSpec,
    matched_attributes,
)
from lakehold.workspaces.products.matching.model import MatchModel
from lakehold.workspaces.products.matching.options import Progress


def run_match(spec: MatchSpec, say: Progress) -> None:
    """Match the records of a specification and write what is found; the report comes last."""
    engine = MatchEngine(matched_attributes(spec), spec.options, say)
    try:
        engine.load(spec.records)
        plan = engine.plan_blocking()
        model = _stored_model(engine, spec)
        # A model is trained on all pairs, and what has not changed is taken over: without these it is a full run.
        incremental = bool(spec.changed and spec.previous and model)
        if incremental:
            engine.touch(spec.changed, spec.previous)
        engine.block(plan, "touched" if incremental else "")
        model = model or engine.train(*_labels(engine, spec.labels))
        engine.score(model)
        if incremental:
            engine.take_over(spec.previous)
        engine.sum_up()
        _write(engine, model, Path(spec.output), incremental=incremental)
    finally:
        engine.close()


def _stored_model(engine: MatchEngine, spec: MatchSpec) -> MatchModel | None:
    model = MatchModel.from_json(Path(spec.model).read_text()) if spec.model else None
    return model if model and model.fits(engine.attributes) else None


def _labels(engine: MatchEngine, path: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    if not path:
        return [], []
    rows = engine.connection.execute(
        "select record_a, record_b, same from read_parquet(?) order by all", [path]
    ).fetchall()
    return [(a, b) for a, b, same in rows if same], [(a, b) for a, b, same in rows if not same]


def _write(engine: MatchEngine, model: MatchModel, folder: Path, *, incremental: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    engine.write("select * from pairs order by record_a, record_b", folder / PAIRS)
    engine.write(engine.frequencies_query(model), folder / FREQUENCIES)
    if incremental:
        engine.write("select record from touched_records order by record", folder / TOUCHED)
    (folder / MODEL).write_text(model.to_json())
    (folder / REPORT).write_text(json.dumps(asdict(engine.report), indent=1))
