"""A conversation that one API began goes on with every other, before and after it was saved.

The answers are those of the wire cases; each request has to pass the types of the vendor's SDK and the checks of the
scripted server.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

import pytest

import agent_magic as am
from agent_magic.stored import messages_from_json, messages_to_json

from ..wire import replay_server
from .acceptance import check_accepted

KEY = "sk-none"
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
LINK = am.ImageContent(url="https://example.org/a.png")
PDF = am.InlineData(b"%PDF-1.4", "application/pdf")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [am.ToolSchema("get_weather", "Current weather.", CITY), am.ToolSchema("get_time", "Local time.", CITY)]
# An answer with calls, and one without; of those with something opaque where an API has such.
CASES = {
    "openai-chat": ["chat-tools-parallel-interleaved", "chat-openrouter-reasoning-details", "chat-reasoning-content"],
    "openai-responses": ["resp-tools-interleaved", "resp-reasoning-summary"],
    "anthropic": ["msg-thinking-signature", "msg-redacted-thinking"],
    "gemini": ["gem-tools-parallel-signature", "gem-thoughts"],
}
ROOTS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}
SEES = ("text", "image")
MODELS: dict[str, am.Model] = {
    **{
        api: am.Model("gemini-3.5-flash", api, "maker", f"http://127.0.0.1:9{root}", KEY, input=SEES, reasoning=True)
        for api, root in ROOTS.items()
    },
    "demo": am.get_model("demo", compat={"seconds": 0}),
    "scripted": am.scripted(am.AssistantMessage(["I look.", am.ToolCall("call 1/2", "get_weather", {"city": "Oslo"})])),
}
STRICT = {
    "openai": am.Model("gpt", "openai-chat", "openai", "http://127.0.0.1:9/v1", KEY, input=SEES),
    "mistral": am.Model("magistral", "openai-chat", "mistral", "http://127.0.0.1:9/v1", KEY),
}
BLIND = {f"{api} blind": model.replace(id="blind", input=("text",)) for api, model in MODELS.items() if api in ROOTS}
TARGETS = {**MODELS, **STRICT, **BLIND}


@cache
def wire_cases() -> dict[str, Any]:
    cases: dict[str, Any] = replay_server.load_cases()
    return {name: {**case, "body": b"".join(replay_server.body_pieces(case))} for name, case in cases.items()}


def answers_of(stand_in: Any, source: str) -> list[am.AssistantMessage]:
    """What the model of this API says: an answer with calls, then others."""
    if source not in CASES:
        model, context = MODELS[source], am.Context("", [am.UserMessage("Weather in Oslo?")], TOOLS)
        if source == "scripted":
            model = am.scripted(
                am.AssistantMessage(["I look.", am.ToolCall("call 1/2", "get_weather", {"city": "Oslo"})])
            )
            model = model.replace(id=MODELS["scripted"].id)
        found = asyncio.run(am.complete(model, context))
        assert found.tool_calls
        return [found]
    found = []
    for name in CASES[source]:
        stand_in.gives(wire_cases()[name]["body"])
        found.append(asyncio.run(am.complete(MODELS[source], am.Context("", [am.UserMessage("hi")], TOOLS))))
    return found


def conversation(answers: list[am.AssistantMessage]) -> list[am.Message]:
    """A conversation with everything in it that makes trouble."""
    calling, *others = answers
    producer = (calling.api, calling.provider, calling.model)
    broken = [am.ThinkingContent("secret thought"), "Half an answer", am.ToolCall("gone", "get_time", {"city": "Rome"})]
    made = [am.TextContent(" "), am.InlineData("aW1hZ2U=", "image/png"), "A picture."]
    history: list[am.Message] = [am.UserMessage(["What is this?", IMAGE, LINK, PDF]), calling]
    for number, call in enumerate(calling.tool_calls):
        content = ["sunny", IMAGE] if number == 0 else ""
        history.append(am.ToolResultMessage(call.id, call.name, content, is_error=number > 0))
    for answer in others:
        history += [am.UserMessage("and \ud83d half a character"), answer]
    again = [call.id for call in calling.tool_calls][:1]
    return [
        *history,
        am.UserMessage("paint"),
        am.AssistantMessage(made, *producer),
        am.UserMessage("more"),
        am.AssistantMessage(broken, *producer, stop_reason="aborted"),
        am.UserMessage("once more"),
        am.AssistantMessage([am.ThinkingContent("nothing")], *producer, stop_reason="error"),
        am.UserMessage("the same id again, and no result"),
        am.AssistantMessage([am.ToolCall(each, "get_time", {"city": "Rome"}) for each in again], *producer),
        am.UserMessage("go on"),
    ]


def ask(stand_in: Any, model: am.Model, history: list[am.Message]) -> dict[str, Any] | None:
    """The body of the request to go on, checked; None where there is none."""
    if model.api not in CASES:
        answer = asyncio.run(am.complete(model if model.api == "demo" else am.scripted("Fine."), context(history)))
        assert answer.content
        return None
    stand_in.answers.clear()
    stand_in.requests.clear()
    stand_in.refuses(400)
    with pytest.raises(am.BadRequestError):
        asyncio.run(am.complete(model, context(history)))
    body: dict[str, Any] = stand_in.body
    check_accepted(model.api, stand_in.requests[-1].url, body)
    return body


def context(history: list[am.Message]) -> am.Context:
    return am.Context("Be brief.", history, TOOLS)


def reloaded(history: list[am.Message]) -> list[am.Message]:
    text = json.dumps(messages_to_json(history))
    text.encode("utf-8")
    return messages_from_json(json.loads(text))


def opaque_texts(answers: list[am.AssistantMessage], source: str) -> list[str]:
    """What only the model that made it may see again."""
    known = [
        text for name in CASES.get(source, ()) for text in wire_cases()[name]["expected"].get("replay_must_contain", ())
    ]
    return known + [answer.thinking for answer in answers if answer.thinking]


@pytest.mark.parametrize("is_saved", [False, True], ids=["", "saved"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", MODELS)
def test_a_conversation_goes_on_with_every_other_model(stand_in: Any, source: str, target: str, is_saved: bool) -> None:
    answers = answers_of(stand_in, source)
    history = conversation(answers)
    if is_saved:
        history = reloaded(history)
    body = ask(stand_in, TARGETS[target], history)
    if body is None:
        return
    sent = json.dumps(body, ensure_ascii=False)
    sent.encode("utf-8")
    assert "Half an answer" in sent
    assert "secret thought" not in sent
    assert '"gone"' not in sent
    assert ("aW1hZ2U=" in sent) is ("image" in TARGETS[target].input)
    if TARGETS[target].key != MODELS[source].key:
        assert not [
            text for text in opaque_texts(answers, source) if json.dumps(text, ensure_ascii=False)[1:-1] in sent
        ]


@pytest.mark.parametrize("is_saved", [False, True], ids=["", "saved"])
@pytest.mark.parametrize("between", [each for each in MODELS if each in CASES])
@pytest.mark.parametrize("source", CASES)
def test_what_is_opaque_comes_back_to_the_model_that_made_it(
    stand_in: Any, source: str, between: str, is_saved: bool
) -> None:
    answers = answers_of(stand_in, source)
    history = conversation(answers) + answers_of(stand_in, between)[1:] + [am.UserMessage("back again")]
    if is_saved:
        history = reloaded(history)
    body = ask(stand_in, MODELS[source], history)
    sent = json.dumps(body, ensure_ascii=False)
    wanted = [text for name in CASES[source] for text in wire_cases()[name]["expected"].get("replay_must_contain", ())]
    assert all(text in sent for text in wanted)
    first = ask(stand_in, MODELS[source], history)
    assert first == body
