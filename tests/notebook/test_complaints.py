"""What users of other notebook agents complained about, and what is right: one test each.

The numbers are those of a public survey of such complaints; 15 to 21 concern widgets and have tests of their own.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from agent_magic.notebook.wording import without_ansi

from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

SETUP = """
import asyncio, json, sys, threading, time
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()
seen = []
def answers(*given):
    agent.model = am.scripted(*given)
def echo(context, config):
    seen.append((context.messages[-1].text, config))
    return "seen"
def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])
"""


@pytest.fixture(scope="module")
def started() -> Iterator[Kernel]:
    with Kernel() as kernel:
        kernel.run("handlers = (get_ipython().custom_exceptions, get_ipython().showtraceback)\n%load_ext agent_magic")
        assert kernel.run(SETUP).status == "ok"
        yield kernel


@pytest.fixture
def kernel(started: Kernel) -> Kernel:
    started.run("%agent new\nseen.clear()")
    return started


# Magics and IPython --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        '{"a": {"b": [1, 2]}}',
        "interface A { x: number; f(): Array<{y: T}> }",
        r"$\frac{1}{2}$ \begin{x}{}",
        "f'{x!r:>{w}}'",
    ],
)
def test_braces_of_any_language_are_text(kernel: Kernel, body: str) -> None:
    """1: a prompt with a dict, JSON, TypeScript or LaTeX raised `Invalid format specifier`."""
    kernel.run("answers(echo)")
    assert kernel.run(f"%%agent\n{body}").status == "ok"
    assert kernel.run(f"print(seen[0][0] == {body!r})").printed == "True\n"


def test_fix_works_without_a_model_named(kernel: Kernel) -> None:
    """2: `fix` without a model printed an internal KeyError."""
    kernel.run("1/0")
    kernel.run("answers('```python\\n1/1\\n```')")
    cell = kernel.run("%agent fix")
    assert cell.status == "ok"
    assert "1/1" in cell.text


def test_an_option_is_sent_or_refused(kernel: Kernel) -> None:
    """3: a parameter was accepted and never sent."""
    kernel.run("answers(echo)")
    kernel.run("%%agent --temperature 0\nhi")
    assert kernel.run("print(seen[0][1].temperature)").printed == "0.0\n"
    for line in ("--model-parameters {}", "--temprature 0", '-p {"temperature":0}'):
        assert "UsageError: There is no flag" in kernel.run(f"%%agent {line}\nhi").printed
    assert kernel.run("print(len(seen))").printed == "1\n"


def test_an_answer_that_cannot_be_read_is_kept(kernel: Kernel) -> None:
    """4: an answer in another format than was asked for was lost, though it was paid for."""
    kernel.run(
        "unread = am.ToolCall('c1', 'f', {}, arguments_error='Expecting value')\n"
        "answers(am.AssistantMessage(['Here is prose. ', unread]), 'and more')"
    )
    cell = kernel.run("%%agent -o reply\nhi")
    assert cell.status == "ok"
    assert "Here is prose." in cell.text
    assert kernel.run("print(reply.messages[1].text, reply.messages[2].is_error)").printed == "Here is prose.  True\n"


def test_a_failure_fails_the_cell_and_run_all_stops(kernel: Kernel) -> None:
    """5: a failing provider was printed, the cell counted as a success, and "Run all" went on."""
    kernel.run("answers(['so far', am.ServerError('The server is on fire.')])")
    failed, after = kernel.run_all("%%agent -o reply\nhi", "print('ran on')")
    assert failed.error is not None
    assert failed.error["traceback"] == ["ServerError: The server is on fire."]
    assert after.status == "aborted"
    assert kernel.run("print(reply.text)").printed == "so far\n"


def test_the_first_word_is_shown_when_it_comes(kernel: Kernel) -> None:
    """6: magics showed nothing until the whole answer was there."""
    kernel.run("answers(['first ', am.Delay(1.0), 'last'])")
    cell = kernel.run("%%agent\nhi")
    first = next(each for each in cell.displays if "first" in each["content"]["data"]["text/plain"])
    assert first["_time"] - cell.sent < 0.5


def test_the_answer_is_a_value(kernel: Kernel) -> None:
    """7: an answer could not be kept in a variable."""
    kernel.run("answers('42')")
    kernel.run("%%agent -o reply\nhi")
    shown = kernel.run("print(reply.text, len(reply.messages), reply.usage.total_tokens > 0, reply is _)").printed
    assert shown == "42 2 True True\n"


def test_no_handler_of_the_shell_is_taken_over(kernel: Kernel) -> None:
    """8: loading replaced the shell's exception handler, and unloading did not put it back."""
    code = "print(handlers == (get_ipython().custom_exceptions, get_ipython().showtraceback), get_ipython().CustomTB)"
    shown = kernel.run(code).printed
    assert shown.startswith("True ")
    assert "dummy" in shown or "None" in shown
    error = kernel.run("def f(): return 1/0\nf()").error
    assert error is not None
    assert "f()" in "".join(error["traceback"])


def test_an_error_of_the_python_api_shows_the_lines_of_the_user_and_no_inner_frames(kernel: Kernel) -> None:
    """A dozen frames of the library stood between the line that failed and the message."""
    kernel.run(
        "def ask(agent):\n    return agent.run('hi')\n"
        "def fails():\n    return am.Agent(am.scripted(am.ServerError('on fire')))"
    )
    for code in ("ask(fails())", "await fails().prompt('hi')", "am.Agent('no/such')", "fails().map('hi')"):
        error = kernel.run(code).error
        assert error is not None
        lines = [line for text in error["traceback"] for line in without_ansi(text).splitlines()]
        assert f"----> 1 {code}" in lines
        assert ("----> 2     return agent.run('hi')" in lines) == (code == "ask(fails())")
        assert not [line for line in lines if line.startswith("File ")]
        assert lines[-1].startswith(f"{error['ename']}: {error['evalue']}")


def test_an_error_of_a_hook_shows_the_line_in_it_that_failed(kernel: Kernel) -> None:
    kernel.run(
        "def hook(turn):\n    return 1/0\nagent_with_hook = am.Agent(am.scripted('a'), should_stop_after_turn=hook)"
    )
    error = kernel.run("agent_with_hook.run('hi')").error
    assert error is not None
    lines = [line for text in error["traceback"] for line in without_ansi(text).splitlines()]
    assert "----> 2     return 1/0" in lines
    assert "----> 1 agent_with_hook.run('hi')" in lines
    assert not any("run_blocking" in line for line in lines)


def test_an_error_that_the_user_raises_from_another_shows_both(kernel: Kernel) -> None:
    error = kernel.run("raise am.ServerError('mine') from ValueError('first')").error
    assert error is not None
    assert "ValueError: first" in without_ansi("\n".join(error["traceback"]))


def test_no_cell_shows_a_coroutine(kernel: Kernel) -> None:
    """9: a prompt displayed `<coroutine ...>`, since no magic is awaited."""
    for code in ("%%agent\nhi", "%agent hi", "%%time\n%%agent\nhi", "%agent hi\nNone", "%agent"):
        kernel.run("answers('yes')")
        cell = kernel.run(code)
        assert cell.status == "ok"
        assert not cell.of_type("execute_result")
        assert "coroutine" not in cell.printed


def test_an_empty_body_goes_on_with_the_last_run(kernel: Kernel) -> None:
    """10: an empty body was refused with "cell body is empty"."""
    kernel.run("answers(am.ServerError('down'), 'went on')")
    kernel.run("%%agent\nhi")
    assert "went on" in kernel.run("%%agent").text
    assert "cell body is empty" not in str(kernel.run("%%agent\n\n").messages)


def test_code_that_is_offered_is_also_shown(kernel: Kernel) -> None:
    """11: code went into a payload that some front ends ignore, and nowhere else."""
    kernel.run("1/0")
    kernel.run("answers('So:\\n```python\\nprint(1)\\n```')")
    cell = kernel.run("%agent fix")
    assert cell.reply is not None
    (payload,) = [each for each in cell.reply["content"]["payload"] if each["source"] == "set_next_input"]
    assert payload["text"] == "print(1)"
    assert payload["replace"] is False
    for kind in ("text/html", "text/markdown", "text/plain"):
        assert "print(1)" in cell.bundle[kind]


def test_a_cell_is_a_message_by_its_first_line_only(kernel: Kernel) -> None:
    """12: a cell magic turns off the analysis of Python in its cell, so prompts and code do not mix."""
    kernel.run("answers(echo)")
    assert kernel.run("x = 1\n%%agent\nhi").status == "error"
    assert kernel.run('text = """\n%%agent\nhi\n"""').status == "ok"
    assert kernel.run("print(len(seen), text == '\\n%%agent\\nhi\\n')").printed == "0 True\n"


def test_the_line_is_not_expanded(kernel: Kernel) -> None:
    """13: `$x` and `{x}` in the line were replaced by variables."""
    kernel.run("x = 'EXPANDED'")
    for code in ("%%agent {x} $x\nbody", "%agent {x} $x", "%%time\n%%agent {x} $x\nbody", "_ = %agent {x} $x"):
        kernel.run("answers(echo); seen.clear()")
        kernel.run(code)
        assert kernel.run("print(seen[0][0].splitlines()[0])").printed == "{x} $x\n", code


def test_an_output_is_addressed_by_an_id_of_its_own(kernel: Kernel) -> None:
    """14: cells were addressed by execution count, so that answers landed in the wrong place."""
    kernel.run("answers('one', 'two')")
    identities: dict[str, set[str]] = {}

    def note(message: dict[str, Any]) -> None:
        if "display_id" in message["content"].get("transient", {}):
            cell = identities.setdefault(message["parent_header"]["msg_id"], set())
            cell.add(message["content"]["transient"]["display_id"])

    # Without a history the execution count stays the same.
    for _ in range(2):
        kernel.client.execute("%%agent\nhi", store_history=False)
    kernel.run("0;", on_message=note)
    first, second = identities.values()
    assert len(first) == len(second) == 1
    assert first != second


# Busy kernels, interrupts ---------------------------------------------------------------------------------------------


def stopped(kernel: Kernel, code: str, word: str = "GO") -> tuple[Any, float]:
    """The cell, and the seconds from Stop, pressed when `word` is shown, to the error."""
    pressed: list[float] = []

    def press(message: dict[str, Any]) -> None:
        if not pressed and word in str(message["content"].get("data", "")):
            pressed.append(kernel.interrupt())

    (cell,) = kernel.run_all(code, on_message=press)
    return cell, cell.error_time - pressed[0]


def test_an_interrupt_ends_the_run_at_every_level_and_keeps_the_history(kernel: Kernel) -> None:
    """22: an interrupt waited for the awaited work, or killed one level only."""
    kernel.run("@tool\nasync def waits():\n    '''W.'''\n    await asyncio.sleep(30)")
    kernel.run("answers(['GO', am.AssistantMessage([am.ToolCall('c1', 'waits', {})])], 'on we go')")
    cell, seconds = stopped(kernel, "%%agent\nhi")
    assert seconds < 1
    assert cell.error["ename"] == "KeyboardInterrupt"
    kernel.run("answers('on we go')")
    assert "on we go" in kernel.run("%%agent\nand now?").text


def test_stop_need_not_wait_for_the_answer(kernel: Kernel) -> None:
    """23: Stop took more than ten seconds, until the answer was complete."""
    kernel.run("answers(['GO', am.Delay(30), 'late'])")
    cell, seconds = stopped(kernel, "%%agent\nhi")
    assert seconds < 0.5
    assert "late" not in cell.text
    assert "GO" in cell.text


def test_a_thread_that_goes_on_after_its_time_is_named_and_its_tool_refused(kernel: Kernel) -> None:
    """24: a time-out left a thread that went on changing the notebook, and nobody was told."""
    kernel.run(
        "@tool(timeout=0.2, thread=True)\ndef hangs():\n    '''H.'''\n    time.sleep(3)\n    late.append(1)\n"
        "late = []\nanswers(call('hangs'), call('hangs'), 'ok')"
    )
    cell = kernel.run("%%agent\nhi")
    first, second = (item for item in cell.record["items"] if item["kind"] == "tool")
    assert "still running" in first["result"]
    assert second["state"] == "failed"
    assert "running" in second["result"]
    assert kernel.run("print(late)").printed == "[]\n"


def test_a_tool_has_no_limit_of_time_and_shows_that_it_runs(kernel: Kernel) -> None:
    """25: a fixed limit and silence made long work impossible."""
    kernel.run(
        "@tool\nasync def trains(context: am.ToolContext):\n    '''T.'''\n    for n in range(4):\n"
        "        context.on_update(f'epoch {n}')\n        await asyncio.sleep(0.4)\n    return 'trained'\n"
        "answers(call('trains'), 'ok')"
    )
    assert kernel.run("print(trains.timeout)").printed == "None\n"
    cell = kernel.run("%%agent\nhi")
    shown = [each["content"]["data"]["text/plain"] for each in cell.displays]
    assert [n for n in range(4) if any(f"running · epoch {n}" in text for text in shown)] == [0, 1, 2, 3]


def test_blocking_calls_work_where_a_loop_runs_and_patch_nothing(kernel: Kernel) -> None:
    """26: "asyncio.run() cannot be called from a running event loop", and patches against it."""
    kernel.run("answers('one', 'two')")
    code = (
        "original = asyncio.run.__module__, asyncio.BaseEventLoop.run_until_complete.__module__\n"
        "async def inside():\n    return agent.run('hi').text\n"
        "print(agent.run('hi').text, await inside(), original, 'nest_asyncio' in sys.modules)"
    )
    assert kernel.run(code).printed == "one two ('asyncio.runners', 'asyncio.base_events') False\n"


# Streaming ------------------------------------------------------------------------------------------------------------


def test_one_output_is_updated_and_never_cleared(kernel: Kernel) -> None:
    """27: clearing and replacing outputs flickered and moved the page."""
    kernel.run("answers([part for n in range(60) for part in (f'w{n} ', am.Delay(0.02))])")
    cell = kernel.run("%%agent\nhi")
    assert not cell.of_type("clear_output")
    assert len({each["content"]["transient"]["display_id"] for each in cell.displays}) == 1
    times = [each["_time"] for each in cell.displays]
    assert len(times) <= 5 * (times[-1] - times[0]) + 4
    assert cell.displays[0]["msg_type"] == "display_data"
    assert {each["msg_type"] for each in cell.displays[1:]} == {"update_display_data"}


def test_traffic_grows_with_time_and_not_with_the_square_of_the_answer(kernel: Kernel) -> None:
    """28: the whole text was sent again for each token."""

    kernel.run("answers(['word ' for n in range(16_000)])")
    began = time.monotonic()
    cell = kernel.run("%%agent\nhi")
    updates = 5 * (time.monotonic() - began) + 4
    assert len(cell.displays) <= updates
    assert sum(len(str(each["content"])) for each in cell.displays) < updates * len(str(cell.displays[-1]["content"]))
