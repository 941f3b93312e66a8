"""A match run in a process of its own, which can be stopped and may run out of memory without harm to the worker.

`python -m lakehold.workspaces.products.matching.match_process <spec.json>` reads Parquet and writes Parquet. Each line
that it prints is a JSON object: `{"progress": …}`, or at the end `{"error": …}`. It exits with 0 when the output is
complete, with 2 for an error that people can act on, and with 1 for any other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.matching.blocking import TooManyPairsError
from lakehold.workspaces.products.matching.comparisons import MatchedAttribute
from lakehold.workspaces.products.matching.options import MatchOptions

PAIRS, TOUCHED, FREQUENCIES = "pairs.parquet", "touched.parquet", "frequencies.parquet"
MODEL, REPORT = "model.json", "report.json"
_REFUSED = 2


class MatchFailedError(LakeholdError):
    """The process that matches records ended without a result."""

    code = "match_failed"
    status = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """The input of a match process, and where it writes; all paths are of Parquet files, or patterns of several."""

    records: str
    output: str
    attributes: tuple[tuple[str, str], ...]
    """The names and types of the matched attributes."""
    options: MatchOptions = field(default_factory=MatchOptions)
    model: str = ""
    """A model that is used as it is; by default one is trained."""
    labels: str = ""
    """Answers of curators: record_a, record_b, same."""
    changed: str = ""
    """The records (column `record`) that are new, changed or deleted: only their pairs are made anew. It needs a model,
    and the pairs of the run before."""
    previous: str = ""
    """The pairs of the run before; those that cannot have changed are taken over, so that the output is complete."""

    def to_json(self) -> str:
        """Return the specification as JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> MatchSpec:
        """Read a specification."""
        value = json.loads(text)
        options = value.pop("options")
        options["blocking"] = tuple(map(tuple, options["blocking"]))
        attributes = tuple((name, kind) for name, kind in value.pop("attributes"))
        return cls(options=MatchOptions(**options), attributes=attributes, **value)


def start_process(spec: Path) -> subprocess.Popen[str]:
    """Start the process of a specification, which its caller may kill."""
    command = [sys.executable, "-m", __name__ if __name__ != "__main__" else __spec__.name, str(spec)]
    # Nothing of the worker's environment is needed there, and its secrets are no business of it.
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)  # noqa: S603


def follow_process(process: subprocess.Popen[str], say: Callable[[str], None]) -> None:
    """Pass on the progress of a process until it ends; raise the error that it ended with."""
    error: dict[str, str] = {}
    for line in process.stdout or ():
        event = json.loads(line)
        if "error" in event:
            error = event["error"]
        else:
            say(event["progress"])
    _, rest = process.communicate()
    if error:
        raise _refusal(error)
    if process.returncode:
        last = rest.strip().splitlines()[-1:] or [f"it ended with {process.returncode}"]
        hint = "Run it again; if it had too little memory, give it more or use the Spark engine."
        raise MatchFailedError(f"Matching failed: {last[0]}", hint, foreign=last[0])


def _refusal(error: dict[str, str]) -> LakeholdError:
    kind = next((each for each in (TooManyPairsError, InvalidInputError) if each.code == error["code"]), LakeholdError)
    return kind(error["message"], error["hint"], field=error["field"])


def main(spec: Path, out: IO[str]) -> int:
    """Do what a specification says."""
    from lakehold.workspaces.products.matching.match_run import run_match  # noqa: PLC0415 - loads Splink

    def tell(**event: object) -> None:
        print(json.dumps(event), file=out, flush=True)

    try:
        run_match(MatchSpec.from_json(spec.read_text()), lambda text: tell(progress=text))
    except LakeholdError as error:
        tell(error={"message": error.message, "hint": error.hint, "field": error.field, "code": error.code})
        return _REFUSED
    return 0


def matched_attributes(spec: MatchSpec) -> list[MatchedAttribute]:
    """Return the attributes of a specification."""
    return [MatchedAttribute(name, AttributeType(kind)) for name, kind in spec.attributes]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.stdout))
