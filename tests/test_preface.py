"""A Modelfile's SYSTEM and MESSAGE in the result: what Ollama renders where its server has put them before the chat."""

from __future__ import annotations

from typing import Any

import pytest

from transpiler import Options, transpile
from transpiler.verify.chats import Chat, enumerated, named, to_jinja_context, to_ollama
from transpiler.verify.oracle import Oracle
from transpiler.verify.render import ReferenceTemplate

SYSTEM = "Be kind.\nSay 'yes' & \"no\"."
EXAMPLES = (("user", "Ping?"), ("assistant", "Pong."))
TEMPLATES = {
    "messages": "{{ .System }}|{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<a>",
    "legacy": "{{ if .System }}[{{ .System }}]{{ end }}<u>{{ .Prompt }}<a>{{ .Response }}</a>",
}


def served(chat: Chat, system: str | None, messages: tuple[tuple[str, str], ...]) -> Chat:
    """The chat as Ollama's server hands it on."""
    request: dict[str, Any] = dict(chat.request)
    own = request["messages"]
    before = [{"role": role, "content": content} for role, content in messages]
    if system is not None and own[0]["role"] != "system":
        before.insert(0, {"role": "system", "content": system})
    request["messages"] = [*before, *own]
    return Chat(chat.name, request)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize("messages", [(), EXAMPLES], ids=["no-examples", "examples"])
@pytest.mark.parametrize("system", [None, SYSTEM], ids=["no-system", "system"])
def test_renders_what_ollamas_server_renders(
    template: str, system: str | None, messages: tuple[tuple[str, str], ...], oracle: Oracle
) -> None:
    jinja = ReferenceTemplate(transpile(template, options=Options(system=system, messages=messages)).jinja)
    chats = [chat for chat in (*named(), *enumerated()[::7]) if chat.request.get("messages")]
    wanted = oracle.render_many(template, [to_ollama(served(chat, system, messages)) for chat in chats])
    for chat, rendering in zip(chats, wanted, strict=True):
        if rendering.phase != "request":
            assert jinja.render(to_jinja_context(chat)).text == rendering.text, chat.name


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_the_bos_token_stands_first_and_may_be_absent(template: str) -> None:
    jinja = ReferenceTemplate(transpile(template, options=Options(bos=True)).jinja)
    plain = ReferenceTemplate(transpile(template).jinja)
    context: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}
    text = plain.render(context).text
    assert jinja.render({**context, "bos_token": "<s>"}).text == f"<s>{text}"
    assert jinja.render(context).text == text


def test_the_form_that_fills_in_the_middle_has_no_system_message() -> None:
    result = transpile("{{ if .Suffix }}<p>{{ .Prompt }}<s>{{ .Suffix }}{{ end }}", options=Options(system=SYSTEM))
    assert result.fim is not None
    assert "Be kind" not in result.fim
    assert "Be kind" in result.jinja
