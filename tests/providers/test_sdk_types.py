"""Every request has the form that the vendor's own SDK gives to its requests.

An API joins by a line in `MODELS` and one in `CHECKS`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter

import agent_magic as am

from ..benchmarks import mockllm

IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
PDF = am.InlineData(b"%PDF-1.4", "application/pdf")
HI = am.UserMessage("hi")
CALLS = [am.ToolCall("call_1", "get_weather", {"city": "Oslo"}), am.ToolCall("call_2", "list_files", {})]
FOREIGN = {"api": "another", "provider": "another", "model": "another"}
WEATHER = am.ToolSchema(
    "get_weather",
    "The weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city"],
    },
)
FILES = am.ToolSchema("list_files")
HISTORIES: dict[str, list[am.Message]] = {
    "one message": [HI],
    "images": [am.UserMessage(["what is this?", IMAGE, am.ImageContent(url="https://example.org/a.png")])],
    "calls and results": [
        HI,
        am.AssistantMessage(["I look.", *CALLS]),
        am.ToolResultMessage("call_1", "get_weather", ["sunny", IMAGE]),
        am.ToolResultMessage("call_2", "list_files", "no such folder", is_error=True),
        am.UserMessage("thanks"),
        am.AssistantMessage("You are welcome."),
        HI,
    ],
    "an open call and an empty result": [
        HI,
        am.AssistantMessage(CALLS),
        am.ToolResultMessage("call_1", "get_weather", ""),
        HI,
    ],
    "answers of another model": [
        HI,
        am.AssistantMessage([am.ThinkingContent("hm"), "Hello", am.ToolCall("search:0", "a b", {})], **FOREIGN),
        am.ToolResultMessage("search:0", "a b", "found"),
        am.AssistantMessage([am.ToolCall("search:0", "a b", {})], **FOREIGN),
        am.ToolResultMessage("search:0", "a b", ["not found", IMAGE], is_error=True),
        am.AssistantMessage(["Half", am.ToolCall("x", "f", {})], stop_reason="aborted", **FOREIGN),
        am.UserMessage("go on"),
    ],
    "an image that a model made": [HI, am.AssistantMessage(["Here", am.InlineData("aW1hZ2U=", "image/png")]), HI],
    "a document": [am.UserMessage(["read this", PDF])],
    "several messages of one role": [HI, am.UserMessage("and"), am.AssistantMessage("a"), am.AssistantMessage("b"), HI],
}
TOOLS: list[list[am.ToolSchema]] = [[], [WEATHER, FILES]]
ANSWER = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}, "required": ["size"]}
CONFIGS = [
    {},
    {"max_tokens": 100, "temperature": 0.5},
    *({"thinking_level": str(level)} for level in am.ThinkingLevel),
    {"thinking_level": "high", "thinking_summary": True},
    {"thinking_level": "low", "thinking_summary": False, "max_tokens": 200},
    *(
        {"tool_choice": choice}
        for choice in ("auto", "required", "none", ["list_files"], ["list_files", "get_weather"])
    ),
    *({"prompt_caching": each} for each in ("enable", "disable", "enhance")),
    {"response_schema": ANSWER},
    {"response_schema": ANSWER, "thinking_level": "medium"},
    {"image_config": {"aspect_ratio": "16:9", "image_size": "1K"}},
]

MODELS = {
    "anthropic": [
        am.get_model("anthropic/claude-opus-5").replace(api_key="sk-test"),
        am.get_model("anthropic/claude-haiku-4-5").replace(api_key="sk-test"),
        am.Model("blind", api="anthropic", base_url="http://127.0.0.1:9/v1", api_key="sk-test"),
    ],
    "gemini": [
        am.get_model("google/gemini-3.5-flash").replace(api_key="sk-test"),
        am.get_model("google/gemini-2.5-pro").replace(api_key="sk-test"),
        am.get_model("google/gemini-2.5-flash-image").replace(api_key="sk-test"),
        am.Model("gemma-blind", api="gemini", base_url="http://127.0.0.1:9", api_key="sk-test"),
    ],
    "openai-chat": [
        am.get_model("openai/gpt-5-mini").replace(api="openai-chat", api_key="sk-test"),
        am.Model("blind", provider="openai", base_url="http://127.0.0.1:9/v1", api_key="sk-test"),
    ],
    "openai-responses": [
        am.get_model("openai/gpt-5-mini").replace(api="openai-responses", api_key="sk-test"),
        am.Model("own", "openai-responses", "azure", "https://a.openai.azure.com", "sk-test", input=("image",)),
        am.Model("blind", "openai-responses", base_url="http://127.0.0.1:9/v1", api_key="sk-test"),
    ],
}
# Blocks as the API itself gives them, after which a call is open.
OWN: dict[str, tuple[am.Content, ...]] = {
    "openai-responses": (
        am.ThinkingContent("why", fidelity={"id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}),
        am.TextContent("I look.", {"id": "msg_1", "phase": "commentary"}),
        am.InlineData("aW1hZ2U=", "image/png", {"id": "ig_1"}),
        am.ToolCall("call_1", "get_weather", {"city": "Oslo"}, fidelity={"id": "fc_1"}),
    ),
}


def whole(value: Any) -> Any:
    """`value` with everything looked at that is validated only when it is looked at."""
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    return [whole(each) for each in value]


@cache
def validator(form: Any) -> TypeAdapter[Any]:
    # In a list, since only so the configuration holds for typed dictionaries and all inside them.
    return TypeAdapter(list[form], config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))


def validated(form: Any, value: Any) -> None:
    """Raise `ValidationError` unless `value` is of this form, without anything that the form does not know."""
    whole(validator(form).validate_python([value]))


def check_anthropic(url: str, body: dict[str, Any]) -> None:
    from anthropic.types.content_block_param import ContentBlockParam
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    assert url.endswith("/v1/messages")
    # The SDK itself has no temperature any more; models of its older versions take it.
    validated(MessageCreateParamsStreaming, {name: each for name, each in body.items() if name != "temperature"})
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[position % 2] for position in range(len(roles))]
    open_calls: list[str] = []
    all_calls: list[str] = []
    for message in body["messages"]:
        for block in message["content"]:
            validated(ContentBlockParam, block)
        assert message["content"]
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert [block["type"] for block in message["content"][: len(results)]] == ["tool_result"] * len(results)
        assert results == open_calls
        calls = [block for block in message["content"] if block["type"] == "tool_use"]
        assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", word) for call in calls for word in (call["id"], call["name"]))
        open_calls = [call["id"] for call in calls]
        all_calls += open_calls
    assert len(set(all_calls)) == len(all_calls)


def check_gemini(url: str, body: dict[str, Any]) -> None:
    from google.genai import types

    assert url.endswith(":streamGenerateContent?alt=sse")
    forms: dict[str, type[BaseModel]] = {
        "systemInstruction": types.Content,
        "contents": types.Content,
        "tools": types.Tool,
        "toolConfig": types.ToolConfig,
        "generationConfig": types.GenerationConfig,
    }
    # The SDK has this field only in the configuration that it makes the wire form from.
    generation = dict(body.get("generationConfig", {}))
    types.ImageConfig.model_validate_json(json.dumps(generation.pop("imageConfig", {})))
    for name, value in {**body, "generationConfig": generation}.items():
        for each in value if isinstance(value, list) else [value]:
            forms[name].model_validate_json(json.dumps(each))
    open_calls: list[str] = []
    for content in body["contents"]:
        assert content["parts"]
        results = [part["functionResponse"]["id"] for part in content["parts"] if "functionResponse" in part]
        assert results == open_calls
        open_calls = [part["functionCall"]["id"] for part in content["parts"] if "functionCall" in part]


def check_openai_chat(url: str, body: dict[str, Any]) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    assert url.endswith("/chat/completions")
    validated(CompletionCreateParamsStreaming, body)
    declared, calls, results = mockllm.Chat.read(body)
    mockllm.check_history("text", 0, declared, calls, results)


def check_openai_responses(url: str, body: dict[str, Any]) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    assert url.endswith("/v1/responses")
    validated(ResponseCreateParamsStreaming, body)
    declared, calls, results = mockllm.Responses.read(body)
    mockllm.check_history("text", 0, declared, calls, results)
    assert len(set(calls)) == len(calls)
    kinds = [item["type"] for item in body["input"]]
    # Reasoning without what it led to is refused by the service.
    assert all(after in ("message", "function_call") for kind, after in pairwise(kinds) if kind == "reasoning")
    assert kinds[-1] != "reasoning"


CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "anthropic": check_anthropic,
    "gemini": check_gemini,
    "openai-chat": check_openai_chat,
    "openai-responses": check_openai_responses,
}
ASKED = [(api, model) for api, models in MODELS.items() for model in models]


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize(("api", "model"), ASKED, ids=[f"{api} {model.id}" for api, model in ASKED])
def test_a_request_has_the_form_of_the_vendors_own(stand_in: Any, api: str, model: am.Model, history: str) -> None:
    stand_in.refuses(400)
    sent = 0
    for tools in TOOLS:
        for fields in CONFIGS:
            if not tools and "tool_choice" in fields:
                continue
            context = am.Context("Be brief.", HISTORIES[history], tools)
            try:
                asyncio.run(am.complete(model, context, am.RequestConfig(**fields)))
            except am.UnsupportedParameterError:
                continue
            except am.BadRequestError:
                CHECKS[api](stand_in.requests[-1].url, stand_in.body)
                sent += 1
    assert sent >= 15


@pytest.mark.parametrize("api", OWN)
def test_an_answer_of_the_model_itself_goes_back_in_the_form_of_the_vendors_own(stand_in: Any, api: str) -> None:
    stand_in.refuses(400)
    for model in MODELS[api]:
        for reason in ("tool_call", "length", "aborted"):
            answer = am.AssistantMessage(OWN[api], model.api, model.provider, model.id, stop_reason=reason)
            history = [HI, answer, am.ToolResultMessage("call_1", "get_weather", "sunny"), HI]
            with pytest.raises(am.BadRequestError):
                asyncio.run(am.complete(model, am.Context("", history, [WEATHER])))
            CHECKS[api](stand_in.requests[-1].url, stand_in.body)
