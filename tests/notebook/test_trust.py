"""What makes an agent fit to be trusted with a kernel: who asks, what is told, and what is left behind.

The numbers are those of known complaints about other agents for notebooks.
"""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook.approval import asked, question
from agent_magic.notebook.folders import Folders
from agent_magic.notebook.html import record_html
from agent_magic.notebook.kernel import SYSTEM_PROMPT
from agent_magic.notebook.record import Recorder
from agent_magic.tools.execution import execute


def called(*names: str) -> list[am.ToolCall]:
    return [am.ToolCall(f"c{number}", name, {}) for number, name in enumerate(names, 1)]


def made(name: str, effect: Any = "execute", origin: Any = "user", run: Any = None) -> am.AgentTool:
    return am.AgentTool(name, "D.", {}, run or (lambda arguments, context: f"{name} ran"), effect=effect, origin=origin)


def agent_of(tools: list[am.AgentTool], *answers: Any, **more: Any) -> am.Agent:
    return am.Agent(am.scripted(*answers), tools, policy=am.Policy.for_kernel(), **more)


def results(agent: am.Agent) -> dict[str, tuple[bool, str]]:
    return {m.tool_call_id: (m.is_error, m.text) for m in agent.messages if m.role == "toolResult"}


class Says:
    """An approver that gives the answers it was made with, one after the other."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, request: am.ApprovalRequest) -> am.ApprovalAnswer:
        self.asked.append(request.tool.name)
        return request.allow() if self._answers.pop(0) == "y" else request.deny("not that one")


def test_tools_of_other_processes_pass_our_own_policy() -> None:
    """33: approval is enforced where calls are dispatched, whoever runs the tool."""
    approver = Says("n")
    agent = agent_of([made("remote", "read", "mcp")], called("remote"), "done", approver=approver)
    agent.run("go")
    assert approver.asked == ["remote"]
    assert results(agent)["c1"] == (True, "The user denied this call. not that one")


def test_a_question_stays_in_the_record_until_it_is_answered() -> None:
    """34: what waits is part of the record, with its arguments, and is drawn again whenever the record is."""
    recorder = Recorder("r", None, am.scripted("x"))
    item = recorder.add_item("approval", "pending", name="run_python", reason="Runs code.", arguments={"code": "1 + 1"})
    for _ in range(2):
        drawn = record_html(recorder.record(), live=True)
        assert "1 + 1" in drawn
        assert "waiting for you" in drawn
    recorder.change_item(item, state="done")
    assert "allowed" in record_html(recorder.record())


@pytest.mark.parametrize("name", ["run_python", "shell", "write_file"])
def test_what_changes_anything_is_asked_about_and_a_refusal_goes_on_with_the_turn(name: str, loaded: Any) -> None:
    """35: nothing that runs or writes is allowed by itself, and the model reads the user's refusal."""
    agent = am.get_agent()
    approver = Says("n")
    agent.approver = approver
    arguments = {"code": "1", "command": "true", "path": "a", "content": "b"}
    wanted = loaded.agent_magic.kernel.known_tools()[name].input_schema["required"]
    agent.model = am.scripted([am.ToolCall("c1", name, {each: arguments[each] for each in wanted})], "Then not.")
    loaded.agent_magic.kernel.tools.off.discard(name)
    reply = agent.run("go")
    assert approver.asked == [name]
    assert results(agent)["c1"] == (True, "The user denied this call. not that one")
    assert reply.text == "Then not."


def test_where_nobody_can_answer_all_but_reading_is_denied(loaded: Any) -> None:
    """36: the default goes by the class of the effect, and not by a list of names."""
    tools = loaded.agent_magic.kernel.known_tools()
    policy = am.Policy.for_kernel()
    rules = {name: policy.rule(tools[name]) for name in ("run_python", "shell", "read_file", "write_file")}
    assert rules == {"run_python": "ask", "shell": "ask", "read_file": "allow", "write_file": "ask"}
    assert policy.rule(made("new", "network")) == "ask"
    agent = agent_of([made("a", "execute"), made("b", "network"), made("c", "read")], called("a", "b", "c"), "done")
    agent.run("go")
    assert [error for error, _ in results(agent).values()] == [True, True, False]


def test_refusing_one_of_two_parallel_calls_leaves_a_result_for_each() -> None:
    """37: every call has exactly one result, in the order of the calls."""
    agent = agent_of([made("a"), made("b")], called("a", "b"), "done", approver=Says("n", "y"))
    agent.run("go")
    assert results(agent) == {"c1": (True, "The user denied this call. not that one"), "c2": (False, "b ran")}
    assert list(results(agent)) == ["c1", "c2"]


def test_a_conversation_goes_on_after_a_stop_during_its_first_tool() -> None:
    """38: every open call has a result before control comes back, so that the next message can build on it."""

    async def wait(arguments: Any, context: am.ToolContext) -> None:
        context.agent.abort()
        await asyncio.sleep(30)

    agent = agent_of([made("wait", "read", run=wait), made("b", "read")], called("wait", "b"), "and on")
    assert agent.run("go").stop_cause == "aborted"
    assert set(results(agent)) == {"c1", "c2"}
    assert agent.run("go on").text == "and on"


def test_a_stopped_run_leaves_no_tool_running() -> None:
    """39: tools are cancelled and awaited, and threads have a signal to look at."""
    ended: list[str] = []
    begun = threading.Event()

    async def wait(arguments: Any, context: am.ToolContext) -> None:
        try:
            while not begun.is_set():
                await asyncio.sleep(0.001)
            context.agent.abort()
            await asyncio.sleep(30)
        finally:
            ended.append("coroutine")

    def work(arguments: Any, context: am.ToolContext) -> None:
        stopped = threading.Event()
        context.signal.on_abort(stopped.set)
        begun.set()
        stopped.wait()
        ended.append("thread")

    agent = agent_of([made("work", "read", run=work), made("wait", "read", run=wait)], called("work", "wait"), "no")
    agent.run("go")
    assert sorted(ended) == ["coroutine", "thread"]


def test_the_result_of_a_stopped_call_blames_nobody_and_is_an_error() -> None:
    """40: a neutral word, marked as an error and never as a success."""

    def stop(arguments: Any, context: am.ToolContext) -> str:
        context.agent.abort("the user pressed a button")
        return "done"

    agent = agent_of([made("stop", "read", run=stop)], called("stop"), "no")
    agent.run("go")
    assert results(agent)["c1"] == (True, "Operation aborted")


def test_the_model_sees_what_code_printed_returned_and_raised(loaded: Any) -> None:
    """41: a run gives what it printed, the last value or the error, cut with a note where it is long."""
    kernel = loaded.agent_magic.kernel
    tool = kernel.known_tools()["run_python"]

    def told(code: str) -> am.AgentToolResult:
        context = am.ToolContext(agent=kernel.agent)
        return asyncio.run(execute(tool, {"code": code}, context, kernel.agent.function_runner))

    assert told("print('out')\n{'a': 1}").text.split("\n", 1)[0] == "out"
    assert '"a": 1' in told("print('out')\n{'a': 1}").text
    failed = told("print('so far')\n{}['key']")
    assert failed.is_error
    assert failed.text.startswith("KeyError: 'key'")
    assert "so far" in failed.text
    long = told("print('x' * 100_000)")
    assert len(long.text) <= 16_000
    assert "characters left out" in long.text


def test_tools_stay_with_the_notebook_in_which_the_run_began(
    loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """42: the folder is bound at the start, wherever the user or the code goes meanwhile."""
    kernel = loaded.agent_magic.kernel
    before = kernel.folders().home
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "other.ipynb"))
    assert kernel.folders().home == before
    assert Folders(tmp_path).home == Path(os.path.realpath(tmp_path))


def test_no_tool_of_ours_places_a_cell_by_its_number(loaded: Any) -> None:
    """43: cells are named by id or not at all; without a panel the agent places none, and says so to the model."""
    for tool in loaded.agent_magic.kernel.known_tools().values():
        assert not {"index", "position", "cell_index", "cell_number"} & set(tool.input_schema.get("properties", {}))
    assert "You cannot edit cells" in SYSTEM_PROMPT


def test_errors_of_tools_and_unknown_names_go_back_to_the_model() -> None:
    """44: the model reads the exception, and for an unknown name the list of those that exist."""

    def fail(arguments: Any, context: Any) -> None:
        raise ValueError("no such region")

    agent = agent_of([made("fail", "read", run=fail), made("b", "read")], called("fail", "nothing"), "done")
    assert agent.run("go").text == "done"
    assert results(agent) == {
        "c1": (True, "no such region"),
        "c2": (True, "Tool nothing not found. The tools that exist: fail, b."),
    }


# Answers to a question ------------------------------------------------------------------------------------------------


def work(number: int, note: str = "") -> None:
    """Works."""


def request() -> am.ApprovalRequest:
    from agent_magic.agent.policy import hash_of_arguments

    arguments = {"number": 5, "note": "as it was"}
    call = am.ToolCall("c", "work", arguments)
    return am.ApprovalRequest("1", call, arguments, hash_of_arguments(arguments), am.tool(effect="execute")(work))


def answered(*lines: str) -> tuple[am.ApprovalAnswer, list[str]]:
    given, prompts = list(lines), []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return given.pop(0)

    return asked(request(), read), prompts


def test_a_denial_may_come_with_a_word_to_the_model() -> None:
    answer, _ = answered("n  use the small table ")
    assert (answer.decision, answer.reason) == ("deny", "use the small table")


def test_an_answer_that_is_none_is_asked_for_again() -> None:
    answer, prompts = answered("what?", "", "Y")
    assert (answer.decision, answer.scope, answer.arguments) == ("allow", "once", None)
    assert prompts[0] == question(request())
    assert len(prompts) == 3


def test_an_edited_argument_is_shown_again_and_then_approved() -> None:
    answer, prompts = answered("e number", "7", ".", "e note", "two", "lines", ".", "a")
    assert answer.arguments == {"number": 7, "note": "two\nlines"}
    assert answer.scope == "always"
    assert "number = 7" in prompts[3]
    assert "    | lines" in prompts[-1]


def test_an_edit_that_the_tool_would_refuse_is_told_at_once_and_changes_nothing() -> None:
    answer, prompts = answered("e number", "seven", ".", "e", "y")
    assert "number" in prompts[3]
    assert "Which one?" in prompts[4]
    assert answer.arguments is None
