"""Random Go templates, made from the grammar of what people write for Ollama.

A template is drawn with one `random.Random`, so a seed names it. Expressions are drawn by the kind of value wanted,
from what is in scope there; a few are of a wrong kind, since templates that stop have to stop in both languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fuzz.expressions import ELEMENTS, MAPS, ROLES, Expressions, Known

_WORDS = (
    "<|im_start|>",
    "<|im_end|>",
    "[INST]",
    "user",
    "\n",
    " ",
    "  \n\t",
    "<think>\n",
    "</think>",
    "### ",
    "é ",
    "{%x%}",
    "{# ",
    "a",
)
_NAMES = ("x", "y", "last", "sys", "index", "loop", "role", "messages", "content")


@dataclass(slots=True)
class TemplateMaker(Expressions):
    """Draws one template after the other from `draw`.

    `wrong`: how often an operand is of any kind at all. `size`: how many statements a block may have.
    """

    size: int = 4
    loops: int = 0
    depth: int = 0
    defines: dict[str, str] = field(default_factory=dict)

    def template(self) -> str:
        """A whole template, in either of the two modes of chats."""
        self.scope, self.loops, self.depth, self.index, self.defines = [], 0, 0, None, {}
        self.root = self.draw.choices(("messages root", "legacy root"), (3, 1))[0]
        self.dot = Known(".", self.root)
        parts = [self._define(f"part{n}") for n in range(self.draw.choices((0, 1, 2), (8, 2, 1))[0])]
        body = self._block(self.draw.randint(1, self.size + 2))
        if self.root == "legacy root":
            return "".join(parts) + self._fim(self._legacy(body))
        shape = self.draw.random()
        if shape < 0.8 or ".Messages" not in body:
            body += self._messages_loop()
        if shape < 0.3:
            body += self._tag(f"if not .Messages{self._maybe(' | not')}") + self._block(1) + self._tag("end")
        if shape > 0.5:
            body += self._block(2)
        return "".join(parts) + body

    # -- pieces ----------------------------------------------------------------------------------------------------

    def _tag(self, text: str) -> str:
        return f"{{{{{self._maybe('-', 0.3)} {text} {self._maybe('-', 0.3)}}}}}"

    def _text(self) -> str:
        return "".join(self.draw.choices(_WORDS, k=self.draw.randint(1, 2)))

    def _legacy(self, body: str) -> str:
        def part(name: str, text: str) -> str:
            return self._tag(f"if .{name}") + text + self._tag(f".{name}") + self._text() + self._tag("end")

        match self.draw.randrange(5):
            case 0:
                return body + self._tag(".Prompt") + self._text() + self._tag(".Response") + self._text()
            case 1:
                return part("System", "<s>") + part("Prompt", "<u>") + body + self._tag(".Response")
            case 2:
                return self._tag("$r := .Response") + body + self._tag(".Prompt") + self._tag("$r") + self._text()
            case 3:
                return part("System", self._text()) + self._tag(".Prompt") + part("Response", "<a>") + body
            case _:
                return body

    def _fim(self, chat: str) -> str:
        """Around some templates for chats: what fills in the middle."""
        if not self._chance(0.3):
            return chat
        prompt = self._text() + self._tag(".Prompt") + self._text() + self._tag(".Suffix") + self._text()
        if self._chance(0.5):
            return self._tag("if .Suffix") + prompt + self._tag("else") + chat + self._tag("end")
        return (
            self._tag(f"if {self.draw.choice(('and .Prompt .Suffix', '.Suffix'))}") + prompt + self._tag("end") + chat
        )

    def _messages_loop(self) -> str:
        """The loop that most templates are: a branch a role."""
        header, known, index = self._loop_header(".Messages", "messages")
        with self._loop(known, index):
            before = self._block(1) if self._chance(0.4) else ""
            dot = self.dot.text if self.dot.text != "." else ""
            arms, word = "", "if"
            for role in self.draw.sample(ROLES, self.draw.randint(1, 4)):
                arms += self._tag(f'{word} eq {dot}.Role "{role}"') + self._block(2)
                word = "else if"
            arms += self._maybe(self._tag("else") + self._block(1), 0.3) + self._tag("end")
            after = self._block(1)
        return header + before + arms + after + self._tag("end")

    def _define(self, name: str) -> str:
        kind = self.draw.choice(("string", "message", self.root, "tool", "messages"))
        before, self.dot = self.dot, Known(".", kind)
        root, self.root = self.root, kind
        body = self._block(2)
        self.dot, self.root = before, root
        self.defines[name] = kind
        return self._tag(f'define "{name}"') + body + self._tag("end")

    # -- statements ------------------------------------------------------------------------------------------------

    def _block(self, most: int) -> str:
        before = len(self.scope)
        count = self.draw.randint(1, max(1, most))
        text = "".join(self._statement() for _ in range(count))
        del self.scope[before:]
        return text

    def _statement(self) -> str:
        deep = self.depth >= 4
        weights = {
            self._text: 5,
            self._print: 6,
            self._declare: 2,
            self._assign: 2,
            self._comment: 0.3,
            self._if: 0 if deep else 4,
            self._with: 0 if deep else 1.2,
            self._range: 0 if deep or self.loops >= 3 else 2,
            self._call: 0.5 if self.defines else 0,
            self._jump: 0.6 if self.loops else 0,
        }
        makers = list(weights)
        return self.draw.choices(makers, list(weights.values()))[0]()

    def _print(self) -> str:
        kind = self.draw.choices(
            ("string", "printable", "int", "bool", "value", "any"), (12, 3, 1, 1, 0.5, self.wrong * 5)
        )[0]
        return self._tag(self.expression(kind))

    def _comment(self) -> str:
        return self.draw.choice(("{{/* note */}}", "{{- /* a #} b */ -}}", "\n{{- /* c */}}\n"))

    def _name(self) -> str:
        return "$" + self.draw.choice(_NAMES)

    def _declare(self) -> str:
        name = self._name()
        kind = self.draw.choice(("string", "bool", "bool", "int", "string", "string", "any"))
        value = self.expression(kind)
        self._bind(name, kind if kind != "any" else "unknown")
        return self._tag(f"{name} := {value}")

    def _bind(self, name: str, kind: str) -> None:
        self.scope.append(Known(name, kind))

    def _assign(self) -> str:
        variables = [(n, k) for n, k in self._visible().items() if n != self.index]
        if not variables:
            return self._declare()
        name, kind = self.draw.choice(variables)
        if kind not in ("string", "bool", "int") or self._chance(self.wrong):
            return self._tag(name) if kind in ("string", "int") else self._text()
        return self._tag(f"{name} = {self.expression(kind)}")

    def _if(self) -> str:
        before = len(self.scope)
        declared = ""
        if self._chance(0.06):
            name, value = self._name(), self.expression("string")
            self._bind(name, "string")
            declared = f"{name} := {value}"
        text = self._tag(f"if {declared or self.condition()}") + self._nested()
        while self._chance(0.3):
            text += self._tag(f"else if {self.condition()}") + self._nested()
        if self._chance(0.4):
            text += self._tag("else") + self._nested()
        del self.scope[before:]
        return text + self._tag("end")

    def _nested(self) -> str:
        self.depth += 1
        text = self._block(self.size - self.depth)
        self.depth -= 1
        return text

    def _with(self) -> str:
        kind = self.draw.choice(("string", "message", "calls", "function", "tools", "parameters", "properties"))
        value = self.expression(kind)
        before, count = self.dot, len(self.scope)
        declared = ""
        if self._chance(0.3):
            name = self._name()
            self._bind(name, kind)
            declared = f"{name} := "
        self.dot = Known(".", kind)
        text = self._tag(f"with {declared}{value}") + self._nested()
        self.dot = before
        if self._chance(0.2):
            other = self.expression("string")
            self.dot = Known(".", "string")
            text += self._tag(f"else with {other}") + self._nested()
            self.dot = before
        if self._chance(0.3):
            text += self._tag("else") + self._nested()
        del self.scope[count:]
        return text + self._tag("end")

    def _range(self) -> str:
        kind = self.draw.choice(tuple(ELEMENTS))
        places = self._places(kind)
        if not places:
            kind, value = ("int", "3") if self._chance(0.1) else ("messages", "$.Messages")
            if kind == "messages" and not self._places(kind):
                return self._if()
        else:
            value = self.draw.choice(places)
        if kind == "messages" and self.index and self._chance(0.3):
            value = f"(slice {value} {self.index})"
        header, known, index = self._loop_header(value, kind)
        with self._loop(known, index):
            text = header + self._nested()
        if self._chance(0.2):
            text += self._tag("else") + self._nested()
        return text + self._tag("end")

    def _loop_header(self, value: str, kind: str) -> tuple[str, Known, str | None]:
        """The tag of a loop, what dot or its variable is in it, and the name of its index."""
        element = ELEMENTS.get(kind, "int")
        match self.draw.choices((0, 1, 2), (4, 1, 3))[0]:
            case 0:
                return self._tag(f"range {value}"), Known(".", element), None
            case 1:
                name = self._name()
                return self._tag(f"range {name} := {value}"), Known(name, element), None
            case _:
                key, name = (
                    self.draw.choice(("$i", "$k", "$_", "$index")),
                    self.draw.choice(("$_", "$m", "$v", "$item")),
                )
                known = Known(name if name != "$_" else ".", element)
                return self._tag(f"range {key}, {name} := {value}"), known, f"{key} {kind}" if key != "$_" else None

    @contextmanager
    def _loop(self, known: Known, index: str | None) -> Iterator[None]:
        before, count, outer = self.dot, len(self.scope), self.index
        if index is not None:
            name, kind = index.split(" ", 1)
            self._bind(name, "string" if kind in MAPS else "int")
            if kind == "messages":
                self.index = name
        if known.text != ".":
            self._bind(known.text, known.kind)
        self.dot = Known(".", known.kind)
        self.loops += 1
        yield
        self.loops -= 1
        self.dot, self.index = before, outer
        del self.scope[count:]

    def _call(self) -> str:
        name, kind = self.draw.choice(list(self.defines.items()))
        return self._tag(f'template "{name}" {self.expression(kind)}')

    def _jump(self) -> str:
        jump = self._tag(self.draw.choice(("break", "continue", "continue")))
        if self._chance(0.2):
            return jump
        text = self._tag(f"if {self.condition()}") + self._maybe(self._text(), 0.5) + jump
        return text + self._maybe(self._tag("else") + self._print(), 0.3) + self._tag("end")
