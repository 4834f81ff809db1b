"""A process that is killed at any moment has lost nothing that it had shown as done."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from agent_magic import AssistantMessage, ToolResultMessage
from agent_magic.session.session import Session

# Prints the text of whatever a view would show as done, when it would show it.
CHILD = textwrap.dedent(
    """
    import asyncio, sys
    import agent_magic as am

    @am.tool
    async def work(name: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return f"result {name} " + "x" * 5000

    def answer(number):
        names = [(f"{number}.{n}", 0.002 * (3 - n)) for n in range(3)]
        calls = [am.ToolCall(name, "work", {"name": name, "seconds": seconds}) for name, seconds in names]
        return am.AssistantMessage([f"answer {number}.", *calls])

    def view(event):
        if event.type == "message_end":
            print(event.message.text[:40].split(" x")[0], flush=True)
        elif event.type == "tool_execution_end":
            print(event.result.text[:40].split(" x")[0], flush=True)

    session = am.Session.new(sys.argv[1])
    agent = am.Agent(am.scripted(*(answer(number) for number in range(10000))), tools=[work], max_turns=None)
    session.attach(agent)
    agent.subscribe(view)
    agent.run("go")
    """
)


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_loses_nothing_that_was_shown_as_done(seed: int, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        time.sleep(random.Random(seed).uniform(0.02, 0.4))
    finally:
        child.kill()
        rest = child.communicate()[0]
    shown = [line for line in rest.split("\n")[:-1] if line]
    (path,) = tmp_path.glob("*.jsonl")
    with Session.open(path) as session:
        messages = session.messages
        kept = {message.text.split(" x")[0] for message in messages}
        assert [line for line in shown if line not in kept] == []
        assert session.skipped == 0
        for place, message in enumerate(messages):
            if isinstance(message, AssistantMessage):
                results = messages[place + 1 : place + 1 + len(message.tool_calls)]
                assert all(isinstance(each, ToolResultMessage) for each in results)
                assert [each.tool_call_id for each in results] == [call.id for call in message.tool_calls]
        session.append(AssistantMessage("after the restart"))
    with Session.open(path) as session:
        assert session.messages[-1].text == "after the restart"
