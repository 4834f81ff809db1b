import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent_magic.notebook.await_cell import await_transformer

BODIES = [
    "{x} $x {'a': 1} {{y}}",
    r"\alpha \frac{1}{2} $$\int_0^1$$ \n \\",
    '{"a": [1, 2.5, null], "b": "c"}',
    "100 % %s %%agent %time !ls ?help",
    ">>> print(1)\n... x",
    "In [3]: x",
    "  indented\n    more\n",
    "\n\nblank lines first",
    "line\u2028separator\u2029paragraph\x85next\x0cfeed\x1cfile",
    "🙂 e\u0301 \u202e \ufeff 𝔘",
    "'''\"\"\"'",
    "trailing spaces   ",
    "def f():\n\treturn 1",
]


@pytest.fixture
def transforming(shell: Any) -> Iterator[Any]:
    transformer = await_transformer(shell)
    shell.input_transformers_cleanup.insert(0, transformer)
    yield shell
    shell.input_transformers_cleanup.remove(transformer)


def arguments_of(code: str) -> tuple[str, list[Any]]:
    """The name that is awaited and its literal arguments."""
    (statement,) = ast.parse(code).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Await)
    call = statement.value.value
    assert isinstance(call, ast.Call)
    return ast.unparse(call.func), [ast.literal_eval(each) for each in call.args]


@pytest.mark.parametrize("body", BODIES, ids=json.dumps)
def test_a_body_arrives_unchanged(transforming: Any, body: str) -> None:
    code = transforming.transform_cell("%%agent --new\n" + body)
    assert arguments_of(code) == ("get_ipython().agent_magic.run_cell", ["--new", body.removesuffix("\n") + "\n"])


@pytest.mark.parametrize("cell", ["%%agent", "%%agent\n", "\n\n  %%agent \n"])
def test_an_empty_cell_arrives_too(transforming: Any, cell: str) -> None:
    name, (line, body) = arguments_of(transforming.transform_cell(cell))
    assert name == "get_ipython().agent_magic.run_cell"
    assert (line, body.strip()) == ("", "")


@pytest.mark.parametrize("line", ["", "model x", "what is this?", "it's {x} $y \\z", "-- tools"])
def test_a_single_line_magic_is_awaited(transforming: Any, line: str) -> None:
    code = transforming.transform_cell(f"%agent {line}")
    assert arguments_of(code) == ("get_ipython().agent_magic.run_line", [line])


@pytest.mark.parametrize(
    "cell",
    [
        "%%agent?",
        "%agent?",
        "%%agents\nx",
        "%agents",
        "%agent hi\nx = 1",
        "x = %agent hi",
        "%%time\n%%agent\nx",
        "agent(1)",
        "",
        "\n",
    ],
)
def test_other_cells_are_left_to_ipython(transforming: Any, cell: str) -> None:
    transformer = transforming.input_transformers_cleanup[0]
    lines = cell.splitlines(keepends=True)
    assert transformer(lines) is lines


def test_without_autoawait_the_cell_blocks(transforming: Any) -> None:
    transforming.autoawait = False
    try:
        assert (
            transforming.transform_cell("%%agent a\n >>> b")
            == "get_ipython().run_cell_magic('agent', 'a', ' >>> b\\n')\n"
        )
        assert transforming.transform_cell("%%agent") == "get_ipython().run_cell_magic('agent', '', '\\n')\n"
    finally:
        transforming.autoawait = True


def test_inside_a_running_cell_nothing_is_awaited(transforming: Any) -> None:
    transforming.user_ns["transformed"] = transforming.transform_cell
    transforming.run_cell("inner = transformed('%%agent a\\nb')")
    assert transforming.user_ns["inner"].startswith("get_ipython().run_cell_magic('agent'")
    transforming.run_cell("import asyncio\nawait asyncio.sleep(0)\ninner = transformed('%%agent a\\nb')")
    assert transforming.user_ns["inner"].startswith("get_ipython().run_cell_magic('agent'")
    assert transforming.transform_cell("%%agent a\nb").startswith("await ")


def test_in_a_terminal_a_cell_is_complete_after_an_empty_line(transforming: Any) -> None:
    assert transforming.check_complete("%%agent")[0] == "incomplete"
    assert transforming.check_complete("%%agent\nhello")[0] == "incomplete"
    assert transforming.check_complete("%%agent\nhello\n\n")[0] == "complete"
    assert transforming.check_complete("%agent model")[0] == "complete"
