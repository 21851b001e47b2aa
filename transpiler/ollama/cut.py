"""Where Ollama cuts a template for the last turn of a chat, which the model is to answer.

`deleteNode` of Ollama v0.34 goes through the tree in the order of the document. From the first `.Response` in an
action's pipeline on, it deletes every node that it meets; conditions and arguments of `template` it does not look at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transpiler.gotmpl.ast import Action, Block, Command, Field, If, Operand, Pipeline, Range, Statement, With


@dataclass(frozen=True, slots=True)
class Cut:
    """The cut of a template.

    `path`: the ids of the statements that hold it, the action itself included; `action`: that action; `pipe`: what is
    left of its pipeline, None where nothing is; `orphan`: a branch with an else arm behind the cut, at which Ollama
    panics. A template that prints no `.Response` of its own is kept whole: no path and no action.
    """

    path: frozenset[int]
    action: Action | None
    pipe: Pipeline | None
    orphan: Statement | None = None


def find_cut(block: Block) -> Cut | None:
    """The cut of a template's statements, or None where no action has `.Response`."""
    for stmt in block:
        match stmt:
            case Action(pipe):
                left = _Left()
                rest = left.pipeline(pipe)
                if left.cut:
                    return Cut(frozenset({id(stmt)}), stmt, rest)
            case If(_, body, orelse) | With(_, body, orelse) | Range(_, body, orelse):
                found = find_cut(body)
                if found is not None:
                    orphan = stmt if orelse is not None else found.orphan
                    return replace(found, path=found.path | {id(stmt)}, orphan=orphan)
                found = find_cut(orelse or ())
                if found is not None:
                    return replace(found, path=found.path | {id(stmt)})
            case _:
                pass
    return None


class _Left:
    """What the cut leaves of a pipeline: the operands up to `.Response`; nothing, if a command has none left."""

    def __init__(self) -> None:
        self.cut = False

    def pipeline(self, pipe: Pipeline) -> Pipeline | None:
        cmds: list[Command] = []
        for cmd in pipe.cmds:
            args: list[Operand] = []
            for arg in cmd.args:
                kept = self.operand(arg)
                if kept is not None:
                    args.append(kept)
            if not args:
                return None
            cmds.append(replace(cmd, args=tuple(args)))
        return replace(pipe, cmds=tuple(cmds))

    def operand(self, operand: Operand) -> Operand | None:
        if self.cut:
            return None
        match operand:
            case Field(names):
                self.cut = "Response" in names
                return operand
            case Pipeline():
                return self.pipeline(operand)
            case _:
                return operand
