"""Timing that a busy machine disturbs little, and tables to print it in."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence


def best_of(run: Callable[[], object], rounds: int = 5, at_least: float = 0.02) -> float:
    """Return the seconds of the fastest round of `run`, each round repeated until it takes `at_least` seconds.

    The first call is not measured: it warms caches up.
    """
    run()
    start = time.perf_counter()
    run()
    repeats = max(1, round(at_least / max(time.perf_counter() - start, 1e-9)))
    collecting = gc.isenabled()
    gc.disable()
    try:
        return min(_round(run, repeats) for _ in range(rounds)) / repeats
    finally:
        if collecting:
            gc.enable()


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
