"""A match run in a process of its own: full, incremental, refused and stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakehold.workspaces.products.matching.blocking import TooManyPairsError
from lakehold.workspaces.products.matching.match_process import (
    MatchFailedError,
    MatchSpec,
    follow_process,
    start_process,
)
from lakehold.workspaces.products.matching.match_run import run_match
from lakehold.workspaces.products.matching.model import MatchModel
from lakehold.workspaces.products.matching.options import MatchOptions
from lakehold.workspaces.products.matching.record_score import RecordScorer
from tests.workspaces.products.matching.records import made_up

Run = Callable[..., Path]
_TOLERANCE = 0.05
"""An incremental run uses the frequencies of today with the model of the last full run."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that matches a table of people and returns the folder of the output."""

    def run(name: str, table: pa.Table, **given: str) -> Path:
        _, attributes = made_up("people", records=1)
        pq.write_table(table, tmp_path / f"{name}.in.parquet")
        kinds = tuple((each.name, each.type.value) for each in attributes)
        spec = MatchSpec(
            records=str(tmp_path / f"{name}.in.parquet"),
            output=str(tmp_path / name),
            attributes=kinds,
            options=MatchOptions(),
            **given,
        )
        run_match(MatchSpec.from_json(spec.to_json()), lambda _: None)
        return tmp_path / name

    return run


def pairs_of(folder: Path) -> dict[tuple[str, str], float]:
    rows = pq.read_table(folder / "pairs.parquet").to_pylist()
    assert all(row["record_a"] < row["record_b"] for row in rows)
    return {(row["record_a"], row["record_b"]): row["probability"] for row in rows}


def test_an_incremental_run_gives_the_pairs_of_a_full_run(run: Run, tmp_path: Path) -> None:
    table, _ = made_up("people", records=1_200)
    before = table.slice(0, 1_150)
    changed = [*range(10, 20), *range(1_150, 1_200)]
    cities = table["city__key"].to_pylist()
    for place in range(10, 20):
        cities[place] = "elsewhere"
    after = table.set_column(table.column_names.index("city__key"), "city__key", pa.array(cities, pa.string())).slice(3)
    gone = table["record"].to_pylist()[:3]
    records = [*(table["record"].to_pylist()[place] for place in changed), *gone]
    pq.write_table(pa.table({"record": records}), tmp_path / "changed.parquet")

    first = run("first", before)
    model = str(first / "model.json")
    again = run(
        "again", after, model=model, changed=str(tmp_path / "changed.parquet"), previous=str(first / "pairs.parquet")
    )
    full = pairs_of(run("full", after, model=model))
    touched = set(pq.read_table(again / "touched.parquet")["record"].to_pylist())
    assert touched >= set(records)
    assert len(touched) < 300
    merged = pairs_of(again)
    near = {pair for pair in full.keys() ^ merged.keys() if (full | merged)[pair] > 0.3 + _TOLERANCE}
    assert not near
    assert all(merged[pair] == pytest.approx(full[pair], abs=_TOLERANCE) for pair in full.keys() & merged.keys())


def test_answers_of_curators_take_part_when_there_are_enough(run: Run, tmp_path: Path) -> None:
    table, _ = made_up("people", records=600)
    first = run("first", table)
    doubted = [pair for pair, value in pairs_of(first).items() if value < 0.999]
    answers = [{"record_a": a, "record_b": b, "same": False} for a, b in doubted]
    few, labels = tmp_path / "few.parquet", tmp_path / "labels.parquet"
    pq.write_table(pa.Table.from_pylist(answers[:3]), few)
    pq.write_table(pa.Table.from_pylist(answers * 20), labels)
    assert (run("few", table, labels=str(few)) / "model.json").read_text() == (first / "model.json").read_text()
    taught = pairs_of(run("taught", table, labels=str(labels)))
    assert sum(taught.get(pair, 0) for pair in doubted) < sum(pairs_of(first)[pair] for pair in doubted)


def test_a_scorer_says_what_the_run_says_and_why(run: Run) -> None:
    table, _ = made_up("people", records=800)
    folder = run("first", table)
    scorer = RecordScorer.read((folder / "model.json").read_text(), str(folder / "frequencies.parquet"))
    records = {row["record"]: row for row in table.to_pylist()}
    for (a, b), probability in list(pairs_of(folder).items())[:40]:
        score = scorer.score(records[a], [records[b], {}])
        assert score[0].probability == pytest.approx(probability, abs=0.03)
        assert score[0].reasons
        assert score[1].reasons == ()
    assert scorer.score(records[a], []) == []


def test_a_model_is_the_same_after_it_was_kept(run: Run) -> None:
    table, _ = made_up("people", records=300)
    text = (run("first", table) / "model.json").read_text()
    assert MatchModel.from_json(text).to_json() == text


def test_a_process_tells_its_progress_and_its_refusal(tmp_path: Path) -> None:
    table, attributes = made_up("people", records=400)
    pq.write_table(table, tmp_path / "in.parquet")
    spec = MatchSpec(
        records=str(tmp_path / "in.parquet"),
        output=str(tmp_path / "out"),
        attributes=tuple((each.name, each.type.value) for each in attributes),
        options=MatchOptions(blocking=(("city",),), max_pairs=5),
    )
    (tmp_path / "spec.json").write_text(spec.to_json())
    said: list[str] = []
    with pytest.raises(TooManyPairsError, match="would compare") as error:
        follow_process(start_process(tmp_path / "spec.json"), said.append)
    assert error.value.field == "match.blocking"
    assert said
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_process_that_fails_or_is_killed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{}")
    with pytest.raises(MatchFailedError, match="Matching failed"):
        follow_process(start_process(tmp_path / "spec.json"), print)
    process = start_process(tmp_path / "spec.json")
    process.kill()
    with pytest.raises(MatchFailedError):
        follow_process(process, print)


def test_a_report_has_the_figures_of_the_run(run: Run) -> None:
    table, _ = made_up("people", records=500)
    report = json.loads((run("first", table) / "report.json").read_text())
    assert report["records"] == 500
    assert report["rules"][0].keys() == {"name", "keys", "custom", "pairs", "narrowed", "left_out"}
    assert {"load", "blocking", "training", "scores"} <= report["seconds"].keys()
