"""The chats that templates are compared on, and their forms for Ollama and for Jinja.

A chat is one JSON object: an OpenAI chat-completions request with a field `think`. The sources of chats: an enumeration
(every sequence of up to three messages of seven kinds, with and without tools, with and without thinking), a sample of
longer sequences, and the named chats of `chats.json`, which show what sequences of such kinds can't (parallel calls,
content parts, foreign roles, odd numbers, …).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

__all__ = ["Chat", "completions", "enumerated", "from_values", "named", "sampled", "to_jinja_context", "to_ollama"]

Json = dict[str, Any]

_NAMED = Path(__file__).with_name("chats.json")
_LONGEST = 3
_KINDS = ("system", "user", "user_empty", "assistant", "assistant_call", "assistant_thinking", "tool")

# Texts of a kind by place, so that no two messages of a chat are equal and a merge or a swap can be seen.
_TEXTS: Mapping[str, tuple[str, str, str]] = {
    "system": ("Be brief.", "New <rules> & \"quotes\" for 'you' \\n.", "Third\nsystem."),
    "user": ("Hello, how are you?", "  padded\té你😀 {{ x }} {% raw %} {# no #}", "<b>&amp;</b>\n"),
    "assistant": ("I'm fine.", 'It\'s <22> & "mild".', "One line,\n\nand another."),
    "thinking": ("They greet me.", "If 2 < 3 & so on…", "First,\nthen."),
    "tool": ("22", '{"temp": 5, "unit": "C"}', "<none> & 'nothing'"),
}
_CALLS: tuple[Json, Json, Json] = (
    {"name": "get_weather", "arguments": {"days": 3, "city": "Paris, France"}},
    {
        "name": "book_trip",
        "arguments": {"to": 'Rome <&> "é"', "extras": ["a", 1.5, None, True], "who": {"z": 1, "a": 2}},
    },
    {"name": "now", "arguments": {}},
)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat with a name that is unique within its source.

    `request` is the JSON object; `arguments` in it are mappings. It holds "messages", and "tools" and "think" where
    they are set; or "prompt" and "suffix". It is shared between chats: never change it.
    """

    name: str
    request: Mapping[str, Any] = field(hash=False)


@cache
def enumerated(longest: int = _LONGEST) -> tuple[Chat, ...]:
    """Every sequence of up to `longest` (at most 3) messages, with and without tools and thinking.

    Seven kinds of message make 1 + 7 + 49 + 343 sequences. Those of at most two come with every pair of tools (none,
    some) and think (absent, true, false, and for at most one message the three levels too); those of three with every
    think and, in turn, with and without tools. In all 1,419 chats.
    """
    return tuple(
        Chat(f"{'-'.join(kinds) or 'empty'}{'+tools' if tools else ''}{_think_name(think)}", request)
        for length in range(longest + 1)
        for number, kinds in enumerate(product(_KINDS, repeat=length))
        for messages in [_messages(kinds)]
        for tools, think in _settings(length, number)
        for request in [_request(messages, tools=tools, think=think)]
    )


@cache
def named() -> tuple[Chat, ...]:
    """The chats of `chats.json`, whose lists of tools are names of entries in its "tools"."""
    return _read("chats")


@cache
def completions() -> tuple[Chat, ...]:
    """The fill-in-the-middle requests of `chats.json`."""
    return _read("completions")


@cache
def sampled(count: int = 200, seed: int = 0) -> tuple[Chat, ...]:
    """Longer chats than the enumeration has, four to eight messages, drawn at random but always the same."""
    draw = random.Random(seed)
    chats = []
    for number in range(count):
        kinds = draw.choices(_KINDS, k=draw.randint(4, 8))
        tools, think = draw.choice((False, True)), draw.choice((None, True, False, "high"))
        name = f"{number}:{'-'.join(kinds)}{'+tools' if tools else ''}{_think_name(think)}"
        chats.append(Chat(name, _request(_messages(kinds), tools=tools, think=think)))
    return tuple(chats)


def to_jinja_context(chat: Chat) -> Json:
    """The variables that transformers, vLLM or llama.cpp would hand to a chat template for this chat.

    `messages` with arguments as mappings, `tools` where there are some, `add_generation_prompt` (true unless the
    request says otherwise), `enable_thinking` from think (true for a level), `reasoning_effort` for a level. For a
    fill-in-the-middle request `prompt` and `suffix`.
    """
    request = chat.request
    context: Json = {}
    if "prompt" in request:
        context.update(prompt=request["prompt"], suffix=request.get("suffix", ""))
    else:
        context["messages"] = [_with_arguments(message, _as_mapping) for message in request["messages"]]
        context["add_generation_prompt"] = request.get("add_generation_prompt", True)
        if request.get("tools"):
            context["tools"] = request["tools"]
    think = request.get("think")
    if think is not None:
        context["enable_thinking"] = think is not False
        if isinstance(think, str):
            context["reasoning_effort"] = think
    return context


def to_ollama(chat: Chat) -> Json:
    """The request as Ollama's OpenAI endpoint takes it: arguments as JSON text, thinking under the name `reasoning`, a
    tool's name under `name`."""
    request = dict(chat.request)
    if "messages" in request:
        request["messages"] = [_for_ollama(message) for message in request["messages"]]
    return request


def from_values(scenario: Mapping[str, Any]) -> Chat:
    """The chat that Ollama's own values came from, for values in the form of the corpus's scenarios.

    The other direction is `Oracle.render_values`. Values hold a call's `function.index`, which no OpenAI request can
    set; the chat keeps it there. Thinking of a message becomes `reasoning_content`, a tool's name `name`.
    """
    request: Json = {}
    if scenario.get("suffix"):
        request.update(prompt=scenario.get("prompt", ""), suffix=scenario["suffix"])
    else:
        names = {"thinking": "reasoning_content", "tool_name": "name"}
        request["messages"] = [_renamed(message, names) for message in scenario["messages"]]
        if scenario.get("tools"):
            request["tools"] = scenario["tools"]
    if scenario.get("is_think_set"):
        request["think"] = scenario.get("think_level") or bool(scenario.get("think"))
    return Chat(scenario["name"], request)


# -- the data file ----------------------------------------------------------------------------------------------------


@cache
def _data() -> Json:
    data: Json = json.loads(_NAMED.read_text(encoding="utf-8"))
    return data


def _read(section: str) -> tuple[Chat, ...]:
    chats = []
    for entry in _data()[section]:
        request = {key: value for key, value in entry.items() if key not in {"name", "tools"}}
        if entry.get("tools"):
            request["tools"] = _tools(entry["tools"])
        chats.append(Chat(entry["name"], request))
    return tuple(chats)


def _tools(names: Sequence[str]) -> list[Json]:
    library: Mapping[str, Json] = _data()["tools"]
    return [library[name] for name in names]


# -- the enumeration --------------------------------------------------------------------------------------------------


def _settings(length: int, number: int) -> list[tuple[bool, bool | str | None]]:
    """The pairs of tools and think that a sequence comes with."""
    match length:
        case 0 | 1:
            return list(product((False, True), (None, True, False, "low", "high", "max")))
        case 2:
            return list(product((False, True), (None, True, False)))
        case _:
            tools = number % 2 == 1
            return [(tools, None), (not tools, True), (tools, False)]


def _think_name(think: bool | str | None) -> str:
    match think:
        case None:
            return ""
        case bool():
            return "+think" if think else "+nothink"
        case str():
            return f"+{think}"


def _request(messages: Sequence[Json], *, tools: bool, think: bool | str | None) -> Json:
    request: Json = {"messages": messages}
    if tools:
        request["tools"] = _tools(("get_weather", "book_trip", "now"))
    if think is not None:
        request["think"] = think
    return request


def _messages(kinds: Sequence[str]) -> list[Json]:
    return [_message(kind, place, kinds) for place, kind in enumerate(kinds)]


def _message(kind: str, place: int, kinds: Sequence[str]) -> Json:
    match kind:
        case "user_empty":
            return {"role": "user", "content": ""}
        case "assistant_call":
            call = {"id": f"call_{place}", "type": "function", "function": _CALLS[place % 3]}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case "assistant_thinking":
            content, thinking = _TEXTS["assistant"][place % 3], _TEXTS["thinking"][place % 3]
            return {"role": "assistant", "content": content, "reasoning_content": thinking}
        case "tool":
            return {"role": "tool", "content": _TEXTS["tool"][place % 3], **_answered(place, kinds)}
        case _:
            return {"role": kind, "content": _TEXTS[kind][place % 3]}


def _answered(place: int, kinds: Sequence[str]) -> Json:
    """Which call a tool message answers: the nearest earlier one by its id alone, so that its name has to be looked
    up; where there is none, a call that nobody made, with a name."""
    for earlier in range(place - 1, -1, -1):
        if kinds[earlier] == "assistant_call":
            return {"tool_call_id": f"call_{earlier}"}
    return {"tool_call_id": "call_lost", "name": "get_weather"}


# -- the forms --------------------------------------------------------------------------------------------------------


def _with_arguments(message: Json, change: Callable[[Any], Any]) -> Json:
    if not message.get("tool_calls"):
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": change(call["function"].get("arguments"))}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _as_mapping(arguments: Any) -> Any:
    """JSON text of an object becomes the object, as servers do before they render; anything else stays."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _for_ollama(message: Json) -> Json:
    renamed = _renamed(message, {"tool_name": "name"})
    for name in ("reasoning_content", "reasoning", "thinking"):
        if renamed.get(name):
            thinking = renamed[name]
            rest = {k: v for k, v in renamed.items() if k not in {"reasoning_content", "reasoning", "thinking"}}
            renamed = {**rest, "reasoning": thinking}
            break
    return _with_arguments(renamed, _as_text)


def _renamed(message: Json, names: Mapping[str, str]) -> Json:
    return {names.get(key, key): value for key, value in message.items()}
