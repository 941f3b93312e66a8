"""All figures of the access engine."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import check_bench, explain_bench, growth_bench, index_bench, listing_bench, review_bench
from benchmarks.figures import Result, measure
from benchmarks.world import world

_AGREE = (check_bench.agree, listing_bench.agree, explain_bench.agree)
_SECTIONS = (check_bench.figures, listing_bench.figures, explain_bench.figures, index_bench.figures)


def run(say: Callable[[str], None]) -> list[Result]:
    """Set up, see that everybody answers alike, measure."""
    with world(say) as everything:
        say("seeing that everybody answers alike")
        for agree in _AGREE:
            agree(everything)
        figures = [figure for section in _SECTIONS for figure in section(everything)]
        results = measure(figures, say)
        with review_bench.spark() as spark:
            say("reviewing on Spark")
            review_bench.agree(everything, spark)
            reviewed = measure(review_bench.figures(everything, spark), say)
    grown = measure(growth_bench.figures(say), say, rounds=1)
    return [*results, *reviewed, *grown]
