"""`continue` and `break`, which not every engine has.

`{{ if c }}A{{ continue }}{{ end }}B` is `{{ if c }}A{{ else }}B{{ end }}`; where a jump stands deeper, the lowering
sets a flag and guards what follows.
"""

from __future__ import annotations

from dataclasses import replace

from transpiler.gotmpl.ast import Block, Break, Comment, Continue, If, Range, Statement, With


def may_jump(stmt: Statement) -> bool:
    """Whether a statement holds a `continue` or `break` of the loop around it."""
    match stmt:
        case Continue() | Break():
            return True
        case If(_, body, orelse) | With(_, body, orelse):
            return any(map(may_jump, body)) or any(map(may_jump, orelse or ()))
        case Range(_, _, orelse):
            # From the else arm of an inner loop `continue` goes on with the outer one; `break` only ends the arm.
            return jumps_in(orelse or ()) >= {"continue"}
        case _:
            return False


def jumps_in(block: Block) -> frozenset[str]:
    """Which of `break` and `continue` a block holds for the loop around it."""
    found: frozenset[str] = frozenset()
    for stmt in block:
        match stmt:
            case Break():
                found |= {"break"}
            case Continue():
                found |= {"continue"}
            case If(_, body, orelse) | With(_, body, orelse):
                found |= jumps_in(body) | jumps_in(orelse or ())
            case Range(_, _, orelse):
                found |= jumps_in(orelse or ()) & {"continue"}
            case _:
                pass
    return found


def without_continue(block: Block) -> Block:
    """A loop's body with each `continue` at the end of an `if`'s arm turned into an else; the end needs none."""
    out: list[Statement] = []
    for n, stmt in enumerate(block):
        if isinstance(stmt, Continue):
            break
        if isinstance(stmt, If):
            simple = _guard(stmt, block[n + 1 :])
            if simple is not None:
                return (*out, simple)
        out.append(stmt)
    return tuple(out)


def _guard(stmt: If, rest: Block) -> If | None:
    """The `if` with what follows it in the arms that come back; None where a jump isn't at an arm's end."""
    arms = (stmt.body, stmt.orelse or ())
    if not any(map(_ends_in_continue, arms)):
        return None
    moved = tuple(_without_end(arm) if _ends_in_continue(arm) else (*arm, *rest) for arm in arms)
    return replace(stmt, body=without_continue(moved[0]), orelse=without_continue(moved[1]) or None)


def _ends_in_continue(block: Block) -> bool:
    solid = [stmt for stmt in block if not isinstance(stmt, Comment)]
    return bool(solid) and isinstance(solid[-1], Continue)


def _without_end(block: Block) -> Block:
    last = max(n for n, stmt in enumerate(block) if isinstance(stmt, Continue))
    return block[:last]
