"""What is sent to the Gemini API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.gemini_server import address
from agent_magic.providers.placeholders import IMAGE_BELOW, IMAGE_LEFT_OUT, NO_OUTPUT, SKIP_SIGNATURE
from agent_magic.stored import message_from_json, message_to_json

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = am.ToolSchema("get_weather", "The weather of a city.", SCHEMA)
OTHER = am.ToolSchema("list_files", "Names of files.")
IMAGE = am.ImageContent("aW1hZ2U=", "image/png")
IMAGE_PART = {"inlineData": {"mimeType": "image/png", "data": "aW1hZ2U="}}
HI = am.UserMessage("hi")
TEXT_ANSWER = {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}
SEES = ("text", "image")


def model(id: str = "gemini-3.5-flash", **fields: Any) -> am.Model:
    given = {"api": "gemini", "provider": "google", "base_url": "http://127.0.0.1:9", "api_key": "sk-test", **fields}
    return am.Model(id, **given)


def sent(server: Any, messages: Any, config: am.RequestConfig | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request that asks for this."""
    if not server.answers:
        server.streams(TEXT_ANSWER)
    used = more.pop("model", None) or model()
    asyncio.run(am.complete(used, am.Context(messages=messages, **more), config))
    body: dict[str, Any] = server.body
    return body


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": "STOP"}]}


def calls(*names: str) -> am.AssistantMessage:
    """Calls that another model made."""
    return am.AssistantMessage([am.ToolCall(f"id-{name}", name, {}) for name in names], model="another")


def test_the_key_goes_into_the_vendors_header_and_nowhere_else(stand_in: Any) -> None:
    sent(stand_in, [HI])
    (request,) = stand_in.requests
    assert request.headers["x-goog-api-key"].reveal() == "sk-test"
    assert "sk-test" not in request.url + request.body.decode()


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("", "https://generativelanguage.googleapis.com/v1beta/models/m:do?alt=sse"),
        ("https://h", "https://h/v1beta/models/m:do?alt=sse"),
        ("https://h/", "https://h/v1beta/models/m:do?alt=sse"),
        ("https://h/proxy/gemini", "https://h/proxy/gemini/v1beta/models/m:do?alt=sse"),
        ("https://h/v1beta", "https://h/v1beta/models/m:do?alt=sse"),
        ("https://h/v1alpha/", "https://h/v1alpha/models/m:do?alt=sse"),
        ("https://h/v1?a=b", "https://h/v1/models/m:do?a=b&alt=sse"),
    ],
)
def test_the_address_is_below_the_base_url(base_url: str, expected: str) -> None:
    assert address(am.Model("m", base_url=base_url), "do", "alt=sse") == expected
    assert address(am.Model("models/m", base_url=base_url), "do", "alt=sse") == expected


def test_system_prompt_history_and_tools_have_the_places_of_the_api(stand_in: Any) -> None:
    history = [HI, am.AssistantMessage("Hello"), am.UserMessage(["what is this?", IMAGE])]
    body = sent(stand_in, history, system_prompt="Be brief.", tools=[TOOL, OTHER])
    declared = {"name": "get_weather", "description": "The weather of a city.", "parametersJsonSchema": SCHEMA}
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [declared, {"name": "list_files", "description": "Names of files."}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
            {"role": "user", "parts": [{"text": "what is this?"}, IMAGE_PART]},
        ],
    }


def test_all_results_of_a_turn_stand_in_one_content_and_the_users_words_in_the_next(stand_in: Any) -> None:
    results = [am.ToolResultMessage("id-a", "a", "one"), am.ToolResultMessage("id-b", "b", "bad", is_error=True)]
    body = sent(stand_in, [HI, calls("a", "b"), *results, HI])
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user", "user"]
    assert [part["functionResponse"] for part in body["contents"][2]["parts"]] == [
        {"id": "id-a", "name": "a", "response": {"output": "one"}},
        {"id": "id-b", "name": "b", "response": {"error": "bad"}},
    ]
    assert body["contents"][3]["parts"] == [{"text": "hi"}]


def test_neighbours_of_one_role_are_one_content(stand_in: Any) -> None:
    body = sent(stand_in, [HI, am.UserMessage("and"), am.AssistantMessage("a"), calls("b")])
    assert [len(content["parts"]) for content in body["contents"][:2]] == [2, 2]


@pytest.mark.parametrize(
    ("id", "marks"), [("gemini-2.5-pro", [None, None]), ("gemini-3.5-flash", [SKIP_SIGNATURE, None])]
)
def test_calls_of_another_model_are_marked_where_the_model_wants_signatures(
    stand_in: Any, id: str, marks: list[str | None]
) -> None:
    results = [am.ToolResultMessage(f"id-{name}", name, "done") for name in "ab"]
    body = sent(stand_in, [HI, calls("a", "b"), *results], model=model(id))
    assert [part.get("thoughtSignature") for part in body["contents"][1]["parts"]] == marks


def test_names_of_foreign_tools_get_a_form_that_the_api_takes(stand_in: Any) -> None:
    body = sent(stand_in, [HI, calls("1 bad name"), am.ToolResultMessage("id-1 bad name", "1 bad name", "x")])
    assert body["contents"][1]["parts"][0]["functionCall"]["name"] == "_1_bad_name"
    assert body["contents"][2]["parts"][0]["functionResponse"]["name"] == "_1_bad_name"


@pytest.mark.parametrize(
    ("fields", "response", "inside", "after"),
    [
        ({"input": SEES}, "", [IMAGE_PART], None),
        ({"id": "gemini-2.5-flash", "input": SEES}, IMAGE_BELOW, None, [IMAGE_PART]),
        ({}, IMAGE_LEFT_OUT, None, None),
    ],
)
def test_images_of_results_go_where_the_model_takes_them(
    stand_in: Any, fields: dict[str, Any], response: str, inside: Any, after: Any
) -> None:
    history = [HI, calls("a"), am.ToolResultMessage("id-a", "a", [IMAGE])]
    contents = sent(stand_in, history, model=model(**fields))["contents"]
    result = contents[2]["parts"][0]["functionResponse"]
    assert (result["response"], result.get("parts")) == ({"output": response}, inside)
    assert (contents[3]["parts"] if len(contents) > 3 else None) == after


def test_an_empty_result_says_that_it_is_empty(stand_in: Any) -> None:
    body = sent(stand_in, [HI, calls("a"), am.ToolResultMessage("id-a", "a")])
    assert body["contents"][2]["parts"][0]["functionResponse"]["response"] == {"output": NO_OUTPUT}


def test_an_image_at_a_url_is_file_data_and_a_data_url_is_inline(stand_in: Any) -> None:
    images = [
        am.ImageContent(url="https://example.org/a.png?size=1"),
        am.ImageContent(url="https://example.org/b"),
        am.ImageContent(url="data:image/png;base64,aW1hZ2U="),
    ]
    assert sent(stand_in, [am.UserMessage(images)])["contents"][0]["parts"] == [
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png?size=1"}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.org/b"}},
        IMAGE_PART,
    ]


REASONS = {"reasoning": True}
BUDGET = {"id": "gemini-2.5-flash", **REASONS}


@pytest.mark.parametrize(
    ("fields", "config", "expected"),
    [
        ({}, {}, None),
        ({}, {"max_tokens": 5, "temperature": 0.5}, {"maxOutputTokens": 5, "temperature": 0.5}),
        (REASONS, {"thinking_level": "low"}, {"thinkingConfig": {"thinkingLevel": "LOW"}}),
        (REASONS, {"thinking_level": "off"}, {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}),
        (REASONS, {"thinking_level": "max"}, {"thinkingConfig": {"thinkingLevel": "HIGH"}}),
        (REASONS, {"thinking_summary": True}, {"thinkingConfig": {"includeThoughts": True}}),
        ({}, {"thinking_level": "off"}, None),
        (
            {"id": "gemini-3-pro-preview", **REASONS},
            {"thinking_level": "medium", "thinking_summary": False},
            {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": False}},
        ),
        (
            {"id": "gemini-3.1-pro-preview", **REASONS},
            {"thinking_level": "minimal"},
            {"thinkingConfig": {"thinkingLevel": "LOW"}},
        ),
        (BUDGET, {"thinking_level": "off"}, {"thinkingConfig": {"thinkingBudget": 0}}),
        (BUDGET, {"thinking_level": "medium"}, {"thinkingConfig": {"thinkingBudget": 8192}}),
        (BUDGET, {"thinking_level": "xhigh"}, {"thinkingConfig": {"thinkingBudget": 24_576}}),
        (
            {"id": "gemini-2.5-pro", **REASONS},
            {"thinking_level": "off"},
            {"thinkingConfig": {"thinkingBudget": 512}},
        ),
        (
            {"compat": {"thinking_levels": ("high", "xhigh")}, **REASONS},
            {"thinking_level": "max"},
            {"thinkingConfig": {"thinkingLevel": "XHIGH"}},
        ),
        ({}, {"response_schema": SCHEMA}, {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}),
        (
            {"id": "gemini-2.5-flash-image"},
            {"image_config": {"aspect_ratio": "4:3", "image_size": "1K"}},
            {
                "responseModalities": ["TEXT", "IMAGE"],
                "imageConfig": {"aspectRatio": "4:3", "imageSize": "1K"},
            },
        ),
        ({}, {"prompt_caching": "enable"}, None),
        (
            {"compat": {"extra_body": {"generationConfig": {"topK": 3}}}},
            {"max_tokens": 1},
            {"maxOutputTokens": 1, "topK": 3},
        ),
    ],
)
def test_each_setting_has_the_form_that_the_model_wants(
    stand_in: Any, fields: dict[str, Any], config: dict[str, Any], expected: Any
) -> None:
    body = sent(stand_in, [HI], am.RequestConfig(**config), model=model(**fields))
    assert body.get("generationConfig") == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        (["get_weather"], {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}),
        (["list_files", "get_weather"], {"mode": "ANY", "allowedFunctionNames": ["list_files", "get_weather"]}),
    ],
)
def test_a_choice_of_tools_leaves_their_declarations_as_they_are(stand_in: Any, choice: Any, expected: Any) -> None:
    body = sent(stand_in, [HI], am.RequestConfig(tool_choice=choice), tools=[TOOL, OTHER])
    assert body["toolConfig"] == {"functionCallingConfig": expected}
    assert len(body["tools"][0]["functionDeclarations"]) == 2


def test_a_choice_of_an_unknown_tool_is_an_error_and_one_without_tools_means_nothing(stand_in: Any) -> None:
    with pytest.raises(am.InvalidDataError, match="z"):
        sent(stand_in, [HI], am.RequestConfig(tool_choice=["z"]), tools=[TOOL])
    assert "toolConfig" not in sent(stand_in, [HI], am.RequestConfig(tool_choice="auto"))


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        ({}, {"thinking_level": "high"}),
        ({}, {"thinking_summary": True}),
        ({}, {"prompt_caching": "disable"}),
        ({}, {"prompt_caching": "enhance"}),
        ({}, {"image_config": {"image_size": "1K"}}),
        ({"compat": {"output": ("audio",)}}, {"image_config": {"image_size": "1K"}}),
        ({}, {"tts_config": [{"voice": "Kore"}]}),
        ({"id": "gemini-2.5-flash-preview-tts"}, {"response_schema": SCHEMA}),
        ({"id": "gemini-embedding-001", "compat": {"embedding": True}}, {"temperature": 0.5}),
    ],
)
def test_what_the_model_does_not_offer_is_refused_before_anything_is_sent(
    stand_in: Any, fields: dict[str, Any], config: dict[str, Any]
) -> None:
    (name,) = config
    with pytest.raises(am.UnsupportedParameterError, match=name):
        sent(stand_in, [HI], am.RequestConfig(**config), model=model(**fields))
    assert stand_in.requests == []


def test_a_message_is_made_into_json_once_for_each_kind_of_model(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = [HI, calls("a"), am.ToolResultMessage("id-a", "a", [IMAGE]), HI]
    first = sent(stand_in, history)
    older = sent(stand_in, history, model=model("gemini-2.5-flash", input=SEES))
    assert older != first
    monkeypatch.setattr("agent_magic.providers.gemini_contents.parts_of", None)
    assert sent(stand_in, history) == first
    assert sent(stand_in, history, model=model("gemini-2.5-flash", input=SEES)) == older


def test_a_longer_history_begins_with_the_bytes_of_the_shorter_one(stand_in: Any) -> None:
    history = [HI, calls("a"), am.ToolResultMessage("id-a", "a", "x")]
    sent(stand_in, history, system_prompt="s", tools=[TOOL])
    sent(stand_in, [*history, am.AssistantMessage("done"), HI], system_prompt="s", tools=[TOOL])
    shorter, longer = (request.body for request in stand_in.requests)
    assert longer.startswith(shorter[:-2])


# Signatures ----------------------------------------------------------------------------------------------------------


PARTS = {
    "text before a signed empty part": [{"text": "Hello"}, {"text": "", "thoughtSignature": "c2ln"}],
    "text before signed text": [{"text": "Hel"}, {"text": "lo", "thoughtSignature": "c2ln"}],
    "signed text before text": [{"text": "Hel", "thoughtSignature": "c2ln"}, {"text": "lo"}],
    "a signed thought": [{"text": "Hm", "thought": True, "thoughtSignature": "c2ln"}, {"text": "Hello"}],
    "a thought in two parts": [
        {"text": "H", "thought": True},
        {"text": "m", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "Hello"},
    ],
    "calls of which the first is signed": [
        {"functionCall": {"id": "1", "name": "a", "args": {"x": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "2", "name": "b", "args": {}}},
    ],
    "a signature after a call": [
        {"functionCall": {"id": "1", "name": "a", "args": {}}, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "bW9yZQ=="},
    ],
    "a signed image": [{"text": "Here"}, {**IMAGE_PART, "thoughtSignature": "c2ln"}],
    "a signed image of the thinking": [
        {**IMAGE_PART, "thought": True, "thoughtSignature": "c2ln"},
        {**IMAGE_PART, "thoughtSignature": "bW9yZQ=="},
    ],
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_parts_and_their_signatures_go_back_as_they_came_also_after_a_reload(
    stand_in: Any, parts: list[dict[str, Any]]
) -> None:
    stand_in.streams(*({"candidates": [{"content": {"parts": [part]}}]} for part in parts), answer()).streams(
        TEXT_ANSWER
    )
    given = asyncio.run(am.complete(model(), am.Context(messages=[HI])))
    results = [am.ToolResultMessage(call.id, call.name, "done") for call in given.tool_calls]
    reloaded = message_from_json(json.loads(json.dumps(message_to_json(given))))
    for message in (given, reloaded):
        body = sent(stand_in, [HI, message, *results, HI])
        assert body["contents"][1] == {"role": "model", "parts": parts}


def test_a_signature_goes_to_no_other_model(stand_in: Any) -> None:
    stand_in.streams(answer({"text": "Hi", "thoughtSignature": "c2ln"})).streams(TEXT_ANSWER)
    given = asyncio.run(am.complete(model(), am.Context(messages=[HI])))
    assert "c2ln" not in str(sent(stand_in, [HI, given, HI], model=model("gemini-3.6-flash")))


# Speech and embeddings -----------------------------------------------------------------------------------------------


SPEAKS = {"id": "gemini-2.5-flash-preview-tts"}
SOUND = answer({"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": "AAAA"}})


def voice(name: str) -> dict[str, Any]:
    return {"prebuiltVoiceConfig": {"voiceName": name}}


def test_speech_is_asked_for_with_the_last_words_of_the_user_alone(stand_in: Any) -> None:
    stand_in.streams(SOUND)
    history = [HI, am.AssistantMessage("Hello"), am.UserMessage("Say: good night")]
    config = am.RequestConfig(tts_config=[{"voice": "Kore"}], max_tokens=9)
    body = sent(stand_in, history, config, model=model(**SPEAKS), system_prompt="s", tools=[TOOL])
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "Say: good night"}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": voice("Kore")},
            "maxOutputTokens": 9,
        },
    }


def test_a_model_that_speaks_is_asked_for_speech_in_any_case(stand_in: Any) -> None:
    stand_in.streams(SOUND)
    assert sent(stand_in, [HI], model=model(**SPEAKS))["generationConfig"] == {"responseModalities": ["AUDIO"]}


def test_a_dialogue_names_its_two_speakers(stand_in: Any) -> None:
    stand_in.streams(SOUND)
    two = [{"voice": "Kore", "speaker": "Anna"}, {"voice": "Puck", "speaker": "Ben"}]
    body = sent(stand_in, [HI], am.RequestConfig(tts_config=two), model=model(**SPEAKS))
    assert body["generationConfig"]["speechConfig"] == {
        "multiSpeakerVoiceConfig": {
            "speakerVoiceConfigs": [
                {"speaker": "Anna", "voiceConfig": voice("Kore")},
                {"speaker": "Ben", "voiceConfig": voice("Puck")},
            ]
        }
    }
    for wrong in ([*two, *two], [{"voice": "Kore"}, {"voice": "Puck"}]):
        with pytest.raises(am.InvalidDataError, match="tts_config"):
            sent(stand_in, [HI], am.RequestConfig(tts_config=wrong), model=model(**SPEAKS))
    with pytest.raises(am.InvalidDataError, match="read aloud"):
        sent(stand_in, [am.UserMessage(["x", IMAGE])], model=model(**SPEAKS))


def embeddings(*vectors: list[Any], **more: Any) -> bytes:
    return json.dumps({"embeddings": [{"values": vector} for vector in vectors], **more}).encode()


EMBEDS = {"id": "gemini-embedding-2", "compat": {"embedding": True}}


def test_each_user_message_has_one_vector(stand_in: Any) -> None:
    stand_in.gives(embeddings([1, 0.5], [0, 2], usageMetadata={"promptTokenCount": 7}))
    config = am.RequestConfig(embedding_config={"dimensions": 2})
    context = am.Context(messages=[am.UserMessage(["a", IMAGE]), am.UserMessage("b")])
    message = asyncio.run(am.complete(model(**EMBEDS), context, config))
    assert message.content == (am.Embedding((1.0, 0.5)), am.Embedding((0.0, 2.0)))
    assert message.usage is not None
    assert message.usage.input == 7
    assert stand_in.requests[0].url == "http://127.0.0.1:9/v1beta/models/gemini-embedding-2:batchEmbedContents"
    common = {"model": "models/gemini-embedding-2", "outputDimensionality": 2}
    assert stand_in.body["requests"] == [
        {**common, "content": {"parts": [{"text": "a"}, IMAGE_PART]}},
        {**common, "content": {"parts": [{"text": "b"}]}},
    ]


def test_more_messages_than_the_api_takes_at_once_are_sent_in_batches(stand_in: Any) -> None:
    stand_in.gives(embeddings(*[[1.0]] * 100)).gives(embeddings([2.0], [3.0]))
    context = am.Context(messages=[am.UserMessage(str(number)) for number in range(102)])
    message = asyncio.run(am.complete(model(**EMBEDS), context))
    assert [block.embedding for block in message.content[-3:]] == [(1.0,), (2.0,), (3.0,)]
    assert len(message.content) == 102
    assert message.usage is None


@pytest.mark.parametrize("body", [embeddings([1.0]), embeddings([1.0], ["x"]), b"{}", b"[]", b"null", b"not json"])
def test_an_answer_without_a_vector_for_each_message_is_an_error(stand_in: Any, body: bytes) -> None:
    stand_in.gives(body)
    context = am.Context(messages=[HI, HI])
    with pytest.raises(am.ProviderError):
        asyncio.run(am.complete(model(**EMBEDS), context, am.RequestConfig(max_retries=0)))
