"""Leaving a branch with a summary."""

from __future__ import annotations

import asyncio

import pytest

import agent_magic as am
from agent_magic import AssistantMessage, ToolCall, ToolResultMessage, UserMessage
from agent_magic.session.branch_summary import leave_branch
from agent_magic.session.session import Session


def branched() -> tuple[Session, str, str]:
    session = Session.in_memory()
    session.append(UserMessage("start"))
    fork = session.append(AssistantMessage("ready"))
    session.append(UserMessage("try this"))
    session.append(AssistantMessage([ToolCall("c", "read_file", {"path": "a.py"})]))
    session.append(ToolResultMessage("c", "read_file", "SECRET CONTENT"))
    end = session.append(AssistantMessage("it failed"))
    return session, fork, end


def test_the_model_gets_a_summary_of_what_was_left_behind() -> None:
    session, fork, _ = branched()
    model = am.scripted("Tried this; it failed.")
    text = asyncio.run(leave_branch(session, fork, model, focus="why it failed"))
    asked = model.requests[0].context.messages[0].text
    assert "try this" in asked
    assert "read_file" in asked
    assert "SECRET CONTENT" not in asked
    assert "start" not in asked
    assert asked.endswith("Additional focus: why it failed")
    assert text == "Tried this; it failed.\n\n<read-files>\na.py\n</read-files>"
    assert [type(each).__name__ for each in session.messages] == [
        "UserMessage", "AssistantMessage", "BranchSummaryMessage",
    ]  # fmt: skip
    assert session.messages[-1].from_id == fork
    session.append(UserMessage("and now"))
    assert session.messages[-1].text == "and now"


def test_going_to_the_beginning_or_down_another_branch() -> None:
    session, _, end = branched()
    asyncio.run(leave_branch(session, None, am.scripted("All of it.")))
    assert session.messages[0].summary.startswith("All of it.")
    assert session.messages[0].from_id == "root"
    asyncio.run(leave_branch(session, end, am.scripted("And back.")))
    assert session.messages[-2].text == "it failed"
    assert session.messages[-1].summary.startswith("And back.")


def test_the_same_place_and_an_empty_branch_need_no_request() -> None:
    session, _, end = branched()
    model = am.scripted("never")
    assert asyncio.run(leave_branch(session, end, model)) is None
    inner = session.append_custom("mark")
    assert asyncio.run(leave_branch(session, end, model)) is None
    assert session.tree.leaf_id != inner
    assert model.requests == ()


def test_a_failure_leaves_the_session_where_it_stood() -> None:
    session, fork, end = branched()
    with pytest.raises(am.ServerError):
        asyncio.run(leave_branch(session, fork, am.scripted(am.ServerError("down"))))
    assert session.tree.leaf_id == end
    with pytest.raises(am.SessionError):
        asyncio.run(leave_branch(session, "nowhere", am.scripted("never")))


def test_the_newest_part_is_summarised_where_not_all_fits_and_a_compaction_stands_for_what_is_before() -> None:
    session = Session.in_memory()
    start = session.append(UserMessage("start"))
    for number in range(40):
        session.append(UserMessage(f"number {number} " + "x" * 4000))
    model = am.scripted("S", "T").replace(context_window=16_000)
    asyncio.run(leave_branch(session, start, model))
    asked = model.requests[0].context.messages[0].text
    assert "number 39" in asked
    assert "number 20 " not in asked

    session = Session.in_memory()
    start = session.append(UserMessage("start"))
    session.append(UserMessage("before"))
    kept = session.append(UserMessage("kept"))
    session.append_compaction("What was before.", kept, 10, None)
    session.append(UserMessage("after"))
    model = am.scripted("S")
    asyncio.run(leave_branch(session, start, model))
    asked = model.requests[0].context.messages[0].text
    assert "What was before." in asked
    assert "after" in asked
