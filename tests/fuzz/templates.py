"""Random Go templates, made from the grammar of what people write for Ollama.

A template is drawn with one `random.Random`, so a seed names it. Expressions are drawn by the kind of value wanted,
from what is in scope there; a few are of a wrong kind, since templates that stop have to stop in both languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

_FIELDS: dict[str, dict[str, str]] = {
    "messages root": {
        "System": "string",
        "Messages": "messages",
        "Tools": "tools",
        "Response": "string",
        "Think": "bool",
        "ThinkLevel": "string",
        "IsThinkSet": "bool",
        "Prompt": "missing",
    },
    "legacy root": {
        "System": "string",
        "Prompt": "string",
        "Response": "string",
        "Think": "bool",
        "ThinkLevel": "string",
        "IsThinkSet": "bool",
        "Tools": "missing",
    },
    "message": {
        "Role": "string",
        "Content": "string",
        "Thinking": "string",
        "ToolCalls": "calls",
        "ToolName": "string",
        "ToolCallID": "string",
    },
    "call": {"ID": "string", "Function": "call function"},
    "call function": {"Name": "string", "Arguments": "arguments", "Index": "int"},
    "tool": {"Type": "string", "Function": "function"},
    "function": {"Name": "string", "Description": "string", "Parameters": "parameters"},
    "parameters": {"Type": "string", "Required": "strings", "Properties": "properties"},
    "property": {
        "Type": "types",
        "Description": "string",
        "Enum": "values",
        "Items": "value",
        "Required": "strings",
        "AnyOf": "property list",
    },
}
_ELEMENTS = {
    "messages": "message",
    "tools": "tool",
    "calls": "call",
    "strings": "string",
    "types": "string",
    "values": "value",
    "property list": "property",
    "arguments": "value",
    "properties": "property",
}
_MAPS = ("arguments", "properties")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ROLES = ("system", "user", "assistant", "tool")
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
_FORMATS = ("%s", "<%s>", "%s: %s", "%v", "100%%%s", "%d")


@dataclass(frozen=True, slots=True)
class _Known:
    """What can be named at a place: an expression and the kind of its value."""

    text: str
    kind: str


@dataclass(slots=True)
class TemplateMaker:
    """Draws one template after the other from `draw`.

    `wrong`: how often an operand is of any kind at all. `size`: how many statements a block may have.
    """

    draw: Random
    wrong: float = 0.01
    size: int = 4
    root: str = "messages root"
    dot: _Known = _Known(".", "messages root")
    scope: list[_Known] = field(default_factory=list)
    loops: int = 0
    depth: int = 0
    index: str | None = None
    defines: dict[str, str] = field(default_factory=dict)

    def template(self) -> str:
        """A whole template, in either of the two modes of chats."""
        self.scope, self.loops, self.depth, self.index, self.defines = [], 0, 0, None, {}
        self.root = self.draw.choices(("messages root", "legacy root"), (3, 1))[0]
        self.dot = _Known(".", self.root)
        parts = [self._define(f"part{n}") for n in range(self.draw.choices((0, 1, 2), (8, 2, 1))[0])]
        body = self._block(self.draw.randint(1, self.size + 2))
        if self.root == "legacy root":
            return "".join(parts) + self._legacy(body)
        shape = self.draw.random()
        if shape < 0.8 or ".Messages" not in body:
            body += self._messages_loop()
        if shape < 0.3:
            body += self._tag(f"if not .Messages{self._maybe(' | not')}") + self._block(1) + self._tag("end")
        if shape > 0.5:
            body += self._block(2)
        return "".join(parts) + body

    # -- pieces ----------------------------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def _maybe(self, text: str, probability: float = 0.1) -> str:
        return text if self._chance(probability) else ""

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

    def _messages_loop(self) -> str:
        """The loop that most templates are: a branch a role."""
        header, known, index = self._loop_header(".Messages", "messages")
        with self._loop(known, index):
            before = self._block(1) if self._chance(0.4) else ""
            dot = self.dot.text if self.dot.text != "." else ""
            arms, word = "", "if"
            for role in self.draw.sample(_ROLES, self.draw.randint(1, 4)):
                arms += self._tag(f'{word} eq {dot}.Role "{role}"') + self._block(2)
                word = "else if"
            arms += self._maybe(self._tag("else") + self._block(1), 0.3) + self._tag("end")
            after = self._block(1)
        return header + before + arms + after + self._tag("end")

    def _define(self, name: str) -> str:
        kind = self.draw.choice(("string", "message", self.root, "tool", "messages"))
        before, self.dot = self.dot, _Known(".", kind)
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
        self.scope.append(_Known(name, kind))

    def _visible(self) -> dict[str, str]:
        return {known.text: known.kind for known in self.scope}

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
        self.dot = _Known(".", kind)
        text = self._tag(f"with {declared}{value}") + self._nested()
        self.dot = before
        if self._chance(0.2):
            other = self.expression("string")
            self.dot = _Known(".", "string")
            text += self._tag(f"else with {other}") + self._nested()
            self.dot = before
        if self._chance(0.3):
            text += self._tag("else") + self._nested()
        del self.scope[count:]
        return text + self._tag("end")

    def _range(self) -> str:
        kind = self.draw.choice(tuple(_ELEMENTS))
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

    def _loop_header(self, value: str, kind: str) -> tuple[str, _Known, str | None]:
        """The tag of a loop, what dot or its variable is in it, and the name of its index."""
        element = _ELEMENTS.get(kind, "int")
        match self.draw.choices((0, 1, 2), (4, 1, 3))[0]:
            case 0:
                return self._tag(f"range {value}"), _Known(".", element), None
            case 1:
                name = self._name()
                return self._tag(f"range {name} := {value}"), _Known(name, element), None
            case _:
                key, name = (
                    self.draw.choice(("$i", "$k", "$_", "$index")),
                    self.draw.choice(("$_", "$m", "$v", "$item")),
                )
                known = _Known(name if name != "$_" else ".", element)
                return self._tag(f"range {key}, {name} := {value}"), known, f"{key} {kind}" if key != "$_" else None

    @contextmanager
    def _loop(self, known: _Known, index: str | None) -> Iterator[None]:
        before, count, outer = self.dot, len(self.scope), self.index
        if index is not None:
            name, kind = index.split(" ", 1)
            self._bind(name, "string" if kind in _MAPS else "int")
            if kind == "messages":
                self.index = name
        if known.text != ".":
            self._bind(known.text, known.kind)
        self.dot = _Known(".", known.kind)
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

    # -- expressions -----------------------------------------------------------------------------------------------

    def _places(self, kind: str, deep: int = 4) -> list[str]:
        """The fields and variables of a kind that can be named here."""
        roots = [self.dot, *(_Known(n, k) for n, k in self._visible().items())]
        roots.append(_Known("$", self.root))
        found: list[str] = []
        level = [(known.text, known.kind) for known in roots]
        for _ in range(deep):
            found += [text for text, of in level if of == kind]
            level = [
                (f"{text if text != '.' else ''}.{name}", inner)
                for text, of in level
                for name, inner in _FIELDS.get(of, {}).items()
            ]
        return found

    def _operand(self, kind: str, depth: int) -> str:
        text = self.expression(kind, depth + 1)
        return f"({text})" if " " in text and not text.startswith('"') else text

    def expression(self, kind: str, depth: int = 0) -> str:
        """An expression of a kind: a basic one, one of the data model, `printable` or `any`."""
        if self._chance(self.wrong):
            kind = self.draw.choice((*_FIELDS["message"].values(), *_ELEMENTS, "int", "nil", "float"))
        match kind:
            case "string":
                return self._string(depth)
            case "int":
                return self._int(depth)
            case "bool":
                return self.condition(depth)
            case "float":
                return self.draw.choice(("1.5", "2.0", "1e3"))
            case "printable":
                kind = self.draw.choice(("arguments", "tools", "tool", "types", "strings", "properties", "value"))
            case "any":
                kind = self.draw.choice((*_ELEMENTS, *_ELEMENTS.values(), "missing"))
            case _:
                pass
        places = self._places(kind)
        if kind == "message" and self._places("messages") and self._chance(0.5 if places else 1):
            return f"index {self.draw.choice(self._places('messages'))} {self.draw.choice(('0', self.index or '0'))}"
        if kind == "value" and self._places("arguments") and self._chance(0.5):
            return f'index {self.draw.choice(self._places("arguments"))} "city"'
        if places:
            return self.draw.choice(places)
        return self.draw.choice((".Missing", '""', "nil")) if kind == "missing" else self._string(depth)

    def _string(self, depth: int) -> str:
        places = self._places("string")
        if depth > 2 or self._chance(0.65):
            return self.draw.choice(places) if places and self._chance(0.8) else self._literal()
        choices: list[Callable[[], str]] = [
            lambda: (
                f"{self.draw.choice(('or', 'and'))} {self._operand('string', depth)} {self._operand('string', depth)}"
            ),
            lambda: self._printf(depth),
            lambda: f"print {self._operand('string', depth)} {self._operand(self._any_basic(), depth)}",
            lambda: f"println {self._operand('string', depth)}",
            lambda: f"json {self._operand(self.draw.choice(('string', 'printable', 'any', 'int', 'bool')), depth)}",
            lambda: self._operand("string", depth) + self.draw.choice((" | print", ' | printf "%s!"', " | json")),
            lambda: f"slice {self._operand('string', depth)} {self.draw.choice(('0 1', '1', '0 4', '2 3'))}",
            lambda: self.draw.choice(("currentDate", "yesterdayDate")),
            self._typescript,
        ]
        # In the last turn Ollama's own functions are not there.
        ours = 0.2 if self.root == "legacy root" else 1.0
        return self.draw.choices(choices, (4, 4, 3, 1, 4 * ours, 3, 1, ours / 2, ours))[0]()

    def _typescript(self) -> str:
        properties = self._places("property")
        return f"toTypeScriptType {self.draw.choice(properties)}" if properties else self._literal()

    def _any_basic(self) -> str:
        return self.draw.choice(("string", "int", "bool"))

    def _printf(self, depth: int) -> str:
        text = self.draw.choice(_FORMATS)
        kinds = {"%d": ["int"], "%t": ["bool"], "%v": [self._any_basic()]}.get(
            text, ["string"] * text.replace("%%", "").count("%")
        )
        return f'printf "{text}" ' + " ".join(self._operand(kind, depth) for kind in kinds)

    def _literal(self) -> str:
        return self.draw.choice(('"user"', '"a\\nb"', '""', "`raw`", '"x"', '"é<&>\\""', '"assistant"'))

    def _int(self, depth: int) -> str:
        places = self._places("int")
        lists = [p for kind in ("messages", "calls", "tools", "arguments", "strings") for p in self._places(kind)]
        if lists and self._chance(0.4):
            return f"len {self.draw.choice(lists)}"
        if places and self._chance(0.6):
            return self.draw.choice(places)
        if depth < 2 and self._chance(0.3):
            counter = self.draw.choice(("a%*s", "%*s", "aa%*s"))
            return f'len (printf "{counter}" {self._operand("int", depth)} "")'
        if depth < 2 and self._chance(0.2):
            return f"len {self._operand('string', depth)}"
        return self.draw.choice(("0", "1", "2", "3"))

    def condition(self, depth: int = 0) -> str:
        """An expression for an `if`: of any kind, most often a comparison."""
        if depth > 2:
            return self.draw.choice((*self._places("bool"), "true", *self._places("string")[:2]))
        makers: tuple[tuple[float, Callable[[], str]], ...] = (
            (4, lambda: f"eq {self._operand('string', depth)} {self._role()}"),
            (1, lambda: f"eq {self._operand('string', depth)} {self._role()} {self._role()}"),
            (2, lambda: f"ne {self._operand('string', depth)} {self._role()}"),
            (3, lambda: " ".join((self.draw.choice(("and", "or")), *self._operands("bool", depth, most=3)))),
            (2, lambda: f"not {self._operand(self.draw.choice(('bool', 'string', 'any')), depth)}"),
            (2, lambda: " ".join((self.draw.choice(_COMPARISONS), *self._operands("int", depth, most=2)))),
            (4, self._truth),
            (3 if self.index and self.root == "messages root" else 0, self._is_last),
        )
        weights = [weight for weight, _ in makers]
        return self.draw.choices([maker for _, maker in makers], weights)[0]()

    def _operands(self, kind: str, depth: int, *, most: int) -> list[str]:
        return [self._operand(kind, depth) for _ in range(self.draw.randint(2, most))]

    def _role(self) -> str:
        return '"' + self.draw.choice((*_ROLES, "", "x")) + '"'

    def _truth(self) -> str:
        kind = self.draw.choice(
            ("string", "bool", "calls", "tools", "messages", "parameters", "strings", "types", "properties", "int")
        )
        places = self._places(kind)
        return self.draw.choice(places) if places else self.draw.choice((*self._places("string"), "true"))

    def _is_last(self) -> str:
        index = self.index
        return self.draw.choice(
            (
                f"eq (len (slice $.Messages {index})) 1",
                f"ne (len (slice $.Messages {index})) 1",
                f"gt (len (slice $.Messages {index})) 1",
                f"le (len (slice $.Messages {index})) 2",
                f'eq (len (printf "a%*s" {index} "")) (len $.Messages)',
                f"lt {index} (len $.Messages)",
                f"gt {index} 0",
                f"eq {index} 0",
                f'eq (index $.Messages {index}).Role "user"',
                'ne (index $.Messages 0).Role "system"',
            )
        )
