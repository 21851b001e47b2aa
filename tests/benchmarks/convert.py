"""What converting costs: recognising, parsing, converting, and jinja2 compiling the result, in one warm process.

``python -m tests.benchmarks.convert`` prints milliseconds and, since machines differ, ratios to what the grammar alone
takes to recognise the same text. Converting mimo.gotmpl in no more than four times that is the aim.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jinja2

import transpiler
from transpiler.gotmpl import grammar, parser
from transpiler.ollama.functions import FUNCTIONS
from transpiler.source import Source

from .timing import print_table, race

ROOT = Path(__file__).parents[2]
MIMO = ROOT / "go_templates" / "mimo.gotmpl"
AIM = 4.0


def recognise(text: str) -> int:
    """Match `text` piece by piece with the grammar and throw the nodes away; return the number of pieces."""
    rule = grammar.piece()
    position = pieces = 0
    while position < len(text):
        position = rule.match(text, position).end
        pieces += 1
    return pieces


def steps(text: str) -> dict[str, Callable[[], object]]:
    """Return the measured steps over one template, the grammar alone first."""
    jinja = transpiler.transpile(text).jinja
    environment = jinja2.Environment(extensions=["jinja2.ext.loopcontrols"])
    return {
        "recognise (grammar alone)": partial(recognise, text),
        "parse (to our tree)": partial(parser.parse, Source(text), FUNCTIONS),
        "convert": partial(transpiler.transpile, text),
        "jinja2 compiles the result": partial(environment.compile, jinja),
    }


def report_steps(path: Path) -> None:
    """Print what each step takes, and how many times the first that is."""
    taken = steps(path.read_text(encoding="utf-8"))
    run = race(*taken.values(), rounds=15)
    rows = [(name, f"{run.best(n) * 1e3:.2f}", f"{run.ratio(n):.2f}") for n, name in enumerate(taken)]
    verdict = "within" if run.ratio(list(taken).index("convert")) <= AIM else "over"
    print_table(f"{path.name}: {verdict} the aim of {AIM:g} times the grammar", ("step", "ms", "times"), rows)


def report_templates() -> None:
    """Print what converting each of our own templates takes."""
    rows = []
    for path in sorted((ROOT / "go_templates").glob("*.gotmpl")):
        text = path.read_text(encoding="utf-8")
        try:
            run = race(partial(recognise, text), partial(transpiler.transpile, text))
        except transpiler.TemplateError as error:
            rows.append((path.stem, str(len(text)), str(error).splitlines()[0], ""))
            continue
        rows.append((path.stem, str(len(text)), f"{run.best(1) * 1e3:.2f}", f"{run.ratio(1):.2f}"))
    print_table("Every template", ("template", "characters", "ms", "times"), rows)


def report_growth(sizes: tuple[int, ...] = (10, 100, 400)) -> None:
    """Print time and peak memory for long inputs: both have to grow with the length and no faster."""
    rows = []
    for size in sizes:
        text = (
            "{{ if .System }}{{ .System }} and some text.\n{{ end }}" * size
            + "{{ range .Messages }}{{ .Content }}{{ end }}"
        )
        start = time.perf_counter()
        transpiler.transpile(text)
        seconds = time.perf_counter() - start
        tracemalloc.start()
        transpiler.transpile(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        rows.append((str(len(text)), f"{seconds * 1e6 / len(text):.2f}", f"{peak / len(text):.0f}"))
    print_table("Long inputs", ("characters", "us each", "bytes each"), rows)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("template", nargs="?", type=Path, default=MIMO, help="the template to take apart")
    chosen = options.parse_args()
    print(f"Python {sys.version.split()[0]}")
    report_steps(chosen.template)
    report_templates()
    report_growth()


if __name__ == "__main__":
    main()
