from __future__ import annotations

import asyncio
import functools
import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_magic.config import ToolExecutionMode
from agent_magic.errors import AgentMagicError, ToolDefinitionError
from agent_magic.tools.execution import execute
from agent_magic.tools.function import as_tool, observe_definitions, tool
from agent_magic.tools.tool import AgentTool, ToolContext


def run(made, arguments=None, context=None):
    return asyncio.run(execute(made, arguments or {}, context))


@tool
def area(width: float, height: float = 1.0) -> float:
    """The area of a rectangle."""
    return width * height


def test_a_tool_can_still_be_called_as_the_function():
    assert area(2.0, height=3.0) == 6.0
    assert inspect.signature(area) == inspect.signature(area.function)
    assert area.__doc__ == "The area of a rectangle."
    assert (area.__name__, area.__module__, area.__wrapped__) == ("area", __name__, area.function)


def test_a_tool_says_what_it_is():
    assert isinstance(area, AgentTool)
    assert (area.name, area.description, area.label, area.effect, area.origin) == (
        "area",
        "The area of a rectangle.",
        "area",
        "read",
        "user",
    )
    assert area.parameters is area.input_schema


def test_options_are_kept():
    @tool(name="other", effect="write", timeout=3, mode="sequential", thread=True)
    def f(): ...

    assert (f.name, f.effect, f.timeout, f.execution_mode, f.thread) == (
        "other",
        "write",
        3,
        ToolExecutionMode.SEQUENTIAL,
        True,
    )


def test_options_can_be_given_with_the_function_and_change_a_tool():
    assert tool(area, name="surface", effect="network").name == "surface"
    changed = tool(tool(area, timeout=2), effect="write")
    assert (changed.name, changed.timeout, changed.effect) == ("area", 2, "write")
    assert tool(area) is area


class Shop:
    def __init__(self, name):
        self.name = name

    def bound(self, count: int) -> str:
        """Count."""
        return f"{self.name} {count}"

    @tool
    def decorated(self, count: int) -> str:
        """Count."""
        return f"{self.name} {count}"

    def __call__(self, count: int) -> str:
        """Call it."""
        return f"called {count}"


def test_a_bound_method_is_a_tool_without_self():
    made = tool(Shop("s").bound)
    assert list(made.input_schema["properties"]) == ["count"]
    assert run(made, {"count": 1}).text == "s 1"


def test_a_method_decorated_in_its_class_is_bound_by_its_object():
    assert Shop("s").decorated(2) == "s 2"
    assert list(Shop("s").decorated.input_schema["properties"]) == ["count"]
    assert run(Shop("s").decorated, {"count": 1}).text == "s 1"


def test_a_callable_object_is_a_tool():
    made = tool(Shop("s"), name="shop")
    assert made.description == "Call it."
    assert run(made, {"count": 1}).text == "called 1"


def test_a_partial_keeps_its_arguments_and_is_documented_by_its_function():
    made = tool(functools.partial(area.function, height=2.0))
    assert (made.name, made.description) == ("area", "The area of a rectangle.")
    assert made.input_schema["required"] == ["width"]
    assert run(made, {"width": 3.0}).text == "6.0"


def test_positional_only_parameters_are_passed_by_position():
    @tool
    def f(a: int, b: int = 2, /, c: int = 3):
        return [a, b, c]

    assert run(f, {"c": 9, "a": 1}).text == "[1, 2, 9]"


def test_a_parameter_annotated_with_the_context_is_injected_and_not_in_the_schema():
    @tool
    def f(a: int, context: ToolContext, other: ToolContext | None = None):
        return f"{a} {context.tool_call_id} {other.tool_call_id}"

    assert list(f.input_schema["properties"]) == ["a"]
    assert run(f, {"a": 1}, ToolContext("call-1")).text == "1 call-1 call-1"


def test_text_annotations_are_resolved_by_the_globals_of_the_function_also_when_decorated():
    names = {"functools": functools}
    code = """
from __future__ import annotations
import datetime
def wrapper(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner
@wrapper
def f(day: datetime.date, days: list[datetime.date]) -> Unknown: ...
"""
    exec(code, names)
    assert tool(names["f"]).input_schema["properties"]["day"] == {"format": "date", "type": "string"}


def test_an_annotation_that_cannot_be_resolved_names_function_parameter_and_name():
    def f(good: int, bad: Unknown): ...  # noqa: F821

    with pytest.raises(ToolDefinitionError, match=r"'Unknown' of the parameter 'bad' of f .* 'Unknown' is not defined"):
        tool(f)


def test_a_return_annotation_that_cannot_be_resolved_is_ignored():
    def f(a: int) -> Unknown: ...  # noqa: F821

    assert tool(f).input_schema["required"] == ["a"]


def test_what_a_model_cannot_call_is_refused_with_advice():
    def many(*values: int): ...

    with pytest.raises(ToolDefinitionError, match=r"\*values.*Take a list instead"):
        tool(many)
    with pytest.raises(ToolDefinitionError, match="needs one to be a tool"):
        tool(lambda: 1)
    with pytest.raises(ToolDefinitionError, match="cannot be the name of a tool"):
        tool(many, name="größe")
    with pytest.raises(ToolDefinitionError, match="cannot be read"):
        tool(type)
    with pytest.raises(ToolDefinitionError, match=r"A name is given as @tool\(name='add'\)"):
        tool("add")  # type: ignore[call-overload]
    with pytest.raises(ToolDefinitionError, match="neither a tool nor a function"):
        as_tool(3)


def test_an_executor_fits_neither_a_context_nor_a_coroutine_nor_a_thread():
    def f(context: ToolContext): ...

    async def g(): ...

    def h(): ...

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ToolDefinitionError, match="takes a ToolContext"):
            tool(executor=pool)(f)
        with pytest.raises(ToolDefinitionError, match="asynchronous"):
            tool(executor=pool)(g)
        with pytest.raises(ToolDefinitionError, match="choose one"):
            tool(executor=pool, thread=True)(h)


@pytest.mark.parametrize("option", [{"effect": "delete"}, {"timeout": 0}, {"timeout": -1}, {"mode": "sometimes"}])
def test_a_wrong_option_is_an_error_of_the_package(option):
    with pytest.raises(AgentMagicError):
        tool(area.function, **option)


def test_observers_learn_of_every_definition_until_they_unsubscribe():
    seen = []

    def broken(made):
        raise RuntimeError

    stop_broken = observe_definitions(broken)
    stop = observe_definitions(seen.append)
    try:
        made = tool(lambda: 1, name="one")
        as_tool(area.function)

        class Box:
            @tool
            def method(self): ...

        assert Box().method.name == "method"
    finally:
        stop()
        stop_broken()
    tool(lambda: 1, name="two")
    assert seen == [made]


SCRIPT = """
import asyncio
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from agent_magic.tools.execution import execute
from agent_magic.tools.function import tool
from agent_magic.tools.tool import AgentTool

pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

@tool(executor=pool)
def double(value: int):
    return value * 2

@tool(executor=pool)
def steps(value: int):
    yield 1
    yield value

def plain(value: int):
    return value * 3

if __name__ == "__main__":
    with pool:
        async def main():
            for made in (double, steps, tool(plain, executor=pool)):
                print((await execute(made, {"value": 4})).text)
        asyncio.run(main())
"""


def test_a_decorated_function_runs_in_a_process_pool(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.split(), done.stderr) == (["8", "4", "12"], "")


def test_the_first_tool_of_plain_annotations_needs_no_pydantic():
    code = (
        "import sys, agent_magic as am\n"
        "@am.tool\n"
        "def f(a: int, b: list[str] | None = None):\n"
        "    'Do.'\n"
        "print('pydantic' in sys.modules, 'docstring_parser' in sys.modules, f.input_schema['required'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False ['a']\n"
