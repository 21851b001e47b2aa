"""One random template against Ollama: everything that has to hold of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from portability.reader import violations

from transpiler import Options, Result, TemplateError, transpile
from transpiler.gotmpl.parser import parse
from transpiler.ollama.functions import FUNCTIONS
from transpiler.source import Source
from transpiler.verify.chats import Chat, to_jinja_context, to_ollama
from transpiler.verify.compare import agree, explain
from transpiler.verify.oracle import Oracle, TemplateRefused
from transpiler.verify.render import ReferenceTemplate

# Rules of taste: what nobody reads stays where working it out can refuse the chat, and names may be used twice.
_TIDINESS = frozenset(
    ("unused-variable", "unused-macro", "constant-condition", "empty-if", "shadowing", "dynamic-scope", "string-index")
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that does not hold: what it is, for which form of the template, and for which chat."""

    what: str
    exact: bool
    detail: str
    chat: Chat | None = None


@dataclass(slots=True)
class Tally:
    """How much was compared, and what was refused in what words."""

    pairs: int = 0
    templates: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def faults_of(template: str, chats: Sequence[Chat], oracle: Oracle, tally: Tally | None = None) -> Iterator[Fault]:
    """The faults of both forms of a template, on these chats."""
    tally = tally if tally is not None else Tally()
    tally.templates += 1
    for exact in (True, False):
        yield from faults_of_form(template, chats, oracle, tally, exact=exact)


def faults_of_form(
    template: str, chats: Sequence[Chat], oracle: Oracle, tally: Tally, *, exact: bool
) -> Iterator[Fault]:
    """The faults of a template as it stands, or as it is repaired."""
    options = Options(exact=exact)
    try:
        result = transpile(template, options=options)
    except TemplateError as error:
        codes = {d.code for d in error.diagnostics if d.severity.name == "ERROR"}
        if exact:
            tally.refused.update({f"{d.code} {d.message}" for d in error.diagnostics if d.severity.name == "ERROR"})
        if not all(code.startswith(("GT2", "GT3")) for code in codes):
            try:
                oracle.parse(template)
            except TemplateRefused:
                return
            yield Fault("refused", exact, str(sorted(codes)))
        elif all(code.startswith("GT2") for code in codes):
            answers = oracle.render_many(template, [to_ollama(chat) for chat in chats])
            for chat, wanted in zip(chats, answers, strict=True):
                # An error is reported at once where every chat with a message gets there.
                if wanted.text is not None and chat.request.get("messages"):
                    yield Fault("refused", exact, f"{sorted(codes)}, Ollama prints {wanted.text!r}", chat)
                    return
        return
    if not exact and result.repaired == template:
        return  # the other form said it all
    yield from _form_faults(template, result, options)
    jinja = ReferenceTemplate(result.jinja)
    try:
        answers = oracle.render_many(template if exact else result.repaired, [to_ollama(chat) for chat in chats])
    except TemplateRefused as error:
        yield Fault("repaired template refused" if not exact else "taken", exact, str(error))
        return
    bytes_differ = any(d.code == "GT303" for d in result.diagnostics)
    fim = ReferenceTemplate(result.fim) if result.fim is not None else None
    for chat, wanted in zip(chats, answers, strict=True):
        form = fim if "prompt" in chat.request else jinja
        if wanted.phase == "request":
            continue
        if form is None:
            # Said to have no form that fills in the middle: then Ollama has none, or Jinja can't say it.
            if wanted.text is not None and not any(d.code.startswith("GT3") for d in result.diagnostics):
                yield Fault("no form to fill in the middle", exact, f"Ollama prints {wanted.text!r}", chat)
            continue
        tally.pairs += 1
        actual = form.render(to_jinja_context(chat))
        if not agree(wanted, actual) and not (bytes_differ and not f"{template}{chat.request}".isascii()):
            kind = "refusal" if wanted.text is None else f"refused: {actual.error}" if actual.text is None else "text"
            yield Fault(kind, exact, explain(wanted, actual), chat)
        elif actual.text is not None and form is jinja and result.mode == "messages":
            transcript = form.render({**to_jinja_context(chat), "add_generation_prompt": False})
            if transcript.text is None and not str(transcript.error).startswith("TemplateError"):
                yield Fault("transcript refused", exact, str(transcript.error), chat)


def _form_faults(template: str, result: Result, options: Options) -> Iterator[Fault]:
    exact = options.exact
    for violation in (*violations(result.jinja), *(violations(result.fim) if result.fim else ())):
        if violation.rule in _TIDINESS:
            continue
        yield Fault(f"portability {violation.rule}", exact, str(violation))
        break
    if transpile(template, options=options).jinja != result.jinja:
        yield Fault("not the same twice", exact, "")
    if exact:
        if result.repaired != template:
            yield Fault("exact, but repaired", exact, result.repaired)
        return
    parse(Source(result.repaired, "repaired"), FUNCTIONS)
    again = transpile(result.repaired, options=Options(exact=True))
    if _body(again.jinja) != _body(result.jinja):
        yield Fault("repaired template converts to something else", exact, again.jinja)


def _body(jinja: str) -> str:
    """A template without its first comment, which names the repairs."""
    return jinja.partition("\n")[2]
