"""While one run goes on: an awaiting cell waits for it, everything that blocks is refused at once."""

from collections.abc import Iterator

import pytest

from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

# As the panel does it: a run that is a task of the kernel's own loop.
BEHIND = (
    "import asyncio\nagent.model = am.scripted([am.Delay({seconds}), 'from the panel'], 'from the cell', 'more')\n"
    "task = asyncio.ensure_future(agent.prompt('panel'))\nawait asyncio.sleep(0.05)"
)


@pytest.fixture(scope="module")
def started() -> Iterator[Kernel]:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic\nimport agent_magic as am\nagent = am.get_agent()")
        yield kernel


@pytest.fixture
def kernel(started: Kernel) -> Iterator[Kernel]:
    yield started
    started.run("agent.abort()\nawait agent.wait_for_idle()\n%agent new")


def test_an_awaiting_cell_waits_for_the_run_and_says_so(kernel: Kernel) -> None:
    kernel.run(BEHIND.format(seconds=0.6))
    cell = kernel.run("%%agent\nhi")
    assert cell.printed == "Another run of this agent is going on; this cell waits for its end.\n"
    assert "from the cell" in cell.text
    said = kernel.run("print([message.text for message in agent.messages])").printed
    assert said == "['panel', 'from the panel', 'hi', 'from the cell']\n"


def test_stop_ends_the_waiting_and_not_the_other_run(kernel: Kernel) -> None:
    kernel.run(BEHIND.format(seconds=1.5))
    stopped: list[float] = []

    def stop(message: object) -> None:
        if not stopped and "waits for its end" in str(message):
            stopped.append(kernel.interrupt())

    (cell,) = kernel.run_all("%%agent\nhi", on_message=stop)
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert cell.error_time - stopped[0] < 1
    assert kernel.run("await task\nprint(agent.messages[-1].text)").printed == "from the panel\n"


@pytest.mark.parametrize(
    "code",
    [
        "%%time\n%%agent\nhi",
        "agent.run('hi')",
        "get_ipython().run_cell_magic('agent', '', 'hi')",
        "%agent new\n1",
        "%agent new",
        "%agent undo",
        "%%time\n%agent retry",
    ],
)
def test_what_blocks_or_moves_the_conversation_is_refused_at_once(kernel: Kernel, code: str) -> None:
    kernel.run(BEHIND.format(seconds=5))
    cell = kernel.run(code)
    assert cell.error is not None, code
    assert cell.error["ename"] == "AgentBusyError"
    assert len(cell.error["traceback"]) == 1 or "agent.run" in code
    assert kernel.run("print(agent.loop is not None, len(agent.messages))").printed == "True 1\n"


def test_code_of_a_tool_does_not_wait_for_the_run_that_waits_for_it(kernel: Kernel) -> None:
    kernel.run(
        "%agent tools on run_python\n"
        "calls = [am.ToolCall('c1', 'run_python', {'code': '%%agent\\nhi'})]\n"
        "agent.model = am.scripted(am.AssistantMessage(calls), 'Too early.')"
    )
    cell = kernel.run("%%agent --approve auto\ngo")
    assert "run_python" in cell.text
    assert "AgentBusyError" in cell.text
    assert "Too early." in cell.text
    assert cell.error is None


def test_lines_that_only_look_work_meanwhile(kernel: Kernel) -> None:
    kernel.run(BEHIND.format(seconds=5))
    for line in ("", "tools", "history", "context", "cost", "config", "show"):
        assert kernel.run(f"%agent {line}").status == "ok"
