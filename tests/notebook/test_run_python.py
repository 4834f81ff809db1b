"""`run_python` and its neighbours in a real kernel: what the model learns, what the card shows, what Stop reaches."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agent_magic.notebook.run_python import NOTHING

from .kernel_client import Cell, Kernel

pytestmark = pytest.mark.kernel

SETUP = """
import json, os
import agent_magic as am
agent = am.get_agent()

def plan(tool, *steps):
    calls = [[am.ToolCall(f"c{n}", tool, step)] for n, step in enumerate(steps)]
    agent.model = am.scripted(*[am.AssistantMessage(call) for call in calls], "all done")

def results():
    told = [message for message in agent.messages if message.role == "toolResult"]
    print(json.dumps([[m.is_error, [type(b).__name__ for b in m.content], m.text] for m in told]))
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Kernel]:
    with Kernel(OPENAI_API_KEY="sk-the-key-in-the-environment") as kernel:
        kernel.run("%load_ext agent_magic")
        assert kernel.run(SETUP).error is None
        for name in ("run_python", "shell", "read_file", "write_file"):
            assert kernel.run(f"%agent tools on {name}").printed == f"The tool {name} is on.\n"
        yield kernel


@pytest.fixture
def kernel(running: Kernel) -> Kernel:
    running.run("%agent new")
    return running


def plan(kernel: Kernel, tool: str, *steps: dict[str, Any]) -> None:
    cell = kernel.run(f"plan({tool!r}, *json.loads({json.dumps(steps)!r}))")
    assert cell.error is None


def results(kernel: Kernel) -> list[tuple[bool, list[str], str]]:
    return [tuple(each) for each in json.loads(kernel.run("results()").printed)]


def ran(kernel: Kernel, *codes: str, cell: str = "%%agent --approve auto\ngo", **more: Any) -> Cell:
    plan(kernel, "run_python", *({"code": code} for code in codes))
    return kernel.run(cell, **more)


def told(kernel: Kernel, *codes: str, **more: Any) -> list[tuple[bool, list[str], str]]:
    ran(kernel, *codes, **more)
    return results(kernel)


def tools(cell: Cell) -> list[dict[str, Any]]:
    return [item for item in cell.record["items"] if item["kind"] == "tool"]


def test_the_tools_are_off_until_they_are_switched_on() -> None:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        kernel.run(SETUP)
        listed = kernel.run("%agent tools").printed
        assert [f"off {name}" in listed for name in ("run_python", "shell", "read_file", "write_file")] == [True] * 4
        assert told(kernel, "1")[0][2].startswith("Tool run_python not found.")
        kernel.run("%agent new")
        assert told(kernel, "1+1", cell="%%agent -t run_python --approve auto\ngo") == [(False, ["TextContent"], "2")]


def test_the_model_gets_what_is_printed_and_the_last_value(kernel: Kernel) -> None:
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n[1, 2]"
    assert told(kernel, code, "x = 5", "x;", "x") == [
        (False, ["TextContent"], "out\nerr\n[1, 2]"),
        (False, ["TextContent"], NOTHING),
        (False, ["TextContent"], NOTHING),
        (False, ["TextContent"], "5"),
    ]
    assert kernel.run("print(x)").printed == "5\n"


def test_magics_and_shell_lines_work_in_code(kernel: Kernel) -> None:
    codes = "!echo from the shell", "files = !echo a\nfiles[0]", "%%capture inner\nprint(3)", "inner.stdout"
    assert [text for _, _, text in told(kernel, *codes)] == ["from the shell", "a", NOTHING, "3\n"]


def test_a_bar_of_progress_is_its_last_state(kernel: Kernel) -> None:
    assert told(kernel, "print('1 %\\r50 %\\r\\x1b[32m100 %\\x1b[0m')")[0][2] == "100 %"


@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
def test_code_can_await_at_the_top(kernel: Kernel, before: str) -> None:
    code = "import asyncio\nprint('before')\nawait asyncio.sleep(0.05)\nprint('after')\nawait asyncio.sleep(0, 'value')"
    cell = ran(kernel, code, "1 + 1", cell=before + "%%agent --approve auto\ngo")
    assert cell.error is None
    first, second = results(kernel)
    assert first == (False, ["TextContent"], "before\nafter\nvalue")
    assert second[2] == "2"
    assert "after" in json.dumps(tools(cell)[0]["outputs"])
    assert kernel.run("await asyncio.sleep(0, 'the loop lives')").error is None


def test_awaiting_code_shares_the_loop_of_the_cells(kernel: Kernel) -> None:
    kernel.run("import asyncio\nready = asyncio.get_running_loop().create_future()\nready.set_result('from a cell')")
    assert told(kernel, "await ready")[0] == (False, ["TextContent"], "from a cell")


def test_figures_are_images_for_the_model_and_in_the_card_once(kernel: Kernel) -> None:
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.gca()"
    cell = ran(kernel, draw)
    assert results(kernel) == [(False, ["ImageContent"], "")]
    (item,) = tools(cell)
    assert [sorted(bundle) for bundle in item["outputs"]] == [["image/png", "text/plain"]]
    assert item["arguments"] == {"code": draw}
    assert not cell.of_type("stream")
    assert "plt.plot" in cell.bundle["text/html"]


def test_frames_are_tables_in_the_card(kernel: Kernel) -> None:
    cell = ran(kernel, "import pandas as pd\nprint('note')\npd.DataFrame({'a': [1, 2]})")
    (item,) = tools(cell)
    assert item["outputs"][0] == {"text/plain": "note\n"}
    assert item["outputs"][1]["application/vnd.agent-magic.table+json"]["columns"] == ["a"]
    assert "<table" in cell.bundle["text/html"]


def test_an_error_comes_with_a_traceback_of_the_code_alone(kernel: Kernel) -> None:
    code = "def f(n):\n    return 1 / n if n == 0 else g(n)\ndef g(n):\n    return f(n - 1)\nprint('so far')\nf(30)"
    cell = ran(kernel, code, "def (:")
    (failed, _, text), (bad, _, syntax) = results(kernel)
    assert failed
    assert text.startswith("ZeroDivisionError: division by zero\n\nTraceback")
    assert "return 1 / n" in text
    assert "frames left out" in text
    assert text.count("File ") <= 6
    assert text.endswith("so far")
    assert "agent_magic" not in text
    assert bad
    assert syntax.startswith("SyntaxError: ")
    assert tools(cell)[0]["error"] == "ZeroDivisionError: division by zero"
    assert tools(cell)[0]["outputs"] == [{"text/plain": "so far\n"}]


def test_of_a_library_only_the_last_frame_is_told(kernel: Kernel) -> None:
    ((_, _, text),) = told(kernel, "import json\ndef f():\n    return json.loads('[')\nf()")
    assert text.startswith("JSONDecodeError: ")
    assert [line.split(", ")[-1] for line in text.splitlines() if line.startswith("  File")] == [
        "in <module>",
        "in f",
        "in raw_decode",
    ]


def test_code_that_leaves_by_exit_is_an_error_and_the_kernel_lives(kernel: Kernel) -> None:
    assert told(kernel, "import sys\nsys.exit(3)", "'alive'") == [
        (True, ["TextContent"], results(kernel)[0][2]),
        (False, ["TextContent"], "alive"),
    ]
    assert results(kernel)[0][2].startswith("SystemExit: 3")


def test_input_fails_at_once_where_nobody_can_answer(kernel: Kernel) -> None:
    began = time.monotonic()
    ((failed, _, text),) = told(kernel, "input('Your name? ')")
    assert time.monotonic() - began < 5
    assert failed
    assert "StdinNotImplementedError" in text


def test_input_asks_the_user_where_somebody_can(kernel: Kernel) -> None:
    cell = ran(kernel, "print('hello', input('Your name? '))", answers=("Ada",))
    assert cell.asked == ["Your name? "]
    assert results(kernel)[0][2] == "hello Ada"


@pytest.mark.parametrize(
    "code",
    [
        "print('GO', flush=True)\nimport time\ntime.sleep(20)",
        "while True:\n    pass",
        "import asyncio\nawait asyncio.sleep(0.01)\nawait asyncio.sleep(20)",
        "import asyncio\nawait asyncio.sleep(0.01)\nimport time\ntime.sleep(20)",
        "!sleep 20",
    ],
    ids=["sleeps", "computes", "awaits", "blocks after an await", "waits for a command"],
)
def test_stop_works_while_code_runs(kernel: Kernel, code: str) -> None:
    plan(kernel, "run_python", {"code": code})
    pressed: list[float] = []

    def press(message: dict[str, Any]) -> None:
        if not pressed and "running" in message["content"].get("data", {}).get("text/plain", ""):
            time.sleep(0.5)
            pressed.append(kernel.interrupt())

    cell, after = kernel.run_all("%%agent --approve auto\ngo", "print('ran on')", on_message=press)
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert cell.error_time - pressed[0] < 1.5
    assert after.status == "aborted"
    assert results(kernel) == [(True, ["TextContent"], "Operation aborted")]
    kernel.run("agent.model = am.scripted('back again')")
    assert "back again" in kernel.run("%%agent\nhi").text


def test_code_is_asked_about_uncut_and_can_be_edited(kernel: Kernel) -> None:
    code = "a = 1\n" + "\n".join(f"# line {number} \u202e" for number in range(300)) + "\nprint(a)"
    answers = ("e", "print('edited')", "print('twice')", ".", "y")
    cell = ran(kernel, code, cell="%%agent\ngo", answers=answers)
    question = cell.asked[0]
    assert all(f"    | # line {number} \\u202e" in question for number in range(300))
    assert "\u202e" not in question
    assert "    | print('twice')" in cell.asked[4]
    assert results(kernel)[0][2].endswith("\nedited\ntwice")
    (approval,) = [item for item in cell.record["items"] if item["kind"] == "approval"]
    assert approval["state"] == "done"
    assert approval["arguments"] == {"code": "print('edited')\nprint('twice')"}


def test_always_holds_for_a_tool_until_text_of_others_comes_in(kernel: Kernel) -> None:
    cell = ran(kernel, "1", "2", cell="%%agent\ngo", answers=("a",))
    assert (len(cell.asked), cell.error) == (1, None)
    assert "allowed for good" in kernel.run("%agent approve").printed
    plan(kernel, "shell", {"command": "echo theirs"})
    assert len(kernel.run("%%agent\ngo", answers=("y",)).asked) == 1
    assert "asked about again" in kernel.run("%agent approve").printed
    cell = ran(kernel, "3", cell="%%agent\ngo", answers=("y",))
    assert "Text from outside has reached the model" in cell.asked[0]


def test_approve_allows_a_tool_and_forgets_it(kernel: Kernel) -> None:
    assert "runs without a question" in kernel.run("%agent approve run_python").printed
    assert ran(kernel, "1", cell="%%agent\ngo", answers=()).asked == []
    kernel.run("%agent approve forget")
    assert len(ran(kernel, "1", cell="%%agent\ngo", answers=("n",)).asked) == 1
    assert "Did you mean run_python?" in kernel.run("%agent approve run_pyton").printed


def test_the_mode_of_a_cell_decides_for_that_cell(kernel: Kernel) -> None:
    ran(kernel, "1", cell="%%agent --approve deny\ngo", answers=())
    assert "does not allow" in results(kernel)[-1][2]
    cell = ran(kernel, "1", cell="%%agent --approve ask\ngo", answers=("n not now",))
    assert len(cell.asked) == 1
    assert results(kernel)[-1][2] == "The user denied this call. not now"


def test_commands_see_no_key_and_files_stay_in_the_folder(kernel: Kernel, tmp_path: Any) -> None:
    plan(kernel, "shell", {"command": "env; echo here"})
    kernel.run("%%agent --approve auto\ngo")
    ((failed, _, text),) = results(kernel)
    assert not failed
    assert "here" in text
    assert "sk-the-key-in-the-environment" not in text
    kernel.run("%agent new")
    plan(kernel, "write_file", {"path": str(tmp_path / "a.txt"), "content": "x"})
    kernel.run("%%agent --approve auto\ngo")
    assert "outside the notebook's folder" in results(kernel)[0][2]
    kernel.run(f"%config AgentMagic.folders = [{str(tmp_path)!r}]")
    kernel.run("%agent new")
    plan(kernel, "write_file", {"path": str(tmp_path / "a.txt"), "content": "x"})
    cell = kernel.run("%%agent --approve auto\ngo")
    assert results(kernel)[0][0] is False
    assert (tmp_path / "a.txt").read_text() == "x"
    assert "+x" in tools(cell)[0]["outputs"][0]["text/plain"]


def test_a_command_of_the_user_is_shown_to_the_model(kernel: Kernel) -> None:
    assert kernel.run("%agent !echo mine").printed == "mine\n"
    assert kernel.run("%agent !!echo hidden").printed == "hidden\n"
    kernel.run("agent.model = am.scripted(lambda context, config: repr([m.text for m in context.messages]))")
    shown = kernel.run("%%agent\nwhat did I run?").record["items"][-1]["text"]
    assert "echo mine" in shown
    assert "hidden" not in shown


def test_a_command_of_nothing_is_no_command(kernel: Kernel) -> None:
    for line in ("%agent !", "%agent !!"):
        cell = kernel.run(line)
        assert cell.status == "error"
        assert "Write a command" in cell.printed
    assert kernel.run("print(len(agent.messages))").printed == "0\n"


def test_a_policy_file_decides_where_nobody_can_answer(tmp_path: Any) -> None:
    path = tmp_path / "policy.json"
    path.write_text('{"tools": {"run_python": "allow"}, "otherwise": "deny"}')
    with Kernel(AGENT_MAGIC_POLICY=str(path)) as kernel:
        kernel.run("%load_ext agent_magic")
        kernel.run(SETUP)
        kernel.run("%agent tools on run_python")
        assert told(kernel, "6 * 7", cell="%%agent\ngo") == [(False, ["TextContent"], "42")]
    path.write_text('{"tols": {}}')
    with Kernel(AGENT_MAGIC_POLICY=str(path)) as kernel:
        kernel.run("%load_ext agent_magic")
        error = kernel.run("%%agent\ngo").error
        assert error is not None
        assert "tols" in error["evalue"]
