"""Timing that a busy machine disturbs little, and tables to print it in."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Race:
    """What several ways took, round by round: `rounds[n][k]` are the seconds of way `k` in round `n`."""

    rounds: Sequence[Sequence[float]]

    def best(self, way: int) -> float:
        """Return the fewest seconds that a way took."""
        return min(seconds[way] for seconds in self.rounds)

    def ratio(self, way: int, base: int = 0) -> float:
        """Return how many times `base` a way took: the median over the rounds, in each of which both ran."""
        return median(seconds[way] / seconds[base] for seconds in self.rounds)


def race(*ways: Callable[[], object], rounds: int = 5, at_least: float = 0.02) -> Race:
    """Run all `ways` in turn, so that what slows the machine down for a while slows all of them down.

    In each round each way is repeated until it takes `at_least` seconds. The first calls are not measured: they warm
    caches up.
    """
    repeats = [_repeats(run, at_least) for run in ways]
    collecting = gc.isenabled()
    gc.disable()
    try:
        return Race([[_round(run, n) / n for run, n in zip(ways, repeats, strict=True)] for _ in range(rounds)])
    finally:
        if collecting:
            gc.enable()


def _repeats(run: Callable[[], object], at_least: float) -> int:
    run()
    return max(1, round(at_least / max(_round(run, 1), 1e-9)))


def _round(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return time.perf_counter() - start


def quantile(values: Iterable[float], share: float) -> float:
    """Return the value that `share` of `values` do not exceed (the nearest one, none made up between two)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print `rows` under `headings`, the first column to the left and the others to the right."""
    cells = [tuple(headings), *(tuple(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    print(f"\n{title}")
    for row in cells:
        first, *rest = (
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *rest]).rstrip())
