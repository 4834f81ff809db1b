import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am

CELLS = """
%load_ext agent_magic
import agent_magic as am
from agent_magic import tool
@tool
def add(a: int, b: int):
    '''Add two numbers.'''
    print("adding")
    return a + b

calls = am.AssistantMessage(["Adding. ", am.ToolCall("1", "add", {"a": 1, "b": 2})])
am.get_agent().model = am.scripted(calls, "It is **3**.\\n")
%%agent
what is 1 + 2?


print("value:", Out[7].text, _.text == Out[7].text)
%agent tools
%unload_ext agent_magic
exit
"""


def test_terminal_ipython_shows_readable_text_and_each_call_as_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"]
    environment = {"IPYTHONDIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        command, input=CELLS, capture_output=True, text=True, timeout=60, env=environment, encoding="utf-8"
    )
    shown = ran.stdout
    call = r"add\(a=1, b=2\)  ✓ done · [\d.]+ m?s"
    assert re.search(rf"Adding\. \n{call}\nIt is \*\*3\*\*\.\nscripted/scripted · 2 turns · 1 call", shown)
    assert "value: It is **3**.\n True" in shown
    assert re.search(r"on  add +read +Add two numbers\.", shown)
    assert "adding" not in shown
    assert "Out[7]" not in shown
    assert "\x1b" not in shown
    assert "Traceback" not in shown + ran.stderr


HANGING = """
%load_ext agent_magic
import agent_magic as am
am.get_agent().model = am.scripted(["GO", am.Delay(30)], "back again")
%agent hi
%agent hi
exit
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal for one process.")
def test_control_c_stops_the_run_and_the_next_works(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"]
    environment = {"IPYTHONDIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as terminal:
        assert terminal.stdin is not None
        assert terminal.stdout is not None
        terminal.stdin.write(HANGING.encode())
        terminal.stdin.close()
        shown = b""
        while b"GO" not in shown:
            shown += terminal.stdout.read(1)
        terminal.send_signal(signal.SIGINT)
        began = time.monotonic()
        shown += terminal.stdout.read()
        assert time.monotonic() - began < 5
    assert b"KeyboardInterrupt: The agent was stopped." in shown
    assert b"back again" in shown


def test_an_answer_is_only_ever_added_to(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    am.get_agent().model = am.scripted(am.AssistantMessage([am.ThinkingContent("hm"), "one\ntwo \x1b[2Jthree"]))
    loaded.run_line_magic("agent", "hello")
    assert capsys.readouterr().out.splitlines()[:3] == ["Thought", "one", "two three"]


def test_an_answer_that_is_sent_back_is_told_in_one_line(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    am.get_agent().model = am.scripted("many", "7")
    loaded.run_cell("%%agent --as int\nhow many?")
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[2]) == ("many", "7")
    assert lines[1].startswith("Sent back to the model: The answer does not fit: ")


def test_a_failing_run_shows_one_line(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    am.get_agent().model = am.scripted(["half", am.ServerError("on fire")])
    result = loaded.run_cell("%%agent\nhi")
    assert isinstance(result.error_in_exec, am.ServerError)
    shown = capsys.readouterr().out
    assert "half" in shown
    assert "ServerError: on fire" in shown
    assert "Traceback" not in shown


def test_a_run_that_sent_nothing_costs_the_same_in_its_cell_and_in_the_account(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    am.get_agent().model = "openai/gpt-5-mini"
    result = loaded.run_cell("%%agent --new\nhi")
    assert isinstance(result.error_in_exec, am.AuthenticationError)
    assert " · $0.00 · " in capsys.readouterr().out
    loaded.run_line_magic("agent", "cost")
    assert capsys.readouterr().out.strip().endswith("in all: 0 tokens, $0.00")


ASKING = """
%load_ext agent_magic
import agent_magic as am
from agent_magic import tool
@tool(effect="execute")
def danger(code: str):
    '''Runs code.'''
    print("inside")
    return "ran " + code

call = am.AssistantMessage(["Let me run it. ", am.ToolCall("1", "danger", {"code": "rm -r x"})])
am.get_agent().model = am.scripted(call, "Done.", call, "Not done.")
%agent hi
y
%agent hi
n too risky
print([message.text for message in am.get_agent().messages if message.role == "toolResult"])
exit
"""


def test_a_tool_is_asked_about_at_the_prompt(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--simple-prompt", "--colors=NoColor"]
    environment = {"IPYTHONDIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        command, input=ASKING, capture_output=True, text=True, timeout=60, env=environment, encoding="utf-8"
    )
    asked = ran.stdout.index("The model asks to run danger (runs code).")
    assert ran.stdout.index("Let me run it.") < asked < ran.stdout.index("✓ done")
    assert '  code = "rm -r x"' in ran.stdout
    assert "⊘ denied: too risky" in ran.stdout
    assert "['ran rm -r x', 'The user denied this call. too risky']" in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals of this kind.")
def test_a_real_terminal_gets_colours(tmp_path: Path) -> None:
    import os
    import pty

    code = (
        "import agent_magic as am; get_ipython().run_line_magic('load_ext', 'agent_magic'); "
        "am.get_agent().model = am.scripted('# Head\\n\\nsome `code` here'); "
        "get_ipython().run_line_magic('agent', 'hi')"
    )
    master, slave = pty.openpty()
    environment = {"IPYTHONDIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path), "TERM": "xterm"}
    command = [sys.executable, "-m", "IPython", "--no-banner", "-c", code]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment) as terminal:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            shown += piece
        assert terminal.wait(60) == 0
    os.close(master)
    assert b"\x1b[1;4mHead\x1b[0m" in shown
    assert b"\x1b[36mcode\x1b[0m" in shown
    assert b"# Head" not in shown.rpartition(b"\x1b[J")[2]
