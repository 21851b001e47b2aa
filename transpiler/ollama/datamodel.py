"""The types of every value that Ollama hands to a template (`template.go` and `api/types.go`, v0.34).

A shape is the set of kinds that a value may have. Structs list their fields under their Go names; what a kind prints
as, and how a chat template gets at it, is decided elsewhere by the kind's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Kind:
    """One type: a basic one, or one of Ollama's; `elem` is what its elements are, for lists and maps."""

    name: str
    elem: Shape | None = None

    def __repr__(self) -> str:
        return self.name if self.elem is None else f"{self.name}[{self.elem}]"


Shape: TypeAlias = frozenset[Kind]


def shape(*kinds: Kind) -> Shape:
    """The shape of a value that is of one of `kinds`."""
    return frozenset(kinds)


def _struct(name: str) -> Shape:
    return shape(Kind(name))


NOTHING: Shape = frozenset()  # no value at all: an expression that always fails
STRING = shape(Kind("string"))
BOOL = shape(Kind("bool"))
INT = shape(Kind("int"))
FLOAT = shape(Kind("float64"))
COMPLEX = shape(Kind("complex128"))
NIL = shape(Kind("nil"))  # the constant, and an interface that holds nothing
MISSING = shape(Kind("missing"))  # a name that the template's data has not got
JSON = shape(Kind("any"))  # whatever JSON holds: decided when the template runs
ROOT = _struct("root")
MESSAGE = _struct("message")
TOOL = _struct("tool")
FUNCTION = _struct("function")
PARAMETERS = _struct("parameters")
PROPERTY = _struct("property")
CALL = _struct("call")
CALL_FUNCTION = _struct("call_function")
IMAGE = _struct("image")
NESTED_PROPERTIES = _struct("nested_properties")  # *api.ToolPropertiesMap: a struct with no fields to see
STRINGS = shape(Kind("strings", STRING))
MESSAGES = shape(Kind("messages", MESSAGE))
TOOLS = shape(Kind("tools", TOOL))
CALLS = shape(Kind("calls", CALL))
IMAGES = shape(Kind("images", IMAGE))
PROPERTY_TYPE = shape(Kind("property_type", STRING))
PROPERTY_LIST = shape(Kind("property_list", PROPERTY))
ANYS = shape(Kind("anys", JSON))
ARGUMENTS = shape(Kind("arguments", JSON))
PROPERTIES = shape(Kind("properties", PROPERTY))

STRUCTS: Mapping[str, Mapping[str, Shape]] = {
    "message": {
        "Role": STRING,
        "Content": STRING,
        "Thinking": STRING,
        "Images": IMAGES,
        "ToolCalls": CALLS,
        "ToolName": STRING,
        "ToolCallID": STRING,
    },
    "call": {"ID": STRING, "Function": CALL_FUNCTION},
    "call_function": {"Index": INT, "Name": STRING, "Arguments": ARGUMENTS},
    "tool": {"Type": STRING, "Items": JSON, "Function": FUNCTION},
    "function": {"Name": STRING, "Description": STRING, "Parameters": PARAMETERS},
    "parameters": {"Type": STRING, "Defs": JSON, "Items": JSON, "Required": STRINGS, "Properties": PROPERTIES},
    "property": {
        "AnyOf": PROPERTY_LIST,
        "Type": PROPERTY_TYPE,
        "Items": JSON,
        "Description": STRING,
        "Enum": ANYS,
        "Properties": NESTED_PROPERTIES,
        "Required": STRINGS,
    },
    "nested_properties": {},
    "image": {},
}

# Methods that a template can call as if they were fields; they come before the keys of maps.
METHODS: Mapping[str, Mapping[str, Shape]] = {
    "tools": {"String": STRING},
    "tool": {"String": STRING},
    "arguments": {"String": STRING},
    "properties": {"String": STRING},
    "property_type": {"String": STRING},
    "property": {"ToTypeScriptType": STRING},
}

GO_TYPES: Mapping[str, str] = {
    "string": "string",
    "bool": "bool",
    "int": "int",
    "float64": "float64",
    "complex128": "complex128",
    "any": "interface {}",
    "root": "map[string]interface {}",
    "message": "*template.templateMessage",
    "messages": "[]*template.templateMessage",
    "tools": "template.templateTools",
    "tool": "template.templateTool",
    "function": "template.templateToolFunction",
    "parameters": "template.templateToolFunctionParameters",
    "properties": "template.templateProperties",
    "property": "api.ToolProperty",
    "property_type": "api.PropertyType",
    "property_list": "[]api.ToolProperty",
    "nested_properties": "*api.ToolPropertiesMap",
    "calls": "[]template.templateToolCall",
    "call": "template.templateToolCall",
    "call_function": "template.templateToolCallFunction",
    "arguments": "template.templateArgs",
    "strings": "[]string",
    "anys": "[]interface {}",
    "images": "[]api.ImageData",
    "image": "api.ImageData",
}

LISTS = frozenset({"messages", "tools", "calls", "images", "strings", "anys", "property_type", "property_list"})
MAPS = frozenset({"arguments", "properties"})
# Structs are true even when everything in them is empty; an image is a list of bytes.
ALWAYS_TRUE = frozenset({"message", "tool", "function", "parameters", "property", "call", "call_function", "root"})


class Mode(Enum):
    """How Ollama runs a template: once over all messages, once a turn, or once for a gap in a text."""

    MESSAGES = "messages"
    LEGACY = "legacy"
    FIM = "fim"


_THINKING: Mapping[str, Shape] = {"Think": BOOL, "ThinkLevel": STRING, "IsThinkSet": BOOL}

ROOT_FIELDS: Mapping[Mode, Mapping[str, Shape]] = {
    Mode.MESSAGES: {"System": STRING, "Messages": MESSAGES, "Tools": TOOLS, "Response": STRING, **_THINKING},
    Mode.LEGACY: {"System": STRING, "Prompt": STRING, "Response": STRING, **_THINKING},
    Mode.FIM: {"Prompt": STRING, "Suffix": STRING, "Response": STRING, **_THINKING},
}


def fields_of(kind: Kind, mode: Mode) -> Mapping[str, Shape] | None:
    """The fields of a kind, or None where it has none (`root` also has every other name, as a missing key)."""
    return ROOT_FIELDS[mode] if kind.name == "root" else STRUCTS.get(kind.name)


def only(value: Shape) -> str | None:
    """The name of the one kind of a shape, or None where there are several or none."""
    if len(value) != 1:
        return None
    (kind,) = value
    return kind.name
