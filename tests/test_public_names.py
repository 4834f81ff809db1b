"""The public names: one table, one stub, one set of attributes; and an import that costs almost nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import agent_magic as am

from .speed import fastest

PACKAGE = Path(am.__file__).parent
TABLE = {name: module for module, names in am._EXPORTS.items() for name in names}


def stubbed() -> dict[str, str]:
    """Public names of the stub, by name, with the module they come from."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {each.asname or each.name: node.module or "" for node in imports for each in node.names}


def test_the_stub_says_what_the_table_says() -> None:
    assert stubbed() == TABLE


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_name_of_the_table_is_there(name: str) -> None:
    assert getattr(am, name) is getattr(import_module(f"agent_magic.{TABLE[name]}"), name)
    assert name in dir(am)


def test_a_star_import_takes_the_public_names_and_no_modules() -> None:
    taken: dict[str, object] = {}
    exec("from agent_magic import *", taken)
    taken.pop("__builtins__")
    assert set(taken) == set(TABLE)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        am.__getattr__("magic")


MEASURE = "import sys, time{and_ours}; print(time.process_time() * 1000); print(*sys.modules)"
HEAVY = {
    "IPython", "anywidget", "asyncio", "concurrent", "docstring_parser", "httpcore", "httpx", "inspect", "ipywidgets",
    "json", "logging", "markdown_it", "pandas", "pydantic", "pydantic_core", "ssl", "traitlets",
}  # fmt: skip


def started(and_ours: str) -> tuple[float, set[str]]:
    """The CPU milliseconds that a fresh process took until it had started, and the modules it had loaded by then."""
    command = [sys.executable, "-c", MEASURE.format(and_ours=and_ours)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    milliseconds, modules = done.stdout.splitlines()
    return float(milliseconds), set(modules.split())


def test_the_import_takes_at_most_40_ms_over_bare_python_and_loads_nothing_heavy() -> None:
    bare, before = min(started("") for _ in range(5))
    _, after = started(", agent_magic")
    assert not {name.split(".")[0] for name in after - before} & HEAVY
    assert fastest(lambda: (started(", agent_magic")[0] - bare) / 1000, 0.04) <= 0.04
