"""All figures of the access engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import check_bench, explain_bench, growth_bench, index_bench, listing_bench, review_bench
from benchmarks.figures import Result, measure
from benchmarks.world import world

_AGREE = (check_bench.agree, listing_bench.agree, explain_bench.agree)
_SECTIONS = (check_bench.figures, listing_bench.figures, explain_bench.figures, index_bench.figures)


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Set up, check that all contenders agree, then measure. Each section is yielded as soon as it is measured."""
    with world(say) as everything:
        say("seeing that everybody answers alike")
        for agree in _AGREE:
            agree(everything)
        for section in _SECTIONS:
            yield measure(section(everything), say)
        with review_bench.spark() as spark:
            say("reviewing on Spark")
            review_bench.agree(everything, spark)
            yield measure(review_bench.figures(everything, spark), say)
    yield measure(growth_bench.figures(say), say, rounds=1)
