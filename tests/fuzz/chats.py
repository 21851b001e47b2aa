"""Random chats: what clients send, and what they should not."""

from __future__ import annotations

from random import Random
from typing import Any

from transpiler.verify.chats import Chat

Json = dict[str, Any]

_ROLES = ("system", "user", "user", "assistant", "assistant", "tool")
_ODD_ROLES = ("developer", "User", "control")
_TEXTS = (
    "Hi",
    "",
    "two\nlines",
    "  padded ",
    "<b>&'\"\\",
    "é😀",
    "{{ x }}{% y %}",
    "Be brief.",
    "user",
    "\n",
    "abcdefgh",
)
_NAMES = ("get_weather", "now", "book", "a-b.c")
_KEYS = ("city", "days", "z", "a", "Unit", "é", "items", "type")


def random_chats(draw: Random, count: int, *, fim: bool) -> list[Chat]:
    """So many chats; with `fim` a third of them are requests to fill in the middle."""
    return [
        random_completion(draw, str(number)) if fim and number % 3 == 2 else random_chat(draw, str(number))
        for number in range(count)
    ]


def random_chat(draw: Random, name: str) -> Chat:
    """A chat of up to six messages."""
    ids: list[str] = []
    request: Json = {"messages": [_message(draw, ids) for _ in range(draw.choice((0, 1, 1, 2, 3, 3, 4, 5, 6)))]}
    if draw.random() < 0.5:
        request["tools"] = [_tool(draw) for _ in range(draw.randint(1, 3))]
    think = draw.choice((None, None, None, True, False, "low", "high"))
    if think is not None:
        request["think"] = think
    return Chat(name, request)


def _message(draw: Random, ids: list[str]) -> Json:
    role = draw.choice(_ROLES) if draw.random() < 0.95 else draw.choice(_ODD_ROLES)
    message: Json = {"role": role, "content": draw.choice(_TEXTS)}
    if role == "assistant":
        if draw.random() < 0.4:
            message["tool_calls"] = [_call(draw, ids) for _ in range(draw.choice((1, 1, 2, 3)))]
            match draw.randrange(3):
                case 0:
                    message["content"] = None
                case 1:
                    message["content"] = ""
                case _:
                    pass
        if draw.random() < 0.3:
            key = draw.choice(("reasoning_content", "reasoning", "thinking"))
            message[key] = draw.choice(("Let me think.", "", "a\nb <é>"))
    elif role == "tool":
        if ids and draw.random() < 0.7:
            message["tool_call_id"] = draw.choice(ids)
        if draw.random() < 0.4:
            message["name"] = draw.choice(_NAMES)
    # Parts of results, of thinking and of several calls are where Ollama drops something: no host sends those.
    if role != "tool" and message["content"] and message.keys() == {"role", "content"} and draw.random() < 0.08:
        message["content"] = [{"type": "text", "text": draw.choice(_TEXTS)} for _ in range(draw.randint(1, 3))]
    return message


def random_completion(draw: Random, name: str) -> Chat:
    """A request to fill in the middle; Ollama takes one with an empty side for a chat."""
    before, after = (draw.choice([text for text in _TEXTS if text]) for _ in range(2))
    return Chat(name, {"prompt": before, "suffix": after})


def _call(draw: Random, ids: list[str]) -> Json:
    ids.append(f"call_{len(ids)}")
    arguments = {key: _value(draw) for key in draw.sample(_KEYS, draw.choice((0, 1, 2, 3)))}
    return {"id": ids[-1], "type": "function", "function": {"name": draw.choice(_NAMES), "arguments": arguments}}


def _value(draw: Random, depth: int = 0) -> Any:
    match draw.randrange(9 if depth < 2 else 6):
        case 0 | 1:
            return draw.choice(_TEXTS)
        case 2:
            return draw.choice((0, 1, -3, 1_000_000, 12345678901))
        case 3:
            return draw.choice((1.5, -0.25, 100.0))
        case 4:
            return draw.choice((True, False))
        case 5:
            return None
        case 6 | 7:
            return [_value(draw, depth + 1) for _ in range(draw.randint(0, 3))]
        case _:
            return {key: _value(draw, depth + 1) for key in draw.sample(_KEYS, draw.randint(0, 3))}


def _tool(draw: Random) -> Json:
    function: Json = {"name": draw.choice(_NAMES)}
    if draw.random() < 0.8:
        function["description"] = draw.choice(_TEXTS)
    if draw.random() < 0.9:
        function["parameters"] = _parameters(draw)
    return {"type": "function", "function": function}


def _parameters(draw: Random) -> Json:
    parameters: Json = {"type": "object"} if draw.random() < 0.9 else {}
    if draw.random() < 0.9:
        parameters["properties"] = {key: _property(draw) for key in draw.sample(_KEYS, draw.randint(0, 3))}
        if draw.random() < 0.7:
            known = list(parameters["properties"])
            parameters["required"] = known[: draw.randint(0, len(known))]
    if draw.random() < 0.05:
        parameters["$defs"] = {"Place": {"type": "string"}}
    if draw.random() < 0.1:
        parameters["additionalProperties"] = False
    return parameters


def _property(draw: Random, depth: int = 0) -> Json:
    schema: Json = {}
    match draw.randrange(12):
        case 0:
            schema["type"] = draw.sample(("string", "null", "integer"), draw.randint(1, 3))
        case 1:
            pass
        case 2:
            schema.update(type="array", items={"type": draw.choice(("string", "number"))})
        case 3 if depth < 2:
            schema["type"] = "object"
            schema["properties"] = {key: _property(draw, depth + 1) for key in draw.sample(_KEYS, draw.randint(0, 2))}
            if draw.random() < 0.5:
                schema["required"] = list(schema["properties"])
        case 4 if depth < 2:
            schema["anyOf"] = [_property(draw, depth + 1) for _ in range(draw.randint(1, 2))]
        case _:
            schema["type"] = draw.choice(("string", "string", "integer", "number", "boolean"))
    if draw.random() < 0.6:
        schema["description"] = draw.choice(_TEXTS)
    if draw.random() < 0.2:
        schema["enum"] = draw.choice((["a", "b"], [1, 2], ["<x>", None, True]))
    if draw.random() < 0.1:
        schema["default"] = 1
    return schema
