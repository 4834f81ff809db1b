import copy
import json
import subprocess
import sys

import pytest

from agent_magic.config import ToolExecutionMode
from agent_magic.errors import AgentMagicError, InvalidDataError, ToolDefinitionError
from agent_magic.messages import TextContent
from agent_magic.tools.function import tool
from agent_magic.tools.tool import AgentTool, AgentToolResult, ToolContext

from ..speed import cpu_seconds, fastest

HUNDRED = "from typing import Literal, Optional\n" + "".join(
    f'''
def tool_{number}(path: str, count: int, ratio: float = 0.5, tags: Optional[list[str]] = None,
        mode: Literal["read", "write"] = "read", options: Optional[dict[str, int]] = None) -> str:
    """Do job number {number} on a file.

    Args:
        path: Where the file is.
        count: How many times to do it.
        ratio: How much of it to do.
        tags: Words to file it under.
        mode: Whether to read or write.
        options: More numbers by name.
    """
'''
    for number in range(100)
)


def run(arguments, context):
    return arguments


def test_a_tool_can_be_made_with_the_fields_of_the_document_and_has_defaults_for_the_rest():
    made = AgentTool("name", "What it does.", {"type": "object", "properties": {}}, run)
    assert (made.label, made.effect, made.origin, made.timeout, made.thread, made.executor, made.execution_mode) == (
        "name",
        "execute",
        "user",
        None,
        False,
        None,
        None,
    )
    assert made.parameters == {"type": "object", "properties": {}}


def test_a_tool_without_a_schema_takes_no_arguments():
    assert AgentTool("name", "", None, run).input_schema == {"type": "object", "properties": {}}


def test_the_execution_mode_is_read_in_every_spelling():
    made = AgentTool("name", "", {}, run, execution_mode="EXECUTION_SEQUENTIAL")
    assert made.execution_mode is ToolExecutionMode.SEQUENTIAL


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": 3},
        {"execute": 3},
        {"input_schema": [1]},
        {"effect": "x"},
        {"origin": "x"},
        {"timeout": 0},
    ],
)
def test_parts_that_do_not_fit_are_an_error_of_the_package(changes):
    parts = {"name": "name", "description": "", "input_schema": {}, "execute": run, **changes}
    with pytest.raises(ToolDefinitionError):
        AgentTool(**parts)


def test_a_tool_is_frozen_and_equal_to_itself_alone():
    made = AgentTool("name", "", {}, run)
    with pytest.raises(AttributeError):
        made.effect = "read"
    assert made != AgentTool("name", "", {}, run)
    assert len({made, made}) == 1


def test_a_copy_of_what_holds_a_tool_holds_the_same_tool():
    made = tool(lambda: 1, name="one")
    assert copy.deepcopy({"one": made})["one"] is made


def test_a_result_is_made_of_texts_and_blocks_or_nothing():
    assert AgentToolResult("a").content == (TextContent("a"),)
    assert AgentToolResult(None).content == ()
    assert AgentToolResult(["a", TextContent("b")], added_tool_names=["x"]).text == "ab"
    assert AgentToolResult(added_tool_names=["x"]).added_tool_names == ("x",)
    with pytest.raises(InvalidDataError):
        AgentToolResult([3])


def test_the_value_of_a_result_is_neither_compared_nor_shown():
    assert AgentToolResult("a", value=1) == AgentToolResult("a", value=2)
    assert "value" not in repr(AgentToolResult("a", value="secret"))


def test_a_context_needs_nothing_to_be_made():
    context = ToolContext()
    context.on_update("ignored")
    assert not context.signal.aborted


def test_errors_of_tools_are_errors_of_the_package():
    assert issubclass(ToolDefinitionError, AgentMagicError)


def test_a_hundred_tools_are_made_in_25_ms():
    names = {}
    exec(HUNDRED, names)
    functions = [value for name, value in names.items() if name.startswith("tool_")]
    tool(functions[0])

    def make():
        for function in functions:
            assert tool(function).input_schema["properties"]

    assert "How many times to do it" in json.dumps(tool(functions[0]).input_schema)
    assert fastest(lambda: cpu_seconds(make), 0.025) <= 0.025


# What every kernel has loaded does not count.
FIRST = '''
import asyncio, inspect, logging, time
import agent_magic as am
start = time.process_time()
@am.tool
def f(count: int):
    """Do.

    Args:
        count: How often.
    """
print(time.process_time() - start)
'''


def test_the_first_tool_takes_at_most_150_ms():
    def seconds():
        return float(subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True).stdout)

    assert fastest(seconds, 0.15) <= 0.15
