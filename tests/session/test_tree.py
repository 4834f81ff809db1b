"""The tree: parents, moves, labels, state along a path, and every entry of pi's version 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_magic import AssistantMessage, CustomMessage, Model, SessionError, ToolCall, UserMessage
from agent_magic.session.entries import CompactionEntry, MessageEntry, UnknownEntry, entry_from_json, entry_to_json
from agent_magic.session.file import parse
from agent_magic.session.session import Session
from agent_magic.session.tree import Tree

TIME = "2025-11-30T10:00:00.000Z"
# One file with every kind of entry that version 3 knows, and one that it does not.
PI_LINES = [
    {"type": "session", "version": 3, "id": "5f0c", "timestamp": TIME, "cwd": "/data", "parentSession": "old.jsonl"},
    {"type": "model_change", "id": "a0", "parentId": None, "timestamp": TIME, "provider": "openai", "modelId": "gpt-5"},
    {"type": "thinking_level_change", "id": "a1", "parentId": "a0", "timestamp": TIME, "thinkingLevel": "high"},
    {
        "type": "message", "id": "a2", "parentId": "a1", "timestamp": TIME,
        "message": {"role": "user", "content": "List the files", "timestamp": 1764496800000},
    },
    {
        "type": "message", "id": "a3", "parentId": "a2", "timestamp": TIME,
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should look.", "thinkingSignature": "c2ln"},
                {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls"}},
            ],
            "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5",
            "usage": {
                "input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 3, "totalTokens": 20,
                "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
            },
            "stopReason": "toolUse", "timestamp": 1764496801000,
        },
    },
    {
        "type": "message", "id": "a4", "parentId": "a3", "timestamp": TIME,
        "message": {
            "role": "toolResult", "toolCallId": "call_1", "toolName": "bash", "isError": False,
            "content": [{"type": "text", "text": "data.csv"}], "timestamp": 1764496802000,
        },
    },
    {
        "type": "compaction", "id": "a5", "parentId": "a4", "timestamp": TIME, "summary": "They looked around.",
        "firstKeptEntryId": "a3", "tokensBefore": 50000, "details": {"readFiles": ["a.py"], "modifiedFiles": []},
    },
    {"type": "branch_summary", "id": "a6", "parentId": "a5", "timestamp": TIME, "fromId": "a2", "summary": "No way."},
    {"type": "custom", "id": "a7", "parentId": "a6", "timestamp": TIME, "customType": "x", "data": {"n": 1}},
    {
        "type": "custom_message", "id": "a8", "parentId": "a7", "timestamp": TIME, "customType": "note",
        "content": "Mind the gap", "display": True,
    },
    {"type": "label", "id": "a9", "parentId": "a8", "timestamp": TIME, "targetId": "a2", "label": "start"},
    {"type": "session_info", "id": "b0", "parentId": "a9", "timestamp": TIME, "name": "Files"},
    {"type": "from_the_future", "id": "b1", "parentId": "b0", "timestamp": TIME, "extra": [1]},
    {
        "type": "message", "id": "b2", "parentId": "b1", "timestamp": TIME,
        "message": {"role": "user", "content": [{"type": "text", "text": "Go on"}], "timestamp": 1764496803000},
    },
]  # fmt: skip


def bytes_of(lines: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.fixture
def pi_file(tmp_path: Path) -> Path:
    path = tmp_path / "pi.jsonl"
    path.write_bytes(bytes_of(PI_LINES))
    return path


def test_a_session_of_pi_is_read_with_all_its_entries(pi_file: Path) -> None:
    session = Session.open(pi_file, read_only=True)
    assert (session.id, session.name, session.header.parent_session) == ("5f0c", "Files", "old.jsonl")
    assert session.tree.labels == {"a2": "start"}
    assert session.skipped == 0
    assert session.model == ("anthropic", "claude-sonnet-4-5")
    assert session.thinking_level == "high"
    assert [type(each).__name__ for each in session.messages] == [
        "CompactionSummaryMessage", "AssistantMessage", "ToolResultMessage", "BranchSummaryMessage", "CustomMessage",
        "UserMessage",
    ]  # fmt: skip
    assistant = session.messages[1]
    assert assistant.thinking == "I should look."
    assert assistant.tool_calls == (ToolCall("call_1", "bash", {"command": "ls"}),)
    assert assistant.usage.total_tokens == 20
    assert session.messages[4].text == "Mind the gap"


def test_entries_survive_writing_and_reading() -> None:
    for line in PI_LINES[1:]:
        entry = entry_from_json(line)
        again = entry_from_json(json.loads(json.dumps(entry_to_json(entry))))
        assert again == entry
        assert entry_to_json(again) == entry_to_json(entry)


def test_an_unknown_kind_keeps_its_place_and_its_data() -> None:
    contents = parse(bytes_of(PI_LINES), Path("pi.jsonl"))
    unknown = next(entry for entry in contents.entries if entry.id == "b1")
    assert isinstance(unknown, UnknownEntry)
    assert entry_to_json(unknown) == PI_LINES[12]


def test_version_1_gets_the_same_ids_at_every_reading_and_finds_what_was_kept(tmp_path: Path) -> None:
    def message(text: str) -> dict[str, object]:
        return {"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text, "timestamp": 1}}

    compaction = {
        "type": "compaction", "timestamp": TIME, "summary": "Old", "firstKeptEntryIndex": 2, "tokensBefore": 9,
    }  # fmt: skip
    lines = [{"type": "session", "id": "1", "timestamp": TIME}, message("a"), message("b"), compaction, message("c")]
    path = tmp_path / "old.jsonl"
    path.write_bytes(bytes_of(lines))
    first = Session.open(path)
    ids = [entry.id for entry in first.branch]
    assert [getattr(each, "text", None) or each.summary for each in first.messages] == ["Old", "b", "c"]
    first.append(UserMessage("d"))
    first.close()
    with Session.open(path) as again:
        assert [entry.id for entry in again.branch][:4] == ids
        assert [getattr(each, "text", None) or each.summary for each in again.messages] == ["Old", "b", "c", "d"]


def test_a_hook_message_of_version_2_is_a_custom_message() -> None:
    stored = {"role": "hookMessage", "customType": "lint", "content": "2 warnings", "display": True, "timestamp": 5}
    entry = entry_from_json(
        {"type": "message", "id": "a", "parentId": None, "timestamp": TIME, "message": stored}, "", None
    )
    assert isinstance(entry, MessageEntry)
    assert entry.message == CustomMessage("lint", "2 warnings", timestamp=5)


def test_each_entry_follows_the_one_before_and_moving_begins_a_branch() -> None:
    session = Session.in_memory()
    first = session.append(UserMessage("first"))
    session.append(AssistantMessage("answer"))
    session.move_to(first)
    session.append(AssistantMessage("another answer"))
    assert [message.text for message in session.messages] == ["first", "another answer"]
    assert len(session.tree.children(first)) == 2


def test_moving_before_everything_begins_a_second_root() -> None:
    session = Session.in_memory()
    session.append(UserMessage("first"))
    session.move_to(None)
    assert session.messages == ()
    session.append(UserMessage("second"))
    assert [message.text for message in session.messages] == ["second"]
    assert len(session.tree.children(None)) == 2


def test_moving_to_an_entry_that_does_not_exist_is_an_error_and_moves_nothing() -> None:
    session = Session.in_memory()
    session.append(UserMessage("first"))
    with pytest.raises(SessionError, match="no entry 'nowhere'"):
        session.move_to("nowhere")
    assert len(session.messages) == 1


def test_a_missing_parent_or_a_circle_ends_a_path() -> None:
    def entry(id: str, parent: str | None) -> CompactionEntry:
        return CompactionEntry(id, parent, 0, "", "")

    orphan = Tree([entry("b", "gone"), entry("c", "b")])
    assert [each.id for each in orphan.path()] == ["b", "c"]
    circle = Tree([entry("a", "b"), entry("b", "a")])
    assert [each.id for each in circle.path()] == ["a", "b"]


def test_ids_are_eight_hexadecimal_digits_and_never_given_twice() -> None:
    tree = Tree()
    ids = {tree.new_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(each) == 8 and int(each, 16) >= 0 for each in ids)


def test_labels_are_set_and_taken_away_and_the_last_name_counts() -> None:
    session = Session.in_memory()
    entry = session.append(UserMessage("first"))
    session.label(entry, "one")
    session.label(entry, "two")
    assert session.tree.labels == {entry: "two"}
    session.label(entry, None)
    assert session.tree.labels == {}
    session.rename("A")
    session.rename("B")
    assert session.name == "B"
    assert [message.text for message in session.messages] == ["first"]


def test_model_and_level_are_those_last_chosen_on_the_active_branch() -> None:
    session = Session.in_memory()
    start = session.append(UserMessage("first"))
    session.change_model(Model("gpt-5", provider="openai"))
    session.change_thinking_level("high")
    entries = len(session.tree)
    session.change_model(Model("gpt-5", provider="openai"))
    session.change_thinking_level("high")
    assert len(session.tree) == entries
    assert (session.model, session.thinking_level) == (("openai", "gpt-5"), "high")
    session.append(AssistantMessage("hello", provider="google", model="gemini"))
    assert session.model == ("google", "gemini")
    session.move_to(start)
    assert (session.model, session.thinking_level) == (None, "off")
