"""Figures as a table for people and as JSON for machines."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, Result

_WIDTH = 160
_NAME = 68
"""Wide enough for most names, so that one section stands below the other."""


def show(results: Sequence[Result], console: Console) -> None:
    """Print the table: one line for each figure and its first rival, and one for every other rival."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("figure", min_width=_NAME)
    table.add_column("ours", justify="right")
    table.add_column("peer or floor", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("bar", justify="right")
    table.add_column("")
    for result in results:
        for row in _rows(result):
            table.add_row(*row)
    console.print(table)
    console.file.flush()
    for note in dict.fromkeys(result.figure.note for result in results if result.figure.note):
        console.print(note, style="dim", highlight=False)


def console() -> Console:
    """Wide enough for the table also where output is not a terminal."""
    found = Console()
    return found if found.is_terminal else Console(width=_WIDTH)


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    figure = result.figure
    ours = format_value(result.best(), figure.unit)
    peers = sorted(figure.peers, key=result.best)
    rivals = [*peers, *figure.floor] or [""]
    for place, rival in enumerate(rivals):
        beside = f"{rival} {format_value(result.best(rival), figure.unit)}" if rival else "-"
        ratio = f"{result.ratio(rival):.3g}×" if rival else ""
        if place == 0:
            yield figure.name, ours, beside, ratio, bar(figure), _verdict(result)
        else:
            yield "", "", f"[dim]{beside}[/]", f"[dim]{ratio}[/]", "", ""


def bar(figure: Figure) -> str:
    """Return the limit of a figure as text."""
    parts = [f"≤ {format_value(figure.most, figure.unit)}"] if figure.most is not None else []
    parts += [f"≥ {figure.times:g}×"] if figure.times is not None else []
    return ", ".join(parts)


def _verdict(result: Result) -> str:
    return {True: "[green]held[/]", False: "[red bold]missed[/]", None: ""}[result.held]


def format_value(value: float, unit: str) -> str:
    """Format a sample with three digits and a suitable unit."""
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB" if value >= 1e6 else f"{value / 1e3:.0f} kB"
    if unit == "s":
        for size, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if value >= size:
                return f"{value / size:.3g} {name}" if value < 100 * size else f"{value / size:.0f} {name}"
        return f"{value * 1e9:.0f} ns"
    return f"{value:.3g}{unit}"


def write(results: Sequence[Result], path: Path) -> None:
    """Everything that was measured, in seconds and bytes."""
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
    }
    figures = [
        {
            "name": result.figure.name,
            "unit": result.figure.unit,
            "ours": result.best(),
            "peers": {name: result.best(name) for name in result.figure.peers},
            "floor": {name: result.best(name) for name in result.figure.floor},
            "bar": {"most": result.figure.most, "times": result.figure.times},
            "held": result.held,
            "samples": result.samples,
            "note": result.figure.note,
        }
        for result in results
    ]
    path.write_text(json.dumps({"machine": machine, "figures": figures}, indent=2) + "\n")
