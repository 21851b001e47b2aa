"""Rules that are about names: what is never used, what hides what, and what a loop would have to remember."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jinja2 import nodes

from .tree import walk
from .violation import Violation


def _names(target: nodes.Node) -> list[str]:
    """Return the plain names that `target` gives a value."""
    if isinstance(target, nodes.Name):
        return [target.name]
    if isinstance(target, nodes.Tuple):
        return [name for item in target.items for name in _names(item)]
    return []


def _assigned(body: Iterable[nodes.Node]) -> set[str]:
    """Return what is set in `body`, not in a loop or a macro inside it."""
    found: set[str] = set()
    for node in body:
        match node:
            case nodes.Assign() | nodes.AssignBlock():
                found.update(_names(node.target))
            case nodes.If():
                for branch in (node.body, *(other.body for other in node.elif_), node.else_):
                    found |= _assigned(branch)
    return found


def unused(root: nodes.Template) -> Iterator[Violation]:
    """Yield macros that nobody calls, variables and namespace attributes that nobody reads."""
    read = {node.name for node in root.find_all(nodes.Name) if node.ctx == "load"}
    attributes = {
        (node.node.name, node.attr) for node in root.find_all(nodes.Getattr) if isinstance(node.node, nodes.Name)
    }
    passed = {
        argument.name
        for call in root.find_all(nodes.Call)
        for argument in call.args
        if isinstance(argument, nodes.Name)
    }
    for macro in root.find_all(nodes.Macro):
        inside = {id(node) for node in walk(macro)}
        if not any(name.name == macro.name and id(name) not in inside for name in root.find_all(nodes.Name)):
            yield Violation(macro.lineno, "unused-macro", f"macro {macro.name}")
    sets: list[nodes.Assign | nodes.AssignBlock] = [*root.find_all(nodes.Assign), *root.find_all(nodes.AssignBlock)]
    for node in sets:
        target = node.target
        if isinstance(target, nodes.NSRef):
            if (target.name, target.attr) not in attributes and target.name not in passed:
                yield Violation(node.lineno, "unused-variable", f"{target.name}.{target.attr} is never read")
            continue
        for name in _names(target):
            if name not in read and not any(ref.name == name for ref in root.find_all(nodes.NSRef)):
                yield Violation(node.lineno, "unused-variable", f"{name} is never read")


def filter_names(root: nodes.Template) -> Iterator[Violation]:
    """Yield variables, parameters and macros named as a filter of the text: in minja they replace it."""
    filters = {node.name for node in root.find_all(nodes.Filter)}
    defined = [(node.name, node.lineno) for node in root.find_all(nodes.Name) if node.ctx != "load"]
    defined += [(macro.name, macro.lineno) for macro in root.find_all(nodes.Macro)]
    for name, line in defined:
        if name in filters:
            yield Violation(line, "filter-name", f"{name} is a filter of this text")


def shadowing(root: nodes.Template) -> Iterator[Violation]:
    """Yield loop variables that hide another name: minja leaves them set after the loop."""
    yield from _shadowing(root.body, frozenset(_assigned(root.body)))


def _shadowing(body: Iterable[nodes.Node], outer: frozenset[str]) -> Iterator[Violation]:
    for node in body:
        match node:
            case nodes.For():
                targets = _names(node.target)
                for name in targets:
                    if name in outer:
                        yield Violation(node.lineno, "shadowing", f"loop variable {name} hides another one")
                inner = outer | set(targets) | _assigned(node.body)
                yield from _shadowing(node.body, inner)
                yield from _shadowing(node.else_, outer)
            case nodes.Macro():
                yield from _shadowing(node.body, frozenset(argument.name for argument in node.args))
            case nodes.If():
                for branch in (node.body, *(other.body for other in node.elif_), node.else_):
                    yield from _shadowing(branch, outer)
            case nodes.AssignBlock() | nodes.FilterBlock():
                yield from _shadowing(node.body, outer)


def loop_carried(root: nodes.Template) -> Iterator[Violation]:
    """Yield reads of a variable that the loop sets, in a place where this iteration may not have set it yet.

    Whether the value of the iteration before is seen there differs between engines; a namespace is for that.
    """
    for loop in root.find_all(nodes.For):
        watched = _assigned(loop.body)
        yield from _reads(loop.body, watched, set())[0]


def _reads(body: Iterable[nodes.Node], watched: set[str], done: set[str]) -> tuple[list[Violation], set[str]]:
    """Return the early reads of `body` and what is surely set after it."""
    found: list[Violation] = []

    def read(expression: nodes.Node | None) -> None:
        for node in walk(expression) if expression is not None else ():
            if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in watched - done:
                found.append(Violation(node.lineno, "loop-carried", f"{node.name} may be of the iteration before"))

    for node in body:
        match node:
            case nodes.Assign():
                read(node.node)
                done = done | set(_names(node.target))
            case nodes.AssignBlock():
                found += _reads(node.body, watched, done)[0]
                done = done | set(_names(node.target))
            case nodes.If():
                after: list[set[str]] = []
                for branch in (node, *node.elif_):
                    read(branch.test)
                    violations, surely = _reads(branch.body, watched, done)
                    found += violations
                    after.append(surely)
                violations, surely = _reads(node.else_, watched, done)
                found += violations
                done = set.intersection(*after, surely)
            case nodes.For():
                read(node.iter)
                inner = done | set(_names(node.target))
                if node.test is not None:
                    found += _reads([nodes.Output([node.test])], watched, inner)[0]
                found += _reads(node.body, watched - _assigned(node.body), inner)[0]
                found += _reads(node.else_, watched, done)[0]
            case nodes.FilterBlock():
                violations, done = _reads(node.body, watched, done)
                found += violations
            case nodes.Macro():
                pass
            case _:
                read(node)
    return found, done


def dynamic_scope(root: nodes.Template) -> Iterator[Violation]:
    """Yield free variables of a macro that some caller may have a local of: some engines read the caller's."""
    macros = {macro.name for macro in root.find_all(nodes.Macro)}
    locals_ = {name for loop in root.find_all(nodes.For) for name in (*_names(loop.target), *_assigned(loop.body))}
    locals_ |= {argument.name for macro in root.find_all(nodes.Macro) for argument in macro.args}
    for macro in root.find_all(nodes.Macro):
        known = macros | {node.name for node in walk(macro) if isinstance(node, nodes.Name) and node.ctx != "load"}
        for node in walk(macro):
            if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in locals_ - known:
                yield Violation(node.lineno, "dynamic-scope", f"{node.name} may be the caller's")


RULES = (unused, filter_names, shadowing, loop_carried, dynamic_scope)
