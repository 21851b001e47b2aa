"""What a message costs: emitted templates beside the official ones of the same models, one chat, one engine.

``python -m tests.benchmarks.render`` prints tables: our own templates at 200 and 2,000 messages, and where neighbours
are merged; the conversions of the corpus against the official template of the same model, 200 messages of one chat, and
the slowest of those; and 20 tools. The corpus is looked for in ``../shared/corpus``; without it only the first tables
are printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import transpiler
from transpiler.verify.engines import ENGINES, REFERENCE, Engine, EngineError

from .timing import Race, print_table, quantile, race

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
SHORT, LONG = 200, 2_000
SLOWEST = 10
SENTENCE = "The quick brown fox jumps over the lazy dog, and then some more of it follows. "


class Cost(NamedTuple):
    """Microseconds a message, in a short and in a long chat."""

    short: float
    long: float

    @property
    def growth(self) -> float:
        """How much dearer a message of the long chat is: 1 where the cost is linear."""
        return self.long / self.short


class Pair(NamedTuple):
    """A converted template and the official one of the same model, and how many times the official cost ours is."""

    name: str
    ours: Cost
    official: Cost
    ratio: float


def chat(messages: int) -> dict[str, object]:
    """Return a chat of `messages` messages, about 140 characters each, that every template accepts."""
    turns = [
        {"role": "user" if index % 2 == 0 else "assistant", "content": f"{index}. {SENTENCE}{SENTENCE[:60]}"}
        for index in range(messages - 1)
    ]
    return {"messages": turns, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}


def merging_chat(messages: int) -> dict[str, object]:
    """Return a chat in which every message has a neighbour of its own role."""
    turns = [
        {"role": "user" if index % 4 < 2 else "assistant", "content": f"{index}. {SENTENCE}"}
        for index in range(messages)
    ]
    return {"messages": turns, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}


def tools_chat(_: int = 0) -> dict[str, object]:
    """Return a short chat with 20 tools of 6 parameters."""
    properties = {
        f"parameter_{n}": {"type": "string", "description": SENTENCE, "enum": ["a", "b", "c"]} for n in range(6)
    }
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{n}",
                "description": SENTENCE,
                "parameters": {"type": "object", "properties": properties, "required": ["parameter_0"]},
            },
        }
        for n in range(20)
    ]
    return {**chat(2), "tools": tools}


def cost(engine: Engine, template: str) -> Cost:
    """Return what a message costs in `template`.

    Raises:
        EngineError: the template does not accept the chat.
    """
    run = race(*(partial(engine.render, template, chat(messages)) for messages in (SHORT, LONG)))
    return _cost(run, 0)


def _cost(run: Race, first: int) -> Cost:
    return Cost(run.best(first) / SHORT * 1e6, run.best(first + 1) / LONG * 1e6)


def pair(engine: Engine, name: str, ours: str, official: str) -> Pair:
    """Measure two templates side by side.

    Raises:
        EngineError: one of the templates does not accept the chat.
    """
    contexts = (chat(SHORT), chat(LONG))
    run = race(*(partial(engine.render, template, context) for template in (ours, official) for context in contexts))
    return Pair(name, _cost(run, 0), _cost(run, 2), run.ratio(0, 2))


def own_templates() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every template in jinja_out."""
    for path in sorted((ROOT / "jinja_out").glob("*.jinja")):
        yield path.stem, path.read_text(encoding="utf-8")


def corpus_pairs(corpus: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (name, Go template, official Jinja) for the models of which both are there."""
    lines = (corpus / "templates.jsonl").read_text(encoding="utf-8").splitlines()
    sources: Mapping[str, str] = {entry["id"]: entry["template"] for entry in map(json.loads, lines)}
    with gzip.open(corpus / "upstream_jinja.jsonl.gz", "rt", encoding="utf-8") as models:
        for entry in map(json.loads, models):
            if entry["id"] in sources:
                yield entry["name"], sources[entry["id"]], entry["jinja"]


def compare(engine: Engine, corpus: Path) -> tuple[list[Pair], list[str]]:
    """Return the measured pairs, and why the others could not be."""
    pairs: list[Pair] = []
    left_out: list[str] = []
    for name, source, official in corpus_pairs(corpus):
        try:
            converted = transpiler.transpile(source, name=name).jinja
        except transpiler.TemplateError as error:
            left_out.append(f"{name}: not converted: {str(error).splitlines()[0]}")
            continue
        try:
            pairs.append(pair(engine, name, converted, official))
        except EngineError as error:
            left_out.append(f"{name}: {str(error).splitlines()[0][:90]}")
    return pairs, left_out


def report_own(engine: Engine) -> None:
    """Print the cost of our own templates, the dearest first."""
    costs = sorted(((name, cost(engine, text)) for name, text in own_templates()), key=lambda item: -item[1].long)
    rows = [(name, f"{it.short:.1f}", f"{it.long:.1f}", f"{it.growth:.2f}") for name, it in costs]
    print_table(f"jinja_out, us a message in {engine.name}", ("template", str(SHORT), str(LONG), "growth"), rows)


def report_merging(engine: Engine) -> None:
    """Print what merging costs a message, and how that grows with the chat."""
    rows = []
    for name, text in own_templates():
        if name.endswith(".fim"):
            continue
        try:
            run = race(*(partial(engine.render, text, merging_chat(messages)) for messages in (SHORT, LONG)), rounds=3)
        except EngineError:
            continue
        it = _cost(run, 0)
        rows.append((it.growth, (name, f"{it.short:.1f}", f"{it.long:.1f}", f"{it.growth:.2f}")))
    slowest = [row for _, row in sorted(rows, reverse=True)[:SLOWEST]]
    print_table("Every two neighbours merged, us a message", ("template", str(SHORT), str(LONG), "growth"), slowest)


def report_tools(engine: Engine, corpus: Path) -> None:
    """Print what 20 tools of 6 parameters cost in ours and in the official templates."""
    rows = []
    for name, source, official in corpus_pairs(corpus):
        try:
            ours = transpiler.transpile(source, name=name).jinja
            if "tools" not in official or "tools_json" not in ours:
                continue
            run = race(*(partial(engine.render, text, tools_chat()) for text in (ours, official)), rounds=3)
        except (transpiler.TemplateError, EngineError):
            continue
        rows.append(
            (run.ratio(0, 1), (name, f"{run.best(0) * 1e3:.2f}", f"{run.best(1) * 1e3:.2f}", f"{run.ratio(0, 1):.2f}"))
        )
    slowest = [row for _, row in sorted(rows, reverse=True)[:SLOWEST]]
    title = f"20 tools of 6 parameters: the slowest of {len(rows)}, ms"
    print_table(title, ("template", "ours", "official", "ratio"), slowest)


def report_corpus(engine: Engine, corpus: Path) -> None:
    """Print the ratios to the official templates, and name the slowest."""
    pairs, left_out = compare(engine, corpus)
    if pairs:
        ours, official = [it.ours for it in pairs], [it.official for it in pairs]
        rows = [
            ("ours, us a message", *spread([it.short for it in ours], ".1f")),
            ("official, us a message", *spread([it.short for it in official], ".1f")),
            ("ours / official", *spread([it.ratio for it in pairs], ".2f")),
            ("growth of ours", *spread([it.growth for it in ours], ".2f")),
        ]
        title = f"{len(pairs)} conversions beside the official templates, {SHORT} messages"
        print_table(title, ("", "median", "nine tenths", "most"), rows)
        slowest = sorted(pairs, key=lambda it: -it.ratio)[:SLOWEST]
        details = [
            (it.name, f"{it.ours.short:.1f}", f"{it.official.short:.1f}", f"{it.ratio:.2f}", f"{it.ours.growth:.2f}")
            for it in slowest
        ]
        print_table("The slowest", ("template", "ours", "official", "ratio", "growth"), details)
    if left_out:
        print(f"\nNot measured ({len(left_out)}):")
        print("\n".join(f"  {line}" for line in left_out))


def spread(values: list[float], form: str) -> tuple[str, str, str]:
    """Return the median, the nine-tenths value and the largest, as text."""
    return format(quantile(values, 0.5), form), format(quantile(values, 0.9), form), format(max(values), form)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=REFERENCE, choices=list(ENGINES), help="the engine to measure in")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where the corpus is")
    options = parser.parse_args()
    engine = ENGINES[options.engine]()
    reason = engine.available()
    if reason is not None:
        parser.exit(3, f"{engine.name}: {reason}\n")
    report_own(engine)
    report_merging(engine)
    if options.corpus.is_dir():
        report_corpus(engine, options.corpus)
        report_tools(engine, options.corpus)
    engine.close()


if __name__ == "__main__":
    main()
