"""Random expressions, drawn by the kind of value wanted from what is in scope; a few are of a wrong kind."""

from __future__ import annotations

from collections.abc import Callable
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
ELEMENTS = {
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
MAPS = ("arguments", "properties")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ROLES = ("system", "user", "assistant", "tool")
_FORMATS = ("%s", "<%s>", "%s: %s", "%v", "100%%%s", "%d")


@dataclass(frozen=True, slots=True)
class Known:
    """What can be named at a place: an expression and the kind of its value."""

    text: str
    kind: str


@dataclass(slots=True)
class Expressions:
    """Draws expressions from `draw`.

    `wrong`: how often an operand is of any kind at all. `root` and `dot`: what `$` and dot are at the place; `scope`:
    the variables; `index`: the one that counts the messages.
    """

    draw: Random
    wrong: float = 0.01
    root: str = "messages root"
    dot: Known = Known(".", "messages root")
    scope: list[Known] = field(default_factory=list)
    index: str | None = None

    def _chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def _maybe(self, text: str, probability: float = 0.1) -> str:
        return text if self._chance(probability) else ""

    def _visible(self) -> dict[str, str]:
        return {known.text: known.kind for known in self.scope}

    def _places(self, kind: str, deep: int = 4) -> list[str]:
        """The fields and variables of a kind that can be named here."""
        roots = [self.dot, *(Known(n, k) for n, k in self._visible().items())]
        roots.append(Known("$", self.root))
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
            kind = self.draw.choice((*_FIELDS["message"].values(), *ELEMENTS, "int", "nil", "float"))
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
                kind = self.draw.choice((*ELEMENTS, *ELEMENTS.values(), "missing"))
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
            lambda: f"html {self._operand('string', depth)}",
            lambda: f"slice {self._operand('string', depth)} {self.draw.choice(('0 1', '1', '0 4', '2 3'))}",
            lambda: self.draw.choice(("currentDate", "yesterdayDate")),
            self._typescript,
        ]
        # In the last turn Ollama's own functions are not there.
        ours = 0.2 if self.root == "legacy root" else 1.0
        return self.draw.choices(choices, (4, 4, 3, 1, 4 * ours, 3, 0.5, 1, ours / 2, ours))[0]()

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
        return '"' + self.draw.choice((*ROLES, "", "x")) + '"'

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
