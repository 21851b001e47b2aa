"""Rules that are about one node of jinja2's tree and what stands right around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jinja2 import nodes

from . import tables
from .violation import Violation

_ORDER = frozenset({"lt", "lteq", "gt", "gteq"})


def walk(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield `node` and all below it, in document order."""
    yield node
    for child in node.iter_child_nodes():
        yield from walk(child)


def _is_string(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, str)


def settled(node: nodes.Node) -> bool | None:
    """Return the truth of `node` where it is the same whatever the variables are, else None."""
    match node:
        case nodes.Not():
            inner = settled(node.node)
            return None if inner is None else not inner
        case nodes.And() | nodes.Or():
            decisive = isinstance(node, nodes.Or)
            sides = (settled(node.left), settled(node.right))
            if decisive in sides:
                return decisive
            return None if None in sides else not decisive
    try:
        return bool(node.as_const()) if isinstance(node, nodes.Expr) else None
    except nodes.Impossible:
        return None


def _empty(body: Sequence[nodes.Node]) -> bool:
    return all(isinstance(item, nodes.Output) and not item.nodes for item in body)


class TreeRules:
    """Yields the violations of a tree; the macros of the text are known from the start."""

    def __init__(self, root: nodes.Template) -> None:
        self.root = root
        self.macros = {macro.name: len(macro.args) for macro in root.find_all(nodes.Macro)}
        self.parameters = {argument.name for macro in root.find_all(nodes.Macro) for argument in macro.args}

    def violations(self) -> Iterator[Violation]:
        """Yield every violation, in no particular order."""
        yield from self._depth(self.root.body, blocks=0, loops=0)
        parents: dict[int, nodes.Node] = {}
        line = 1
        for node in walk(self.root):
            line = node.lineno or line  # jinja2 gives none to what it adds around an autoescape block
            for child in node.iter_child_nodes():
                parents[id(child)] = node
            for rule, message in self._node(node, parents.get(id(node))):
                yield Violation(line, rule, message)

    def _depth(self, body: Sequence[nodes.Node], blocks: int, loops: int) -> Iterator[Violation]:
        for node in body:
            if isinstance(node, nodes.For | nodes.If | nodes.Macro | nodes.AssignBlock | nodes.FilterBlock):
                inner = loops + isinstance(node, nodes.For)
                if blocks + 1 == tables.MAX_BLOCKS + 1:
                    yield Violation(node.lineno, "block-depth", f"more than {tables.MAX_BLOCKS} nested blocks")
                if inner == tables.MAX_LOOPS + 1 and inner > loops:
                    yield Violation(node.lineno, "loop-depth", f"more than {tables.MAX_LOOPS} nested loops")
                yield from self._depth(node.body, blocks + 1, inner)
            if isinstance(node, nodes.If):
                for branch in node.elif_:
                    yield from self._depth(branch.body, blocks + 1, loops)
            if isinstance(node, nodes.If | nodes.For):
                yield from self._depth(node.else_, blocks + 1, loops)

    def _node(self, node: nodes.Node, parent: nodes.Node | None) -> Iterator[tuple[str, str]]:
        match node:
            case nodes.TemplateData():
                return  # text outside tags: found among the tokens
            case nodes.Stmt():
                yield from self._statement(node, parent)
            case nodes.Filter():
                yield from self._filter(node)
            case nodes.Test():
                if node.name not in tables.TESTS:
                    yield "test", f"test {node.name}"
                elif node.args or node.kwargs:
                    yield "test", f"test {node.name} with arguments"
            case nodes.Call():
                yield from self._call(node)
            case nodes.Getattr():
                yield from self._attribute(node, parent)
            case nodes.NSRef():
                if node.attr.startswith("_"):
                    yield "underscore", f"attribute {node.attr}"
            case nodes.BinExpr():
                yield from self._operator(node, parent)
            case nodes.Compare():
                yield from self._comparison(node)
            case nodes.Pos():
                yield "operator", "unary plus"
            case nodes.CondExpr():
                yield from self._ternary(node)
            case nodes.Tuple():
                if node.ctx == "load":
                    yield "tuple", "tuple"
            case nodes.Pair():
                if not _is_string(node.key):
                    yield "dict-key", "a key that is no literal text"
            case nodes.Getitem():
                if _is_string(node.node):
                    yield "string-index", "an index into a literal"
            case nodes.Slice():
                if node.step is not None:
                    yield "slice-step", "a slice with a step"

    def _statement(self, node: nodes.Stmt, parent: nodes.Node | None) -> Iterator[tuple[str, str]]:
        if type(node) not in tables.STATEMENTS:
            yield "statement", f"statement {type(node).__name__}"
        match node:
            case nodes.If():
                if settled(node.test) is not None:
                    yield "constant-condition", "a condition that is always the same"
                is_elif = isinstance(parent, nodes.If) and any(node is branch for branch in parent.elif_)
                bodies = (node.body, *(branch.body for branch in node.elif_), node.else_)
                if not is_elif and all(map(_empty, bodies)):
                    yield "empty-if", "an if without content"
            case nodes.For():
                yield from self._loop(node)
            case nodes.Assign(target=nodes.Tuple()):
                yield "set-target", "set of several names"
            case nodes.AssignBlock():
                if node.filter is not None:
                    yield "set-target", "set with a filter"
                if isinstance(node.target, nodes.NSRef):
                    yield "set-target", "block set of an attribute"
            case nodes.Macro():
                if node.defaults:
                    yield "macro-default", f"macro {node.name} with a default"
            case nodes.Output():
                for printed in node.nodes:
                    yield from self._printed(printed)

    def _loop(self, node: nodes.For) -> Iterator[tuple[str, str]]:
        if node.recursive:
            yield "statement", "recursive loop"
        if isinstance(node.target, nodes.Tuple):
            source = node.iter
            if not (isinstance(source, nodes.Filter) and source.name in {"items", "dictsort"}):
                yield "loop-target", "two loop variables over something else than items or dictsort"
            elif len(node.target.items) != 2:
                yield "loop-target", "more than two loop variables"

    def _printed(self, node: nodes.Expr) -> Iterator[tuple[str, str]]:
        plain = isinstance(node, nodes.Const) and (node.value is None or isinstance(node.value, bool | float))
        if plain or isinstance(node, nodes.List | nodes.Dict | nodes.Not | nodes.Compare | nodes.Test):
            yield "printed-value", "prints something else than text or an integer"

    def _filter(self, node: nodes.Filter) -> Iterator[tuple[str, str]]:
        if node.name not in tables.FILTERS:
            yield "filter", f"filter {node.name}"
            return
        form = (len(node.args), tuple(str(keyword.key) for keyword in node.kwargs))
        if form not in tables.FILTERS[node.name] or node.dyn_args or node.dyn_kwargs:
            yield "filter-arguments", f"filter {node.name} with these arguments"
        elif node.name in {"selectattr", "rejectattr"}:
            test = node.args[1]
            if not (isinstance(test, nodes.Const) and test.value == "equalto"):
                yield "filter-arguments", f"filter {node.name} with another test than 'equalto'"
        elif node.name == "dictsort":
            flag = node.kwargs[0].value
            if not (isinstance(flag, nodes.Const) and flag.value is True):
                yield "filter-arguments", "dictsort without case_sensitive=true"

    def _call(self, node: nodes.Call) -> Iterator[tuple[str, str]]:
        named = bool(node.kwargs or node.dyn_args or node.dyn_kwargs)
        match node.node:
            case nodes.Getattr(attr=method):
                if method not in tables.METHODS:
                    yield "method", f"method {method}"
                elif named or len(node.args) != tables.METHODS[method]:
                    yield "method-arguments", f"method {method} with these arguments"
                if isinstance(node.node.node, nodes.Call) and isinstance(node.node.node.node, nodes.Name):
                    yield "method-of-call", f"method {method} of a call"
            case nodes.Name(name=name) if name in self.macros:
                if named or len(node.args) != self.macros[name]:
                    yield "macro-arguments", f"macro {name} takes {self.macros[name]} positional arguments"
            case nodes.Name(name=name) if name in tables.FUNCTIONS:
                if named or len(node.args) not in tables.FUNCTIONS[name]:
                    yield "function-arguments", f"function {name} with these arguments"
                elif name == "range" and len(node.args) == 3 and isinstance(node.args[2], nodes.Neg):
                    yield "function-arguments", "range with a negative step"
            case nodes.Name(name=name):
                if name not in self.parameters:
                    yield "function", f"function {name}"
            case _:
                yield "function", "a call of an expression"

    def _attribute(self, node: nodes.Getattr, parent: nodes.Node | None) -> Iterator[tuple[str, str]]:
        if node.attr.startswith("_"):
            yield "underscore", f"attribute {node.attr}"
        elif isinstance(node.node, nodes.Name) and node.node.name == "loop":
            if node.attr not in tables.LOOP_FIELDS:
                yield "loop-field", f"loop.{node.attr}"
        elif not (isinstance(parent, nodes.Call) and parent.node is node) and node.attr in tables.COLLIDING_ATTRIBUTES:
            yield "colliding-attribute", f"attribute {node.attr} is a method in some engine"

    def _operator(self, node: nodes.BinExpr, parent: nodes.Node | None) -> Iterator[tuple[str, str]]:
        match node:
            case nodes.FloorDiv() | nodes.Pow():
                yield "operator", f"operator {node.operator}"
            case nodes.Div():
                if not (isinstance(parent, nodes.Filter) and parent.name == "int"):
                    yield "operator", "operator / that is not made an integer at once"
            case nodes.Mul() | nodes.Mod():
                if _is_string(node.left) or _is_string(node.right):
                    yield "operator", f"operator {node.operator} on text"
            case nodes.Or() | nodes.And():
                length, left = 1, node.left
                while type(left) is type(node):
                    length, left = length + 1, left.left
                if length == tables.MAX_ALTERNATIVES:
                    yield "chain-length", f"more than {tables.MAX_ALTERNATIVES} operands of {node.operator}"

    def _comparison(self, node: nodes.Compare) -> Iterator[tuple[str, str]]:
        if len(node.ops) > 1:
            yield "chained-comparison", "a chained comparison"
        for left, operand in zip((node.expr, *(op.expr for op in node.ops)), node.ops, strict=False):
            sides = (left, operand.expr)
            if operand.op in {"eq", "ne"}:
                if any(isinstance(side, nodes.List | nodes.Dict) for side in sides):
                    yield "container-comparison", "comparison of a list or mapping"
                if any(isinstance(side, nodes.Const) and isinstance(side.value, bool | None) for side in sides):
                    yield "mixed-comparison", "comparison with true, false or none"
            elif operand.op in _ORDER and any(_is_string(side) for side in sides):
                yield "text-order", "order of texts"

    def _ternary(self, node: nodes.CondExpr) -> Iterator[tuple[str, str]]:
        if node.expr2 is None:
            yield "ternary-else", "a conditional expression without else"
        if settled(node.test) is not None:
            yield "constant-condition", "a condition that is always the same"


def concatenations(root: nodes.Template) -> Iterator[Violation]:
    """Yield the chains of ``~`` that are too long for an engine that recurses over them."""
    for node in root.find_all(nodes.Concat):
        if len(node.nodes) > tables.MAX_CONCATENATION:
            yield Violation(node.lineno, "chain-length", f"more than {tables.MAX_CONCATENATION} operands of ~")
