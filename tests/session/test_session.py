"""A session: undo, fork, list and find, and its place beside an agent."""

from __future__ import annotations

import asyncio
import io
import os
import sys
import time
from pathlib import Path

import pytest

import agent_magic as am
from agent_magic import AssistantMessage, SessionError, TextContent, ToolCall, UserMessage
from agent_magic.session import location, writer
from agent_magic.session.session import Session


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def talk(session: Session, *prompts: str) -> list[str]:
    ids = []
    for prompt in prompts:
        ids.append(session.append(UserMessage(prompt)))
        ids.append(session.append(AssistantMessage(f"re: {prompt}")))
    return ids


def test_usage_counts_all_branches_results_and_summaries() -> None:
    session = Session.in_memory()
    assert session.usage is None
    talk(session, "one")
    kept = session.append(AssistantMessage("paid", usage=am.Usage(10, 1)))
    session.append(am.ToolResultMessage("c", "ask", "x", usage=am.Usage(100, 10)))
    session.append_compaction("S", kept, 0, {"usage": {"input": 1000, "output": 100}})
    session.move_to(None)
    session.append(AssistantMessage("elsewhere", usage=am.Usage(10_000, 1000)))
    assert session.usage is not None
    assert (session.usage.input, session.usage.output) == (11_110, 1_111)


def test_a_result_outlives_details_that_cannot_be_stored(tmp_path: Path) -> None:
    details: dict[str, object] = {}
    details["itself"] = details
    look = am.AgentTool("look", "", {}, lambda arguments, context: am.AgentToolResult("seen", details=details))
    agent = am.Agent(am.scripted(ToolCall("a", "look", {}), "done"), [look])
    with Session.new(tmp_path) as session:
        session.attach(agent)
        agent.run("hi")
        assert session.path is not None
    assert agent.messages[2].details is details
    assert texts(Session.open(session.path, read_only=True)) == ["hi", "", "seen", "done"]


# Undo and fork --------------------------------------------------------------------------------------------------------


def test_undo_takes_back_the_last_exchange_and_gives_its_prompt() -> None:
    session = Session.in_memory()
    talk(session, "one", "two")
    taken = session.undo()
    assert taken is not None
    assert taken.text == "two"
    assert texts(session) == ["one", "re: one"]
    assert session.undo() is not None
    assert session.messages == ()
    assert session.undo() is None


def test_undo_goes_back_behind_a_compaction_that_came_later() -> None:
    session = Session.in_memory()
    ids = talk(session, "one", "two", "three")
    session.append_compaction("S", ids[4], 10, None)
    session.undo()
    assert texts(session) == ["one", "re: one", "two", "re: two"]


def test_a_fork_is_a_file_of_its_own_that_names_where_it_came_from(tmp_path: Path) -> None:
    with Session.new(tmp_path, notebook="analysis.ipynb") as session:
        ids = talk(session, "one", "two", "three")
        session.label(ids[1], "start")
        session.label(ids[5], "end")
        session.rename("Title")
        with session.fork(ids[3]) as fork:
            talk(fork, "four")
            assert texts(fork) == ["one", "re: one", "two", "re: two", "four", "re: four"]
            assert fork.tree.labels == {ids[1]: "start"}
            assert fork.name == "Title"
            assert fork.header.parent_session == str(session.path)
            assert fork.header.notebook == "analysis.ipynb"
            assert fork.id != session.id
            assert fork.path is not None
        assert len(session.messages) == 6
    with Session.open(fork.path) as again:
        assert texts(again)[-1] == "re: four"
        assert len([entry for entry in again.tree if entry.type == "message"]) == 6


def test_a_fork_before_the_first_prompt_has_no_file_yet(tmp_path: Path) -> None:
    with Session.new(tmp_path) as session:
        mark = session.append_custom("mark")
        talk(session, "one")
        with session.fork(mark) as fork:
            fork.flush()
            assert fork.path is not None
            assert not fork.path.exists()
    with pytest.raises(SessionError, match="no entry"):
        session.fork("nowhere")


def test_a_fork_of_a_session_in_memory_stays_in_memory() -> None:
    session = Session.in_memory()
    talk(session, "one")
    fork = session.fork()
    assert fork.path is None
    assert texts(fork) == texts(session)


# List and find --------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_with_the_last_used_first_and_other_files_passed_over(tmp_path: Path) -> None:
    paths = []
    for number, prompt in enumerate(["First   question\nof all", "y" * 200]):
        with Session.new(tmp_path, notebook=f"{number}.ipynb") as session:
            talk(session, prompt)
            assert session.path is not None
            paths.append(session.path)
    with Session.open(paths[0]) as session:
        session.append(UserMessage('{"type":"session_info","name":"a trap"}'))
    os.utime(paths[1], (time.time() - 1000,) * 2)
    (tmp_path / "notes.jsonl").write_text("not a session\n")
    (tmp_path / "empty.jsonl").touch()
    first, second = Session.list(tmp_path)
    assert (first.title, first.messages, first.notebook) == ("First question of all", 3, "0.ipynb")
    assert second.title == "y" * 79 + "…"
    assert first.modified > second.modified
    assert Session.list(tmp_path / "nowhere") == ()


def test_the_title_of_a_session_leaves_out_what_its_prompt_mentions(tmp_path: Path) -> None:
    with Session.new(tmp_path) as session:
        session.append(UserMessage([TextContent("Why does @sales drop?"), TextContent("```@sales\n12 rows\n```")]))
        session.append(AssistantMessage("It is winter."))
    (stored,) = Session.list(tmp_path)
    assert stored.title == "Why does @sales drop?"


def test_a_session_is_found_by_the_beginning_of_its_id_by_title_or_as_the_last_one(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="no session in"):
        Session.find(folder=tmp_path)
    with Session.new(tmp_path) as one:
        talk(one, "one")
        one.rename("My title")
    with Session.new(tmp_path) as two:
        talk(two, "two")
    assert two.path is not None
    os.utime(two.path, (time.time() + 100,) * 2)
    with Session.find("My title", tmp_path) as found:
        assert found.id == one.id
    with Session.find(two.id[:13], tmp_path) as found:
        assert found.id == two.id
    assert Session.find(folder=tmp_path, read_only=True).id == two.id
    last = f"The last ones are {two.id[:8]} .*, {one.id[:8]} My title"
    with pytest.raises(SessionError, match=f"has an id that begins with 'zzz', or that title. {last}"):
        Session.find("zzz", tmp_path)


def test_a_word_that_means_several_sessions_is_an_error_that_names_them(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with Session.new(tmp_path) as session:
            session.append(UserMessage("hello"))
            ids.append(session.id)
    with pytest.raises(SessionError, match="several sessions") as caught:
        Session.find("hello", tmp_path)
    assert all(each in str(caught.value) for each in ids)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/xdg"}, "/xdg/agent_magic"),
        ("linux", {}, "~/.local/share/agent_magic"),
        ("darwin", {}, "~/Library/Application Support/agent_magic"),
        ("win32", {"LOCALAPPDATA": "/appdata"}, "/appdata/agent_magic"),
        ("linux", {"AGENT_MAGIC_DATA": "/chosen"}, "/chosen"),
    ],
)
def test_the_folder_is_that_of_the_platform(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "AGENT_MAGIC_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert location.data_folder() == Path(expected).expanduser()


def test_sessions_may_be_kept_beside_the_notebook(tmp_path: Path) -> None:
    assert location.sessions_folder(tmp_path / "a.ipynb") == tmp_path / ".agent_magic" / "sessions"


def test_names_of_files_sort_by_time_and_hold_no_colon() -> None:
    early, late = location.session_name(1_700_000_000_000, "b"), location.session_name(1_700_000_000_001, "a")
    assert early < late
    assert ":" not in early
    assert early == "2023-11-14T22-13-20-000Z_b.jsonl"


# With an agent --------------------------------------------------------------------------------------------------------


@am.tool(effect="read")
async def slow(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return f"waited {seconds}"


def test_an_agent_remembers_through_the_session(tmp_path: Path) -> None:
    with Session.new(tmp_path) as session:
        agent = am.Agent(am.scripted(ToolCall("c", "slow", {"seconds": 0}), "Done."), tools=[slow])
        detach = session.attach(agent)
        agent.run("Wait a little")
        detach()
        assert texts(session) == [each.text for each in agent.messages]
        assert session.path is not None
    with Session.open(session.path) as again:
        second = am.Agent(am.scripted("Yes."), tools=[slow])
        again.attach(second)
        assert [each.role for each in second.messages] == ["user", "assistant", "toolResult", "assistant"]
        second.run("Do you remember?")
        assert len(again.messages) == 6


def test_a_finished_result_is_kept_while_its_sibling_still_runs(tmp_path: Path) -> None:
    calls = [ToolCall("long", "slow", {"seconds": 30}), ToolCall("short", "slow", {"seconds": 0})]

    async def work(session: Session) -> list[str]:
        agent = am.Agent(am.scripted(AssistantMessage(calls)), tools=[slow])
        session.attach(agent)
        ended = asyncio.Event()
        agent.subscribe(lambda event: ended.set() if event.type == "tool_execution_end" else None)
        task = asyncio.ensure_future(agent.prompt("Both"))
        await asyncio.wait_for(ended.wait(), 5)
        assert session.path is not None
        seen = texts(Session.open(session.path, read_only=True))
        agent.abort()
        await task
        return seen

    with Session.new(tmp_path) as session:
        seen = asyncio.run(work(session))
        assert seen[2].startswith("This call was still running")
        assert seen[3] == "waited 0.0"
        assert texts(session)[2:4] == ["Operation aborted", "waited 0.0"]


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    append = writer._append

    def slow_append(file: io.FileIO, data: bytes) -> None:
        time.sleep(0.1)
        append(file, data)

    monkeypatch.setattr(writer, "_append", slow_append)


@pytest.mark.usefixtures("slow_disk")
def test_what_a_view_is_told_after_the_session_is_in_the_file_already(tmp_path: Path) -> None:
    missing: list[str] = []
    with Session.new(tmp_path) as session:
        agent = am.Agent(am.scripted(ToolCall("c", "slow", {"seconds": 0}), "Done."), tools=[slow])
        session.attach(agent)

        def view(event: am.AgentEvent) -> None:
            if event.type in ("message_end", "tool_execution_end"):
                assert session.path is not None
                message = getattr(event, "message", None)
                wanted = message.text if message is not None else event.result.text
                if not session.path.exists() or wanted not in session.path.read_text():
                    missing.append(wanted)

        agent.subscribe(view)
        agent.run("Wait")
    assert missing == []


def test_a_disk_that_fails_does_not_fail_the_run(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    session = Session.new(blocked)
    agent = am.Agent(am.scripted("Hello."))
    session.attach(agent)
    assert agent.run("Hi").text == "Hello."
    assert "could not be written" in (session.problem or "")
    assert texts(session) == ["Hi", "Hello."]
    blocked.unlink()
    session.close()


@pytest.mark.usefixtures("slow_disk")
def test_the_loop_is_not_held_up_by_a_slow_disk(tmp_path: Path) -> None:
    async def work(session: Session) -> float:
        agent = am.Agent(am.scripted("Hello."))
        session.attach(agent)
        longest = 0.0
        task = asyncio.ensure_future(agent.prompt("Hi"))
        while not task.done():
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - start)
        return longest

    longest = []
    for number in range(5):
        with Session.new(tmp_path / str(number)) as session:
            longest.append(asyncio.run(work(session)))
    assert min(longest) < 0.09
