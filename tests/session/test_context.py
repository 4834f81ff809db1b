"""What the model is given for a path: compactions applied, results in order, none missing, long ones shortened."""

from __future__ import annotations

from agent_magic import AssistantMessage, ImageContent, TextContent, ToolCall, ToolResultMessage, UserMessage
from agent_magic.session.context import UNFINISHED, in_call_order, shorten, shortened_text
from agent_magic.session.session import Session

CALLS = AssistantMessage([ToolCall("a", "f", {}), ToolCall("b", "g", {}), ToolCall("c", "h", {})])


def result(call_id: str, text: str = "") -> ToolResultMessage:
    return ToolResultMessage(call_id, "f", text or f"result {call_id}")


def texts(session: Session) -> list[str]:
    return [getattr(each, "text", None) or getattr(each, "summary", "") for each in session.messages]


def test_an_empty_session_has_no_messages() -> None:
    assert Session.in_memory().messages == ()


def test_only_the_latest_compaction_counts() -> None:
    session = Session.in_memory()
    ids = [session.append(UserMessage(name)) for name in "abc"]
    session.append_compaction("S1", ids[1], 10, None)
    ids.append(session.append(UserMessage("d")))
    assert texts(session) == ["S1", "b", "c", "d"]
    session.append_compaction("S2", ids[2], 10, None)
    session.append(UserMessage("e"))
    assert texts(session) == ["S2", "c", "d", "e"]


def test_a_compaction_on_a_branch_that_was_left_does_not_count() -> None:
    session = Session.in_memory()
    ids = [session.append(UserMessage(name)) for name in "abc"]
    session.append_compaction("S", ids[2], 10, None)
    session.move_to(ids[1])
    assert texts(session) == ["a", "b"]


def test_what_a_compaction_kept_from_an_unknown_entry_is_nothing() -> None:
    session = Session.in_memory()
    session.append(UserMessage("a"))
    session.append_compaction("S", "gone", 10, None)
    session.append(UserMessage("b"))
    assert texts(session) == ["S", "b"]


def test_a_branch_summary_speaks_and_custom_data_does_not() -> None:
    session = Session.in_memory()
    session.append(UserMessage("a"))
    session.append_branch_summary("A dead end", "root")
    session.append_custom("mine", {"text": "hidden"})
    assert texts(session) == ["a", "A dead end"]


def test_results_recorded_as_they_came_stand_in_the_order_of_their_calls() -> None:
    session = Session.in_memory()
    for message in (UserMessage("go"), CALLS, result("c"), result("a"), result("b"), UserMessage("next")):
        session.append(message)
    assert texts(session)[2:] == ["result a", "result b", "result c", "next"]


def test_a_result_that_never_came_is_told_and_its_siblings_are_kept() -> None:
    session = Session.in_memory()
    for message in (UserMessage("go"), CALLS, result("b"), UserMessage("are you there?")):
        session.append(message)
    a, b, c, after = session.messages[2:]
    assert [each.tool_call_id for each in (a, b, c)] == ["a", "b", "c"]
    assert (a.text, a.is_error, a.tool_name) == (UNFINISHED, True, "f")
    assert (b.text, b.is_error) == ("result b", False)
    assert (c.text, c.is_error) == (UNFINISHED, True)
    assert after.text == "are you there?"


def test_a_result_recorded_twice_is_kept_once_and_the_same_id_may_come_in_a_later_answer() -> None:
    session = Session.in_memory()
    session.append(AssistantMessage([ToolCall("call_0", "f", {})]))
    first = session.append(result("call_0", "one"))
    assert session.append(result("call_0", "one")) == first
    session.append(AssistantMessage([ToolCall("call_0", "f", {})]))
    session.append(result("call_0", "two"))
    assert [each.text for each in session.messages if isinstance(each, ToolResultMessage)] == ["one", "two"]


def test_a_result_is_recorded_once_also_across_opening() -> None:
    session = Session.in_memory()
    session.append(AssistantMessage([ToolCall("a", "f", {})]))
    entry = session.append(result("a"))
    fork = session.fork()
    assert fork.append(result("a")) == entry
    assert len(fork.messages) == 2


def test_calls_of_an_answer_that_failed_or_was_aborted_get_no_result() -> None:
    for reason in ("error", "aborted"):
        message = AssistantMessage([ToolCall("a", "f", {})], stop_reason=reason)
        assert in_call_order([message]) == [message]


def test_text_is_shortened_from_the_middle_with_a_note() -> None:
    text = "a" * 500 + "b" * 500
    short = shortened_text(text, 100)
    assert short == "a" * 50 + "\n[900 of 1,000 characters left out here to save room]\n" + "b" * 50
    assert shortened_text(text, 1000) == text


def test_a_shortened_result_keeps_everything_but_its_length() -> None:
    blocks = [TextContent("x" * 300), ImageContent("AAAA", "image/png"), TextContent("y" * 300)]
    message = ToolResultMessage("a", "f", blocks, {"rows": 3}, is_error=True, timestamp=7)
    short = shorten(message, 400)
    assert short.text.startswith("x" * 300 + "y" * 50)
    assert "200 of 300 characters" in short.text
    assert "images and other data left out of this result to save room: 1" in short.text
    assert (short.tool_call_id, short.details, short.is_error, short.timestamp) == ("a", {"rows": 3}, True, 7)


def test_messages_are_the_very_objects_that_were_added() -> None:
    session = Session.in_memory()
    message = UserMessage("hello")
    session.append(message)
    assert session.messages[0] is message
    assert session.messages[0] is session.messages[0]
