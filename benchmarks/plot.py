"""A plot as one small SVG that can be read on light and on dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

_INK = "#768390"
_COLOURS = ("#2f81f7", "#d29922", "#3fb950")
_STYLE = """<style>
@media (prefers-color-scheme: light) { text { fill: #1f2328 !important } }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 !important } }
</style>"""
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lakehold",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a plot."""

    across: str
    up: str
    ticks: Sequence[int]
    unit: str
    scale: float
    """How many of the unit a second is."""


def draw(path: Path, taken: Mapping[str, Mapping[int, float]], how: Axes) -> None:
    """Draw one line for each name, with seconds by size."""
    with plt.rc_context(_SETTINGS):
        figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        for (name, by_size), colour in zip(taken.items(), _COLOURS, strict=False):
            sizes, times = list(by_size), [seconds * how.scale for seconds in by_size.values()]
            axes.plot(sizes, times, marker="o", color=colour, linewidth=2, label=name)
            end = f"{times[-1]:.1f} {how.unit}"
            axes.annotate(end, (sizes[-1], times[-1]), (8, 0), textcoords="offset points", va="center")
        axes.set_xscale("log")
        axes.set_xlim(how.ticks[0] * 0.8, how.ticks[-1] * 2.2)
        axes.set_ylim(0, None)
        axes.set_xticks(list(how.ticks), [f"{tick:,}" for tick in how.ticks])
        axes.set_xlabel(how.across)
        axes.set_ylabel(how.up)
        axes.grid(visible=True, axis="y", color=_INK, alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="upper left")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
        plt.close(figure)
    text = path.read_text()
    path.write_text(text.replace("<defs>", f"{_STYLE}\n <defs>", 1))
