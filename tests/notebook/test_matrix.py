"""What every notebook relies on, in a kernel of each environment that `AGENT_MAGIC_KERNELS` lists.

The variable holds paths of interpreters, separated as in `PATH`; `make matrix` sets it. Without it, it is this one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magic.notebook.commands import COMMANDS
from agent_magic.notebook.flags import FLAGS

from .every_command import CELLS
from .kernel_client import Cell, Kernel
from .page_client import subshell_of
from .panel_page import PanelPage

pytestmark = pytest.mark.kernel

PYTHONS = os.environ.get("AGENT_MAGIC_KERNELS", sys.executable).split(os.pathsep)

SETUP = """
import time
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()
seen = []

def echo(context, config):
    seen.append(context.messages[-1].text)
    return "seen"

def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])

@tool
def busy(context: am.ToolContext):
    '''Computes.'''
    context.on_update("GO")
    while True:
        pass

@tool
def sleepy(context: am.ToolContext):
    '''Sleeps.'''
    context.on_update("GO")
    time.sleep(20)

@tool(effect="execute")
def danger(path: str):
    '''Removes.'''
    return f"removed {path}"
"""


def name_of(python: str) -> str:
    return Path(python).parents[1].name


@pytest.fixture(scope="module", params=PYTHONS, ids=name_of)
def python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def running(python: str) -> Iterator[Kernel]:
    with Kernel(python) as kernel:
        assert kernel.run("%load_ext agent_magic").status == "ok"
        assert kernel.run(SETUP).status == "ok"
        yield kernel


@pytest.fixture
def kernel(running: Kernel) -> Kernel:
    running.run("%agent new")
    return running


def test_the_first_answer_is_one_output_with_its_record(python: str) -> None:
    with Kernel(python) as kernel:
        kernel.run("%load_ext agent_magic")
        cell = kernel.run("%%agent\nWhat can you do?")
    assert cell.status == "ok"
    assert len(cell.of_type("display_data")) == 1
    assert cell.record["state"] == "done"
    assert cell.record["items"][-1]["kind"] == "text"
    assert set(cell.bundle) == {
        "application/vnd.agent-magic.run+json",
        "text/html",
        "text/markdown",
        "text/plain",
    }
    assert not cell.printed


@pytest.mark.parametrize(
    "body",
    [
        "{agent} $agent ${agent} {{x}} {",
        "100 % and %matplotlib and !ls",
        r"a \ b \n \\ $\frac{1}{2}$",
        '{"a": [1, "\\u00e9"]}',
        "    indented\n>>> 1\n... 2\nIn [1]: x\n%%time",
        "line\u2028separators\u2029 🙂 é",
        "what?",
    ],
)
def test_a_body_arrives_unchanged_at_the_model(kernel: Kernel, body: str) -> None:
    kernel.run("seen.clear(); agent.model = am.scripted(echo)")
    kernel.run(f"%%agent\n{body}")
    assert kernel.run("print(ascii(seen[0]))").printed == ascii(body) + "\n"


def test_what_a_tool_prints_and_plots_goes_into_its_card(kernel: Kernel) -> None:
    kernel.run("""
%matplotlib inline
import matplotlib.pyplot as plt

@tool
def plot():
    '''Plots.'''
    print("plotting")
    plt.plot([1, 2])
    return "plotted"
""")
    kernel.run("agent.model = am.scripted(call('plot'), 'Done.')")
    cell = kernel.run("%%agent\nhi")
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert item["state"] == "done"
    assert "plotting" in str(item)
    assert "image/png" in cell.bundle["text/html"]
    assert len(cell.of_type("display_data")) == 1
    assert not cell.of_type("stream")


def stop_at_go(kernel: Kernel, *codes: str) -> tuple[list[Cell], float]:
    """Run the cells and press Stop a little after the first one shows GO; also returns when."""
    pressed: list[float] = []

    def press(message: dict[str, Any]) -> None:
        if not pressed and "GO" in message["content"].get("data", {}).get("text/plain", ""):
            time.sleep(0.2)
            pressed.append(kernel.interrupt())

    return kernel.run_all(*codes, on_message=press), pressed[0]


@pytest.mark.parametrize("answer", ["['GO', am.Delay(20), 'never']", "call('sleepy')", "call('busy')"])
@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
def test_stop_ends_the_run_and_the_next_one_works(kernel: Kernel, answer: str, before: str) -> None:
    kernel.run(f"agent.model = am.scripted({answer}, 'back again')")
    (cell, after), pressed = stop_at_go(kernel, f"{before}%%agent\nhi", "print('ran on')")
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    # Less than what was waited for; how quick it is on a quiet machine, test_stop says.
    assert cell.error_time - pressed < 5
    assert cell.record["state"] == "aborted"
    # The `%%time` of IPython 7 shows an error of any code, and lets the next cells run.
    assert cell.status == kernel.run(f"{before}1 / 0").status
    assert after.status == ("aborted" if cell.status == "error" else "ok")
    assert "back again" in kernel.run("%%agent\nhi").text


@pytest.mark.parametrize(
    "code",
    ["%%time\n%%agent\nhi", "get_ipython().run_cell('%%agent\\nhi')", "%agent hi", "if True:\n    %agent hi"],
)
def test_a_cell_that_cannot_await_blocks_and_answers(kernel: Kernel, code: str) -> None:
    kernel.run("agent.model = am.scripted('Here.')")
    cell = kernel.run(code)
    assert cell.status == "ok"
    assert "Here." in cell.text


def test_capture_keeps_the_output_of_a_nested_cell(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted('Here.')")
    assert not kernel.run("%%capture caught\n%%agent\nhi").displays
    kernel.run("assert 'Here.' in agent.messages[-1].text")
    assert kernel.run("print(len(caught.outputs) > 0)").printed == "True\n"


def test_a_failing_run_stops_run_all(kernel: Kernel) -> None:
    failed, after = kernel.run_all("%%agent -m openai/nothing-like-it\nhi", "print('ran on')")
    assert failed.status == "error"
    assert after.status == "aborted"


def test_a_question_is_answered_by_stdin(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    (cell,) = kernel.run_all("%%agent\nhi", answers=("y",))
    assert 'path = "all"' in "".join(cell.asked) + cell.printed
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all\n"


def test_where_nobody_can_answer_the_call_is_denied(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    assert kernel.run("%%agent\nhi").status == "ok"
    assert kernel.run("print(agent.messages[-2].is_error)").printed == "True\n"


def test_a_mention_is_sent_as_a_summary(kernel: Kernel) -> None:
    kernel.run("numbers = {'one': 1}\nseen.clear(); agent.model = am.scripted(echo)")
    cell = kernel.run("%%agent\nWhat is @numbers?")
    assert cell.status == "ok"
    sent = kernel.run("print(seen[0])").printed
    assert sent.startswith("What is @numbers?")
    assert "'one'" in sent or '"one"' in sent


@pytest.mark.parametrize(
    ("line", "offered"), [("%%agent --mod", "--model"), ("%agent hist", "history"), ("%%agent -t bus", "busy")]
)
def test_tab_completes_flags_lines_and_tools(kernel: Kernel, line: str, offered: str) -> None:
    reply = kernel.client.complete(line, len(line), reply=True, timeout=20)["content"]
    completed = [line[: reply["cursor_start"]] + match for match in reply["matches"]]
    assert line[: line.rindex(" ") + 1] + offered in completed


# The panel ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(kernel: Kernel) -> Iterator[PanelPage]:
    """17: it must work with the subshells of every version, and without any."""
    page = PanelPage(kernel, subshell=subshell_of(kernel)).find()
    page.attach()
    yield page
    kernel.run("agent.abort()\nawait agent.wait_for_idle()\nagent.clear_queues()")
    page.ask("detach")
    assert page.strays == []


def test_the_panel_and_the_cells_are_one_conversation(kernel: Kernel, page: PanelPage) -> None:
    kernel.run("agent.model = am.scripted('one', 'two')")
    assert page.say("from the panel")["state"] == "done"
    assert "two" in kernel.run("%%agent\nfrom a cell").text
    said = kernel.run("print([message.text for message in agent.messages])").printed
    assert said == "['from the panel', 'one', 'from a cell', 'two']\n"


def test_a_run_of_the_panel_keeps_its_output_and_asks_nobody(kernel: Kernel, page: PanelPage) -> None:
    kernel.run("@tool\ndef ask():\n    print('asking')\n    return input('name? ')")
    kernel.run("@tool\nasync def later():\n    print('later')")
    kernel.run("agent.model = am.scripted(call('ask'), call('later'), 'done')")
    page.say("go", timeout=60)
    first, second = page.items("tool")
    assert "nobody to ask" in first["error"]
    assert [output["text/plain"] for item in (first, second) for output in item["outputs"]] == ["asking\n", "later\n"]


@pytest.mark.parametrize("answer", ["[am.Delay(20), 'never']", "call('sleepy')"])
def test_stop_ends_a_run_of_the_panel(kernel: Kernel, page: PanelPage, answer: str) -> None:
    kernel.run(f"agent.model = am.scripted({answer}, 'late')")
    page.send("go")
    page.until(lambda: page.runs and len(page.run["items"]) > ("sleepy" in answer))
    page.settle(0.3)
    stopped = kernel.interrupt()
    page.until(lambda: page.run["state"] != "running")
    assert time.monotonic() - stopped < 5
    assert page.run["state"] == "aborted"


def test_what_the_panel_sends_during_a_cell_is_heard_then_or_next(kernel: Kernel, page: PanelPage) -> None:
    """15: what a page sent during a cell was lost, or blocked for ever."""
    kernel.run("@tool\nasync def wait():\n    await __import__('asyncio').sleep(1)")
    kernel.run("agent.model = am.scripted(call('wait'), 'one', 'two')")
    later = page.subshell is None and hears_pages_between_cells_only(kernel)
    sent: list[str] = []
    kernel.run_all("%%agent\nhello", on_message=page.sending_at("tool", "hurry", sent))
    answer = page.answer_to(sent[0])["result"]["as"]
    assert answer == ("run" if later else "steer")
    page.until(lambda: page.run["state"] == "done" and page.state["busy"] is False)
    said = kernel.run("print([message.text for message in agent.messages if message.role != 'toolResult'])").printed
    expected = ["hello", "", "hurry", "one"] if answer == "steer" else ["hello", "", "one", "hurry", "two"]
    assert said == f"{expected}\n"


def hears_pages_between_cells_only(kernel: Kernel) -> bool:
    return kernel.run("import ipykernel\nprint(ipykernel.version_info[:2] < (7, 4))").printed == "True\n"


def test_a_cell_waits_for_a_run_of_the_panel(kernel: Kernel, page: PanelPage) -> None:
    kernel.run("agent.model = am.scripted([am.Delay(0.5), 'from the panel'], 'from the cell')")
    page.send("panel")
    cell = kernel.run("%%agent\nhi")
    assert "waits for its end" in cell.printed
    assert "from the cell" in cell.text


# The end --------------------------------------------------------------------------------------------------------------


def test_unloading_leaves_no_magic(python: str) -> None:
    with Kernel(python) as kernel:
        kernel.run("%load_ext agent_magic")
        assert kernel.run("%unload_ext agent_magic").status == "ok"
        assert "agent" in kernel.run("%%agent\nhi").printed
        assert kernel.run("%load_ext agent_magic").status == "ok"
        assert kernel.run("%%agent\nhi").record["state"] == "done"


def test_a_notebook_of_every_flag_and_line_runs_and_runs_again_after_a_restart(python: str, tmp_path: Path) -> None:
    folders = {name: str(tmp_path) for name in ("IPYTHONDIR", "AGENT_MAGIC_CONFIG", "AGENT_MAGIC_DATA")}
    with Kernel(python, tmp_path, **folders) as kernel:
        for _ in range(2):
            (tmp_path / "talk.md").unlink(missing_ok=True)
            for code, cell in zip(CELLS, kernel.run_all(*CELLS, timeout=120), strict=True):
                assert cell.status == "ok", (code, cell.error, cell.printed)
            kernel.restart()


def test_that_notebook_leaves_out_no_flag_and_no_line() -> None:
    used = "\n".join(CELLS).replace("\n", " \n") + " "
    for flag in FLAGS:
        for name in flag.names:
            assert f" {name} " in used or f" {name}=" in used, name
    for command in (*COMMANDS, "!echo", "!!echo"):
        assert f"%agent {command} ".replace("  ", " ") in used, command
