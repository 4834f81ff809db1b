"""Cells that several tests run, and answers of a scripted model for them."""

from __future__ import annotations

RECORD = "application/vnd.agent-magic.run+json"
WIDGET = "application/vnd.jupyter.widget-view+json"

# `call(name, **arguments)` is an answer that calls a tool. `note` is allowed, the user is asked about `act`.
# `silence(name)` in an answer, and the tool `block`, which keeps the kernel's thread, last until the test calls
# `NotebookPage.let(name)`.
SETUP = '''\
%load_ext agent_magic
import os, time
import agent_magic as am
from agent_magic import tool

agent = am.get_agent()
ran = []

def call(name, /, **arguments):
    return am.AssistantMessage([am.ToolCall(f"{name}-{len(arguments)}", name, arguments)])

@tool
def note(text: str) -> str:
    """Note a text."""
    ran.append(text)
    return f"noted {text}"

def silence(name):
    while not os.path.exists(name):
        yield am.Delay(0.05)

@tool
def wait(seconds: float) -> str:
    """Wait."""
    time.sleep(seconds)
    return "waited"

@tool
def block(name: str) -> str:
    """Wait."""
    while not os.path.exists(name):
        time.sleep(0.05)
    return "waited"

@tool(effect="execute")
def act(code: str, times: int = 1) -> str:
    """Run code."""
    ran.append((code, times))
    return f"ran {code} {times} times"
'''
ASK = "%%agent\nPlease"


def answers(*sources: str) -> str:
    """The source of a cell that gives the agent a model with these answers, each a Python expression."""
    return f"agent.model = am.scripted({', '.join(sources)})"


def paced(count: int, seconds: float, word: str = "word") -> str:
    """An answer of so many pieces, with a pause after each: `word0 word1 ...`."""
    return f"[part for n in range({count}) for part in (f'{word}{{n}} ', am.Delay({seconds}))]"
