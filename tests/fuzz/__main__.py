"""`python -m fuzz --seed N --templates N`: random templates against Ollama, the faults made small, one of each kind."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.chats import random_chats
from fuzz.check import Fault, Tally, faults_of, faults_of_form
from fuzz.shrink import smaller_json, smaller_text
from fuzz.templates import TemplateMaker
from transpiler import TemplateError
from transpiler.gotmpl.parser import parse
from transpiler.ollama.functions import FUNCTIONS
from transpiler.source import Source
from transpiler.verify.chats import Chat
from transpiler.verify.oracle import Oracle, OracleError, TemplateRefused

_Shown = Callable[[str, Chat | None], Fault | None]


def _kind(fault: Fault) -> str:
    return re.sub(r"['\"`].*?['\"`]|\d+", "_", fault.what)


def _small(template: str, fault: Fault, oracle: Oracle) -> tuple[str, Fault]:
    """The template and the chat made smaller, one after the other, as long as a fault of this kind is left."""

    def shown(text: str, chat: Chat | None) -> Fault | None:
        try:
            parse(Source(text, "smaller"), FUNCTIONS)
            chats = [chat] if chat is not None else []
            for found in faults_of_form(text, chats, oracle, Tally(), exact=fault.exact):
                if _kind(found) == _kind(fault):
                    return found
        except (TemplateError, TemplateRefused, OracleError, KeyError, TypeError, AttributeError):
            pass
        return None

    chat = fault.chat
    for _ in range(2):
        template = _smaller_template(template, chat, shown)
        chat = _smaller_chat(template, chat, shown)
    return template, shown(template, chat) or fault


def _smaller_template(template: str, chat: Chat | None, shown: _Shown) -> str:
    return smaller_text(template, lambda text: shown(text, chat) is not None)


def _smaller_chat(template: str, chat: Chat | None, shown: _Shown) -> Chat | None:
    def shows(request: Any) -> bool:
        kept = "messages" in request or (request.get("prompt") and request.get("suffix"))
        return kept and shown(template, Chat("small", request)) is not None

    return chat and Chat("small", smaller_json(chat.request, shows))


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first template's seed")
    parser.add_argument("--templates", type=int, default=500)
    parser.add_argument("--chats", type=int, default=8, help="chats for each template")
    parser.add_argument("--wrong", type=float, default=0.01, help="how often an operand is of a wrong kind")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--each", type=int, default=3, help="faults of one kind that are shown")
    parser.add_argument("--no-shrink", action="store_true")
    arguments = parser.parse_args()
    tally, seen, start = Tally(), dict[str, int](), time.monotonic()
    with Oracle() as oracle:
        for seed in range(arguments.seed, arguments.seed + arguments.templates):
            if time.monotonic() - start > arguments.seconds:
                break
            draw = Random(seed)
            template = TemplateMaker(draw, wrong=arguments.wrong).template()
            chats = random_chats(draw, arguments.chats, fim=".Suffix" in template)
            try:
                faults = list(faults_of(template, chats, oracle, tally))
            except TemplateRefused as error:
                print(f"{seed}: made a template that Ollama refuses: {error}")
                continue
            except Exception as error:  # noqa: BLE001
                faults = [Fault(f"crash {type(error).__name__}", True, str(error))]
            kinds = set[str]()
            for fault in faults:
                kind = _kind(fault)
                if kind in kinds:
                    continue
                kinds.add(kind)
                seen[kind] = seen.get(kind, 0) + 1
                if seen[kind] > arguments.each:
                    continue
                small = template
                if not arguments.no_shrink and not kind.startswith("crash"):
                    small, fault = _small(template, fault, oracle)
                request = json.dumps(fault.chat.request, ensure_ascii=False) if fault.chat else ""
                form = "exact" if fault.exact else "default"
                print(f"--- {seed} {form}: {fault.what}\n{small}\n{request}\n{fault.detail[:1500]}", flush=True)
    print(f"\n{tally.templates} templates, {tally.pairs} pairs, {time.monotonic() - start:.0f} s")
    for name, counts in (("faults", seen), ("refused", dict(tally.refused.most_common(25)))):
        print(f"{name}: {sum(counts.values())}")
        for words, count in sorted(counts.items(), key=lambda pair: -pair[1]):
            print(f"  {count:5} {words}")


main()
