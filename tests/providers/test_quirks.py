"""What each of the servers that nearly speak the Chat Completions API is sent."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.quirks import Quirks, quirks_of
from agent_magic.providers.thinking import offered_level

# provider, base_url, what must be known of the server
TABLE: list[tuple[str, str, dict[str, Any]]] = [
    ("openai", "https://api.openai.com/v1", {"max_tokens_field": "max_completion_tokens", "cache_retention": "24h"}),
    ("azure", "https://a.openai.azure.com/openai/v1", {"key_header": "api-key", "key_prefix": ""}),
    ("openrouter", "https://openrouter.ai/api/v1", {"thinking_form": "openrouter", "image_output": True}),
    ("deepseek", "https://api.deepseek.com", {"thinking_form": "thinking", "reasoning_back": "calls"}),
    ("groq", "https://api.groq.com/openai/v1", {"reasoning_back": "never"}),
    ("mistral", "https://api.mistral.ai/v1", {"call_id_form": "[A-Za-z0-9]{9}", "stream_usage": False}),
    ("together", "https://api.together.xyz/v1", {"thinking_form": "enabled"}),
    ("fireworks", "https://api.fireworks.ai/inference/v1", {"max_tokens_field": "max_tokens"}),
    ("xai", "https://api.x.ai/v1", {"effort_off": ""}),
    ("cerebras", "https://api.cerebras.ai/v1", {"plain_string_content": True}),
    ("dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", {"thinking_form": "enable"}),
    ("moonshot", "https://api.moonshot.ai/v1", {"tool_choices": ("auto", "none")}),
    ("zai", "https://api.z.ai/api/paas/v4", {"also_send": {"tool_stream": True}, "tool_choices": ("auto",)}),
    ("minimax", "https://api.minimax.io/v1", {"also_send": {"reasoning_split": True}}),
    ("google", "https://generativelanguage.googleapis.com/v1beta/openai", {"signed_calls": True}),
    ("litellm", "", {"allowed_tools": False}),
    ("vllm", "", {"thinking_form": "template", "roles_alternate": True}),
    ("llamacpp", "", {"thinking_form": "template", "plain_string_content": True}),
    ("lmstudio", "", {"thinking_form": "effort"}),
    ("ollama", "", {"cuts_prompts": True}),
]
HI = am.UserMessage("hi")
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
F = am.ToolSchema("f")
RESULT = [
    HI,
    am.AssistantMessage([am.ToolCall("call_with_a_long_id:0", "f", {})]),
    am.ToolResultMessage("call_with_a_long_id:0", "f", ["r", IMAGE]),
    am.UserMessage("and"),
    am.UserMessage("more"),
    am.AssistantMessage("a"),
    am.AssistantMessage("b"),
    HI,
]


def sent(stand_in: Any, provider: str, messages: list[am.Message], **more: Any) -> dict[str, Any]:
    stand_in.streams()
    of_model = {name: more.pop(name) for name in ("reasoning", "input", "compat") if name in more}
    model = am.Model("m", provider=provider, base_url="http://127.0.0.1:9/v1", api_key="sk-none", **of_model)
    asyncio.run(am.complete(model, am.Context("", messages, more.pop("tools", ())), am.RequestConfig(**more)))
    found: dict[str, Any] = stand_in.body
    return found


@pytest.mark.parametrize(("provider", "url", "known"), TABLE, ids=[row[0] for row in TABLE])
def test_a_server_is_known_by_provider_and_by_host(provider: str, url: str, known: dict[str, Any]) -> None:
    by_name = quirks_of(am.Model("m", provider=provider))
    assert {name: getattr(by_name, name) for name in known} == known
    if url:
        assert quirks_of(am.Model("m", provider="something", base_url=url)) == by_name


def test_the_host_decides_before_the_provider_and_compat_before_both() -> None:
    model = am.Model("m", provider="openai", base_url="https://api.mistral.ai/v1", compat={"stream_usage": True})
    assert quirks_of(model).call_id_form == "[A-Za-z0-9]{9}"
    assert quirks_of(model).stream_usage
    assert quirks_of(am.Model("m", base_url="https://notmistral.ai/v1")) == Quirks()


@pytest.mark.parametrize("provider", ["", "mistral", "zai", "ollama"])
@pytest.mark.parametrize("name", [each.name for each in fields(Quirks)])
def test_every_quirk_can_be_set_by_compat(provider: str, name: str) -> None:
    assert getattr(quirks_of(am.Model("m", provider=provider, compat={name: "own"})), name) == "own"


def test_alternating_roles_have_no_neighbours_and_a_word_after_results(stand_in: Any) -> None:
    body = sent(stand_in, "mistral", RESULT, input=("text", "image"))
    assert [message["role"] for message in body["messages"]] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant", "user")
    ]
    shown = body["messages"][4]["content"]
    assert [part["type"] for part in shown] == ["image_url", "text", "text"]
    plain = sent(stand_in, "", RESULT)
    assert [message["role"] for message in plain["messages"]][-5:] == ["user", "user", "assistant", "assistant", "user"]


@pytest.mark.parametrize(("provider", "longest"), [("openai", 40), ("mistral", 9), ("", 64)])
def test_ids_of_calls_have_the_form_of_the_server_in_call_and_result(
    stand_in: Any, provider: str, longest: int
) -> None:
    for call_id in ("c" * 100, "call_1:0", "call " * 3):
        call = am.AssistantMessage([am.ToolCall(call_id, "f", {})])
        body = sent(stand_in, provider, [HI, call, am.ToolResultMessage(call_id, "f", "r")])
        new = body["messages"][1]["tool_calls"][0]["id"]
        assert body["messages"][2]["tool_call_id"] == new
        assert len(new) <= longest
        assert " " not in new


@pytest.mark.parametrize(
    ("provider", "level", "wire"),
    [
        ("openai", "off", {"reasoning_effort": "none"}),
        ("groq", "max", {"reasoning_effort": "high"}),
        ("google", "xhigh", {"reasoning_effort": "high"}),
        ("cerebras", "off", {"reasoning_effort": "low"}),
        ("xai", "off", {}),
        ("openrouter", "high", {"reasoning": {"effort": "high"}}),
        ("together", "off", {"reasoning": {"enabled": False}}),
        ("qwen", "low", {"enable_thinking": True}),
        ("kimi", "off", {"thinking": {"type": "disabled"}}),
        ("glm", "high", {"thinking": {"type": "enabled"}}),
        ("vllm", "high", {"chat_template_kwargs": {"enable_thinking": True}}),
    ],
)
def test_a_thinking_level_is_asked_for_in_the_words_of_the_server(
    stand_in: Any, provider: str, level: str, wire: dict[str, Any]
) -> None:
    body = sent(stand_in, provider, [HI], reasoning=True, thinking_level=level)
    words = ("reasoning_effort", "reasoning", "enable_thinking", "thinking", "chat_template_kwargs")
    assert {name: body[name] for name in words if name in body} == wire


def test_levels_that_the_server_does_not_know_are_clamped_where_a_user_can_see_it() -> None:
    model = am.Model("m", provider="groq", reasoning=True)
    assert offered_level(am.ThinkingLevel("xhigh"), model) is am.ThinkingLevel.HIGH
    own = model.replace(compat={"thinking_levels": ["low", "xhigh"]})
    assert offered_level(am.ThinkingLevel("max"), own) is am.ThinkingLevel.XHIGH


@pytest.mark.parametrize(("provider", "refused"), [("zai", ["none", "required", ["f"]]), ("qwen", ["required", ["f"]])])
def test_a_choice_that_the_server_refuses_is_an_error_before_it_is_sent(
    stand_in: Any, provider: str, refused: list[Any]
) -> None:
    for choice in refused:
        with pytest.raises(am.UnsupportedParameterError, match="tool_choice"):
            sent(stand_in, provider, [HI], tools=[F], tool_choice=choice)
    assert sent(stand_in, provider, [HI], tools=[F], tool_choice="auto")["tool_choice"] == "auto"


def test_a_call_of_another_model_is_marked_where_gemini_wants_a_signature(stand_in: Any) -> None:
    calls = [am.ToolCall("a", "f", {}), am.ToolCall("b", "f", {})]
    results = [am.ToolResultMessage(each.id, "f", "r") for each in calls]
    sent_calls = sent(stand_in, "google", [HI, am.AssistantMessage(calls), *results])["messages"][1]["tool_calls"]
    signature = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert [call.get("extra_content") for call in sent_calls] == [signature, None]


@pytest.mark.parametrize("provider", ["zai", "minimax"])
def test_what_a_server_always_needs_is_sent_and_the_user_has_the_last_word(stand_in: Any, provider: str) -> None:
    (name,) = quirks_of(am.Model("m", provider=provider)).also_send
    assert sent(stand_in, provider, [HI])[name] is True
    assert sent(stand_in, provider, [HI], compat={"extra_body": {name: False}})[name] is False
