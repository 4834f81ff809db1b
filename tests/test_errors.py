"""One tree of errors, with the fields that the documents name."""

from __future__ import annotations

import pytest

import agent_magic as am
from agent_magic.errors import ERROR_CLASSES, ERROR_KINDS, preview


def test_every_public_error_is_an_agent_magic_error() -> None:
    named = [getattr(am, name) for name in dir(am) if name.endswith("Error")]
    assert len(named) > 15
    assert all(issubclass(each, am.AgentMagicError) for each in named)


def test_every_kind_has_its_class() -> None:
    assert set(ERROR_KINDS) == {
        "auth", "rate_limit", "context_overflow", "bad_request", "server", "connection", "stream_interrupted",
        "tool_call_arguments", "empty_response", "content_filter",
    }  # fmt: skip
    assert all(each.kind == kind and issubclass(each, am.ProviderError) for kind, each in ERROR_CLASSES.items())


def test_the_root_of_the_third_document_is_provider_error() -> None:
    assert am.AgentHubError is am.ProviderError


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (
            am.ToolCallArgumentParseError("openai-chat", "f", "c1", "[1]"),
            {
                "client": "openai-chat",
                "tool_name": "f",
                "tool_call_id": "c1",
                "raw_arguments_length": 3,
                "raw_arguments_preview": "[1]",
                "kind": "tool_call_arguments",
            },
        ),
        (
            am.EmptyResponseError("gemini", "stop"),
            {"client": "gemini", "finish_reason": "stop", "kind": "empty_response"},
        ),
    ],
)
def test_the_documents_errors_carry_their_fields(error: am.ProviderError, fields: dict[str, object]) -> None:
    assert isinstance(error, am.AgentHubError)
    assert {name: getattr(error, name) for name in fields} == fields


def test_a_preview_is_whole_up_to_160_characters() -> None:
    assert preview("x" * 160) == "x" * 160
    shown = preview("a" * 100 + "b" * 100)
    assert shown.startswith("a" * 72)
    assert shown.endswith("b" * 72)
    assert "56 characters left out" in shown


def test_a_path_grows_from_the_inside() -> None:
    error = am.InvalidDataError("must be a text", "text").inside("content[0]").inside("messages[3]")
    assert error.path == "messages[3].content[0].text"
    assert str(error) == "messages[3].content[0].text: must be a text"
