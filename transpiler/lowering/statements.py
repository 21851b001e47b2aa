"""Statements: text, actions, branches and loops become Jinja; Go's scopes become names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Break,
    Comment,
    Continue,
    If,
    Pipeline,
    Range,
    Statement,
    TemplateCall,
    Text,
    With,
)
from transpiler.jinja import ast as jinja
from transpiler.lowering.data import as_operand, as_total
from transpiler.lowering.expressions import condition_of, pipeline_value, truth
from transpiler.lowering.jumps import jumps_in, may_jump, without_continue
from transpiler.lowering.loops import items_of, new_loop, targets_of, with_jumps
from transpiler.lowering.printing import pieces
from transpiler.lowering.state import STATE, State
from transpiler.lowering.values import Value
from transpiler.ollama.datamodel import (
    BOOL,
    NOTHING,
    ROOT,
    Mode,
    Shape,
)
from transpiler.passes.scopes import Binding


def lower_block(state: State, block: Sequence[Statement], tail: frozenset[int] = frozenset()) -> jinja.Body:
    """The statements of a block. `tail`: ids of the statements that are, or hold, the last loop over the messages."""
    out: list[jinja.Stmt] = []
    declared: list[Binding] = []
    for n, stmt in enumerate(block):
        out += _statement(state, stmt, declared, tail)
        out += _settle(state, stmt, declared)
        rest = block[n + 1 :]
        if _stops(out):
            break  # what follows would read variables that have no value
        if rest and may_jump(stmt):
            skipped = jinja.Name(state.loops[-1].names["skip"])
            state.loops[-1].guarded = True
            with state.inside():
                unskipped = lower_block(state, rest, tail)
            out.append(jinja.If(((jinja.Not(skipped), unskipped),)))
            break
        if rest and state.cut is not None and id(stmt) in state.cut.path:
            # The last turn ends here: what follows is printed only in turns that have their answer.
            with state.after_cut():
                closing = lower_block(state, rest)
            out.append(jinja.If(((jinja.Not(jinja.Name(state.chat.cut)), closing),)))
            break
        if rest and id(stmt) in tail:
            # What follows the last loop over the messages is the generation prompt.
            prompt = lower_block(state, rest)
            out.append(jinja.If(((jinja.Name("add_generation_prompt"), prompt),)))
            break
    return tuple(out)


def _stops(out: Sequence[jinja.Stmt]) -> bool:
    """Whether the chat is refused at the end of these statements."""
    match out[-1:]:
        case [jinja.Output(jinja.Call("raise_exception"))]:
            return True
        case _:
            return False


def _statement(state: State, stmt: Statement, declared: list[Binding], tail: frozenset[int]) -> list[jinja.Stmt]:
    before, state.pending = state.pending, []
    match stmt:
        case Text(text):
            out: list[jinja.Stmt] = [jinja.Output(jinja.Const(text))]
        case Comment(text):
            out = [jinja.Comment(" ".join(text.split()))] if text.strip() and _on_own_line(state, stmt) else []
        case Action(pipe):
            cut = state.cut
            if cut is not None and stmt is cut.action and cut.pipe != pipe:
                out = _cut_action(state, pipe, cut.pipe, declared)
            else:
                out = _action(state, pipe, declared)
        case If(pipe, body, orelse):
            out = _if(state, pipe, body, orelse, declared, tail)
        case With(pipe, body, orelse):
            out = _with(state, pipe, body, orelse, tail)
        case Range():
            out = _range(state, stmt)
        case TemplateCall():
            out = _template(state, stmt)
        case Continue():
            out = [jinja.Set(state.loops[-1].names["skip"], jinja.TRUE)]
        case Break() if state.in_else_arm:
            out = [jinja.Set(state.loops[-1].names["skip"], jinja.TRUE)]
        case Break():
            names = state.loops[-1].names
            if "stop" not in names:
                names["stop"] = state.names.beside("stop", set().union(*(loop.stops for loop in state.loops)))
                for loop in state.loops:
                    loop.stops.add(names["stop"])
            out = [jinja.SetAttribute(STATE, names["stop"], jinja.TRUE), jinja.Set(names["skip"], jinja.TRUE)]
        case _:
            assert_never(stmt)
    out = [*state.pending, *out]
    state.pending = before
    return out


def _on_own_line(state: State, comment: Comment) -> bool:
    text, start = state.source.text, comment.span.start
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()


# -- actions and variables --------------------------------------------------------------------------------------------


def _action(state: State, pipe: Pipeline, declared: list[Binding]) -> list[jinja.Stmt]:
    if not pipe.decls:
        value = pipeline_value(state, pipe)
        return [jinja.Output(piece) for piece in pieces(state, value, pipe)]
    binding = state.scopes.of.get(pipe.decls[0].span)
    if binding is None:
        name = pipe.decls[0].name
        return [jinja.Output(state.fail("GT207", pipe.decls[0], f"undefined variable: {name}").expr)]
    value = _commands_value(state, pipe)
    if value.shape == NOTHING:
        return [jinja.Output(value.expr)]
    if not pipe.assign:
        declare(state, binding, declared)
        if not binding.writes and _is_alias(state, value):
            state.bound[binding] = value
            return []
    return [state.write(binding, _kept(state, value, state.shapes.bindings.get(binding)))]


def _cut_action(state: State, pipe: Pipeline, left: Pipeline | None, declared: list[Binding]) -> list[jinja.Stmt]:
    """The action of which only a part runs in the last turn."""
    bound = dict(state.bound)
    last = _action(state, left, declared) if left is not None else []
    state.bound = bound
    with state.after_cut():
        whole = _action(state, pipe, declared)
    return [jinja.If(((jinja.Name(state.chat.cut), tuple(last)),), tuple(whole))]


def _commands_value(state: State, pipe: Pipeline) -> Value:
    """The value that a pipeline gives its variables."""
    bare = Pipeline((), False, pipe.cmds, span=pipe.span)
    shape = state.shapes.of(pipe)
    if shape == BOOL:
        return Value(condition_of(state, bare), BOOL)
    return pipeline_value(state, bare)


def declare(state: State, binding: Binding, declared: list[Binding]) -> None:
    """A new Go variable; where a loop writes to it, it is kept in the namespace until no loop does any more."""
    declared.append(binding)
    if binding.crosses_loops:
        state.in_namespace.add(binding)
    elif not binding.writes:
        state.holds(state.names.of(binding))


def _is_alias(state: State, value: Value) -> bool:
    """Whether a variable would only be another name for what is at hand, or a number that depends on the loop."""
    if value.position is not None:
        return True
    match value.expr:
        case jinja.Shared():
            return value.shape != BOOL
        case jinja.Name(name):
            return name in state.stable
        case jinja.Item(jinja.Name(name), jinja.Const()):
            return name in state.stable and not value.optional
        case _:
            return False


def _kept(state: State, value: Value, kinds: Shape | None) -> jinja.Expr:
    """What is put where values of these kinds may be; a truth value among others has to be one."""
    return as_operand(state, value) if value.shape == BOOL != kinds else _stored(state, value)


def _stored(state: State, value: Value) -> jinja.Expr:
    names = {kind.name for kind in value.shape}
    return value.expr if names & {"any", "missing", "nil"} else as_total(state, value)


def _settle(state: State, stmt: Statement, declared: list[Binding]) -> list[jinja.Stmt]:
    """After the last loop that writes to a variable it moves out of the namespace: reading that is dear in a loop."""
    out: list[jinja.Stmt] = []
    for binding in declared:
        if binding not in state.in_namespace or binding in state.settled:
            continue
        in_loops = [w.span for w in binding.writes if len(w.loops) > len(binding.loops)]
        if max(span.end for span in in_loops) > stmt.span.end:
            continue
        state.settled.add(binding)
        before = state.place(binding)
        state.in_namespace.discard(binding)
        later = [use for use in (*binding.reads, *binding.writes) if use.span.start >= stmt.span.end]
        if later:
            out.append(jinja.Set(state.names.of(binding), before))
        if not any(w.span.start >= stmt.span.end for w in binding.writes):
            state.holds(state.names.of(binding))
    return out


# -- branches ---------------------------------------------------------------------------------------------------------


def _if(
    state: State,
    pipe: Pipeline,
    body: Block,
    orelse: Block | None,
    declared: list[Binding],
    tail: frozenset[int],
) -> list[jinja.Stmt]:
    out: list[jinja.Stmt] = []
    if pipe.decls:
        out += _action(state, pipe, declared)
        if _stops(out):
            return out
        binding = state.scopes.of[pipe.decls[0].span]
        test = truth(state, state.read(binding))
    else:
        test = condition_of(state, pipe)
    with state.inside(assuming=test):
        then = lower_block(state, body, tail)
    with state.inside(assuming=test, truth=False):
        other = lower_block(state, orelse or (), tail)
    return [*out, jinja.If(((test, then),), other)]


def _with(state: State, pipe: Pipeline, body: Block, orelse: Block | None, tail: frozenset[int]) -> list[jinja.Stmt]:
    out: list[jinja.Stmt] = []
    declared: list[Binding] = []
    if pipe.decls:
        out += _action(state, pipe, declared)
        if _stops(out):
            return out
        binding = state.scopes.of[pipe.decls[0].span]
        value = state.read(binding)
        # Dot stays what it is when the variable is given another value.
        kept = bool(binding.writes)
    else:
        value = pipeline_value(state, pipe)
        kept = not (_is_alias(state, value) or isinstance(value.expr, jinja.Item | jinja.Const) or value.shape == ROOT)
    if kept:
        name = state.names.fresh("value")
        out.append(jinja.Set(name, _stored(state, value)))
        state.holds(name)
        value = Value(jinja.Name(name), value.shape)
    test = truth(state, value)
    with state.inside(dot=value, assuming=test):
        then = lower_block(state, body, tail)
    with state.inside(assuming=test, truth=False):
        other = lower_block(state, orelse or (), tail)
    return [*out, jinja.If(((test, then),), other)]


def turn_values(state: State) -> tuple[str, ...]:
    """The variables of a turn, which a defined template needs as parameters: a macro sees none of its caller's."""
    chat = state.chat
    return (chat.system, chat.prompt, chat.response) if state.mode is Mode.LEGACY else ()


def _template(state: State, call: TemplateCall) -> list[jinja.Stmt]:
    if call.pipe is None:
        state.fail("GT206", call, f'`template "{call.name}"` has no argument', "undefined template specified")
        return []
    value = pipeline_value(state, call.pipe)
    if value.shape == NOTHING:
        return [jinja.Output(value.expr)]
    kinds = state.shapes.dots.get(call.name)
    if kinds == ROOT:
        args: tuple[jinja.Expr, ...] = ()
    elif value.shape == ROOT:
        # The macro tells the data from other values by its being a mapping; it reads the chat's own variables.
        args = (jinja.DictLiteral((("data", jinja.TRUE),)),)
    else:
        args = (_kept(state, value, kinds),)
    turn = tuple(jinja.Name(name) for name in turn_values(state))
    printed: jinja.Expr = jinja.Call(state.macros[call.name], (*args, *turn))
    if state.cut is not None:
        message = f'`template "{call.name}"` isn\'t there in the last turn'
        failed = state.fail("GT208", call, message, f'template "{call.name}" not defined')
        printed = jinja.Conditional(jinja.Name(state.chat.cut), failed.expr, printed)
    return [jinja.Output(printed)]


# -- loops ------------------------------------------------------------------------------------------------------------


def _range(state: State, stmt: Range) -> list[jinja.Stmt]:
    pipe = stmt.pipe
    value = pipeline_value(state, Pipeline((), False, pipe.cmds, span=pipe.span))
    if value.shape == NOTHING:
        return [jinja.Output(value.expr)]
    names = {kind.name for kind in value.shape}
    if names <= {"missing", "nil"}:
        return list(lower_block(state, stmt.orelse or ()))
    undeclared = next((decl for decl in pipe.decls if decl.span not in state.scopes.of), None)
    if undeclared is not None:
        return [jinja.Output(state.fail("GT207", undeclared, f"undefined variable: {undeclared.name}").expr)]
    if names == {"int"} and len(pipe.decls) == 2:
        message = "`range` over a number has one variable"
        return [jinja.Output(state.fail("GT204", pipe, message, "can't iterate over more than one variable").expr)]
    items = items_of(state, value, names, pipe)
    if items is None:
        return []
    if isinstance(items, jinja.Call) and items.name == "raise_exception":
        return [jinja.Output(items)]
    loop = new_loop(state, stmt, names)
    out: list[jinja.Stmt] = []
    targets, element, first = targets_of(state, pipe, loop, value, names)
    state.loops.append(loop)
    state.holds(*targets)
    before, state.in_else_arm = state.in_else_arm, False
    with state.inside(dot=element, always=loop.over_messages):
        body = (*first, *lower_block(state, without_continue(stmt.body)))
    state.loops.pop()
    state.in_else_arm = before
    body, flags = with_jumps(loop, body)
    out += flags
    whole: jinja.Stmt = jinja.For(targets, items, body, id=loop.id)
    if stmt.orelse:
        for decl in pipe.decls:
            # In the else arm Go's loop variables are there, and hold what had no elements.
            if decl.span in state.scopes.of:
                state.bound[state.scopes.of[decl.span]] = value
        whole_arm = _else_arm(state, stmt.orelse, stmt)
        some = jinja.Compare(value.expr, ">", jinja.Const(0)) if names == {"int"} else truth(state, value)
        whole = jinja.If(((some, (whole,)),), whole_arm)
    return [*out, whole]


def _else_arm(state: State, block: Block, stmt: Range) -> jinja.Body:
    """What runs where there are no elements. A `break` in it ends the arm, for Go has left no loop yet."""
    jumps = jumps_in(block)
    if jumps == {"break", "continue"}:
        state.cannot("GT305", stmt, "`break` and `continue` in the else arm of one `range`")
    before, state.in_else_arm = state.in_else_arm, True
    with state.inside():
        body = lower_block(state, block)
    state.in_else_arm = before
    return (*body, jinja.Set(state.loops[-1].names["skip"], jinja.FALSE)) if jumps == {"break"} else body
