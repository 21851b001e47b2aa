"""The functions, one table: each takes its arguments unlowered and gives a value.

`and` and `or` need that (what stands first is known where the second runs), and so do idioms such as
`len (printf "a%*s" $n "")`, which counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from transpiler.gotmpl.ast import Node
from transpiler.jinja.ast import (
    EMPTY,
    Arithmetic,
    Call,
    Compare,
    Concat,
    Conditional,
    Const,
    DictLiteral,
    Expr,
    Filter,
    Item,
    ListLiteral,
    MethodCall,
    Name,
    Slice,
    Test,
)
from transpiler.jinja.simplify import negate
from transpiler.jinja.walk import subexpressions
from transpiler.lowering.arguments import Argument, Function, and_of, or_of
from transpiler.lowering.comparisons import equal, not_equal, order
from transpiler.lowering.data import as_operand, as_total
from transpiler.lowering.formats import count_format, format_text
from transpiler.lowering.printing import is_absent, joined, json_of, print_pieces, value_words
from transpiler.lowering.state import State, refuse
from transpiler.lowering.values import Loop, Position, Value, elements_left, loop_attribute
from transpiler.ollama.datamodel import (
    BOOL,
    INT,
    LISTS,
    MAPS,
    NOTHING,
    STRING,
    Shape,
    only,
)
from transpiler.ollama.functions import element_shape

# -- logic ------------------------------------------------------------------------------------------------------------


def all_of(state: State, args: Sequence[Argument]) -> Expr:
    """The truth of `and`: each argument is looked at only where those before it are true."""
    return and_of(_conditions(state, args, truth=True))


def any_of(state: State, args: Sequence[Argument]) -> Expr:
    """The truth of `or`."""
    return or_of(_conditions(state, args, truth=False))


def _conditions(state: State, args: Sequence[Argument], *, truth: bool) -> list[Expr]:
    found: list[Expr] = []
    with ExitStack() as stack:
        for arg in args:
            found.append(arg.condition())
            stack.enter_context(state.inside(assuming=found[-1], truth=truth))
    return found


def _and(state: State, _: Node, args: Sequence[Argument]) -> Value:
    return _operand(state, args, truth=True)


def _or(state: State, _: Node, args: Sequence[Argument]) -> Value:
    return _operand(state, args, truth=False)


def _operand(state: State, args: Sequence[Argument], *, truth: bool) -> Value:
    """`and` and `or` as values: the first argument that decides, or the last one."""
    shapes: frozenset[Shape] = frozenset()
    found: list[tuple[Expr, Value]] = []
    with ExitStack() as stack:
        for arg in args:
            value, test = arg.value(), arg.condition()
            found.append((test, value))
            shapes |= {value.shape}
            stack.enter_context(state.inside(assuming=test, truth=truth))
    shape: Shape = frozenset().union(*shapes)
    if shape == BOOL:
        tests = [test for test, _ in found]
        return Value(and_of(tests) if truth else or_of(tests), BOOL)
    test, last = found[-1]
    expr = as_operand(state, last)
    for test, value in reversed(found[:-1]):
        own = as_operand(state, value)
        expr = Conditional(test, expr, own) if truth else Conditional(test, own, expr)
    return Value(expr, shape)


def _not(_: State, __: Node, args: Sequence[Argument]) -> Value:
    return Value(negate(args[0].condition()), BOOL)


# -- lists and texts --------------------------------------------------------------------------------------------------


def _len(state: State, node: Node, args: Sequence[Argument]) -> Value:
    counted = count_format(args[0])
    if counted is not None:
        return counted
    value = args[0].value()
    if value.shape == NOTHING:
        return value
    if value.rest is not None:
        rest = value.rest
        if rest.loop is None:
            return Value(Filter(value.expr, "length"), INT, position=rest)
        left = Position("left", rest.loop, rest.items, -rest.offset)
        return Value(Arithmetic(Filter(rest.items, "length"), "-", _index_of(rest)), INT, position=left)
    names = {kind.name for kind in value.shape}
    if names == {"string"}:
        text = as_total(state, value)
        if isinstance(text, Const):
            return Value(Const(len(str(text.value).encode())), INT)
        state.note_bytes(node, "`len` of a text counts bytes in Go and characters in Jinja")
        return Value(Filter(text, "length"), INT)
    if names == {"property_type"}:
        return Value(Conditional(Test(value.expr, "string"), Const(1), Filter(as_total(state, value), "length")), INT)
    if names <= LISTS | MAPS:
        items = as_total(state, value)
        position = Position("length", None, items) if names == {"messages"} else None
        return Value(Filter(items, "length"), INT, position=position)
    if names <= {"missing", "nil"}:
        return state.fail("GT205", node, "`len` of a value that is not there", "error calling len: len of nil pointer")
    if "any" in names or len(names) > 1:
        return Value(Filter(value.expr, "length"), INT)
    return state.fail("GT205", node, f"`len` of {only(value.shape)}", "error calling len")


def _index_of(position: Position) -> Expr:
    index: Expr = loop_attribute(position.loop, "index0") if position.loop is not None else Const(0)
    return index if not position.offset else Arithmetic(index, "+", Const(position.offset))


def _index(state: State, node: Node, args: Sequence[Argument]) -> Value:
    value, *keys = [arg.value() for arg in args]
    if value.shape and {kind.name for kind in value.shape} <= {"missing", "nil"}:
        return state.fail(
            "GT205", node, "`index` of a value that is not there", "error calling index: index of untyped nil"
        )
    for key in keys:
        if value.shape == NOTHING or key.shape == NOTHING:
            return value if value.shape == NOTHING else key
        value = _element(state, node, value, key)
    return value


def _element(state: State, node: Node, value: Value, key: Value) -> Value:
    names = {kind.name for kind in value.shape}
    element = element_shape(value.shape)
    items = as_total(state, value)
    if names <= MAPS:
        return Value(Item(items, as_total(state, key)), element, optional=True)
    if names == {"property_type"}:
        items = Conditional(Test(value.expr, "string"), ListLiteral((value.expr,)), items)
    elif not names <= LISTS:
        if names == {"any"}:
            return Value(Item(items, key.expr), element, optional=True)
        if names == {"string"}:
            return state.cannot("GT305", node, "`index` of a text gives a byte", "use `slice` for a part of a text")
        return state.fail("GT205", node, f"`index` of {only(value.shape)}", "error calling index")
    if key.shape != INT:
        return state.fail("GT205", node, "the index of a list is a number", "error calling index: cannot index slice")
    item = Item(items, key.expr)
    position = _place(value, key)
    if position is not None and position.loop is not None and position.items == (value.rest or position).items:
        return Value(_element_ahead(state, item, position.loop, position.offset), element)
    known = key.const == 0 and state.facts.holds(value.expr)
    if known:
        return Value(item, element)
    enough = Compare(Filter(items, "length"), ">", key.expr)
    return Value(Conditional(enough, item, refuse("error calling index: index out of range")), element)


def _place(value: Value, key: Value) -> Position | None:
    """Where in a loop's list an element is: `index $.Messages $i`, `index (slice $.Messages $i) 1`."""
    if value.rest is not None and isinstance(key.const, int):
        return Position("index", value.rest.loop, value.rest.items, value.rest.offset + key.const)
    return key.position if key.position is not None and key.position.kind == "index" else None


def _element_ahead(state: State, item: Expr, loop: Loop, ahead: int) -> Expr:
    """An element of the list that a loop goes over, so many places ahead, where there may be none.

    A condition that there is one does not rule that out while no generation prompt is wanted, for then no message is
    the last one.
    """
    if ahead <= 0:
        return item
    there = elements_left(loop, ">", ahead, always=True)
    if state.facts.holds(there):
        return item
    nothing: Expr = refuse("error calling index: index out of range")
    if loop.over_messages:
        guarded = state.facts.holds(elements_left(loop, ">", ahead))
        wanted = Name("add_generation_prompt")
        nothing = DictLiteral() if guarded else Conditional(wanted, nothing, DictLiteral())
    return Conditional(there, item, nothing)


def _slice(state: State, node: Node, args: Sequence[Argument]) -> Value:
    value, *ends = [arg.value() for arg in args]
    failed = next((v for v in (value, *ends) if v.shape == NOTHING), None)
    if failed is not None:
        return failed
    names = {kind.name for kind in value.shape}
    wrong = next((end for end in ends if not {kind.name for kind in end.shape} & {"int", "any"}), None)
    if wrong is not None:
        message = f"a place in a list or a text is a number, not {value_words(wrong)}"
        return state.fail("GT205", node, message, "error calling slice: cannot index slice/array")
    if len(ends) == 3 and names <= LISTS:
        return state.cannot("GT305", node, "`slice` with three indexes has no portable form")
    if len(ends) > 2:
        return state.fail("GT205", node, "too many slice indexes")
    if names == {"string"}:
        return _slice_text(state, node, value, ends)
    if not names <= LISTS or names == {"property_type"}:
        return state.fail("GT205", node, f"`slice` of {only(value.shape)}", "error calling slice")
    items = as_total(state, value)
    if len(ends) == 1 and ends[0].position is not None and ends[0].position.kind == "index":
        position = ends[0].position
        rest = Position("index", position.loop, items, position.offset) if position.items == items else None
        return Value(Slice(items, ends[0].expr, None), value.shape, rest=rest)
    start, stop = (*(end.expr for end in ends), None, None)[:2]
    rest = None
    if len(ends) == 1 and isinstance(ends[0].const, int) and names == {"messages"}:
        rest = Position("length", None, items, -ends[0].const)
    part: Expr = Slice(items, start, stop)
    needed = max((end.const for end in ends if type(end.const) is int), default=0)
    if needed > (1 if state.facts.holds(value.expr) else 0):
        enough = Compare(Filter(items, "length"), ">=", Const(needed))
        part = Conditional(enough, part, refuse("error calling slice: index out of range"))
    return Value(part, value.shape, rest=rest)


def _slice_text(state: State, node: Node, value: Value, ends: list[Value]) -> Value:
    text = as_total(state, value)
    if not ends:
        return Value(text, STRING)
    if isinstance(text, Const) and all(type(end.const) is int for end in ends):
        return _constant_slice(state, node, str(text.value), [end.const for end in ends if type(end.const) is int])
    start, stop = (*(end.expr for end in ends), None, None)[:2]
    longest = stop if stop is not None else start
    if start == Const(0):
        start = None
    part: Expr = Slice(text, start, stop)
    needed = longest.value if isinstance(longest, Const) and isinstance(longest.value, int) else None
    known = isinstance(longest, Const) and longest.value == state.facts.ascii_prefix(text)
    if not known:
        state.note_bytes(node, "`slice` of a text counts bytes in Go and characters in Jinja")
    if needed is None or state.facts.least_length(text) < needed:
        enough = Compare(Filter(text, "length"), ">=", longest if longest is not None else Const(0))
        part = Conditional(enough, part, refuse("error calling slice: index out of range"))
    return Value(part, STRING)


def _constant_slice(state: State, node: Node, text: str, ends: list[int]) -> Value:
    """A part of a text that is known, between places that are known."""
    data = text.encode()
    start, stop = (*ends, len(data))[:2]
    if not 0 <= start <= stop <= len(data):
        message = f"`slice` of a text of {len(data)} bytes from {start} to {stop}"
        return state.fail("GT205", node, message, "error calling slice: index out of range")
    try:
        return Value(Const(data[start:stop].decode()), STRING)
    except UnicodeDecodeError:
        return state.cannot("GT305", node, "this `slice` gives a part of a character")


# -- printing ---------------------------------------------------------------------------------------------------------


def _print(state: State, node: Node, args: Sequence[Argument]) -> Value:
    return Value(joined(print_pieces(state, [(arg.node, arg.value()) for arg in args], node)), STRING)


def _println(state: State, node: Node, args: Sequence[Argument]) -> Value:
    pieces: list[Expr] = []
    for n, arg in enumerate(args):
        pieces += [Const(" ")] if n else []
        pieces += print_pieces(state, [(arg.node, arg.value())], node)
    return Value(joined([*pieces, Const("\n")]), STRING)


def _printf(state: State, node: Node, args: Sequence[Argument]) -> Value:
    return format_text(state, node, args[0].value(), [(arg.node, arg.value()) for arg in args[1:]])


_HTML = (("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;"))


def _html(state: State, node: Node, args: Sequence[Argument]) -> Value:
    values = [(arg.node, arg.value()) for arg in args]
    # What is not there is a text here, so that no space stands beside it.
    absent = Value(Const("<no value>"), STRING)
    known = [(at, absent if is_absent(value) else value) for at, value in values]
    text = joined(print_pieces(state, known, node, "<no value>"))
    if any(isinstance(inner, Call) for inner in subexpressions(text)):
        # What a macro gives has no methods in some engines.
        text = Concat((EMPTY, text))
    for character, entity in _HTML:
        if isinstance(text, Const):
            text = Const(str(text.value).replace(character, entity))
        else:
            text = MethodCall(text, "replace", (Const(character), Const(entity)))
    return Value(text, STRING)


def _json(state: State, node: Node, args: Sequence[Argument]) -> Value:
    return Value(json_of(state, args[0].value(), node), STRING)


def _current_date(_: State, __: Node, ___: Sequence[Argument]) -> Value:
    today = Call("strftime_now", (Const("%Y-%m-%d"),))
    return Value(Conditional(Test(Name("strftime_now"), "defined"), today, EMPTY), STRING)


def _yesterday(_: State, __: Node, ___: Sequence[Argument]) -> Value:
    return Value(Conditional(Test(Name("strftime_now"), "defined"), Call("yesterday"), EMPTY), STRING)


def _typescript(_: State, __: Node, args: Sequence[Argument]) -> Value:
    value = args[0].value()
    if value.shape == NOTHING:
        return value
    if only(value.shape) == "property":
        return Value(Call("typescript_type", (value.expr,)), STRING)
    return Value(Const("any"), STRING)


def _unportable(state: State, node: Node, _: Sequence[Argument]) -> Value:
    return state.cannot("GT305", node, "this function has no form that all engines of Jinja run")


FUNCTION_TABLE: Mapping[str, Function] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "eq": equal,
    "ne": not_equal,
    "lt": order("<"),
    "le": order("<="),
    "gt": order(">"),
    "ge": order(">="),
    "len": _len,
    "index": _index,
    "slice": _slice,
    "print": _print,
    "println": _println,
    "printf": _printf,
    "json": _json,
    "currentDate": _current_date,
    "yesterdayDate": _yesterday,
    "toTypeScriptType": _typescript,
    "html": _html,
    "js": _unportable,
    "urlquery": _unportable,
    "call": _unportable,
}
