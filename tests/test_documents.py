"""What the project's pages say about the project is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from agent_magic.notebook.commands import COMMANDS
from agent_magic.notebook.flags import FLAGS

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", ARCHITECTURE)))


@pytest.mark.parametrize(("file", "name"), NAMED_TESTS)
def test_every_test_that_the_architecture_names_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_every_row_of_the_documents_table_names_a_test_or_says_later() -> None:
    table = ARCHITECTURE.partition("## 7.")[2]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in row] for row in rows if not row[0].strip().startswith("---")]
    assert len(rows) >= 29
    assert [row[0] for row in rows if "::" not in row[2] and row[2] != "later"] == []


def test_every_command_of_the_readme_is_a_target_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    assert set(re.findall(r"^make (\w+)", README, flags=re.MULTILINE)) <= targets


def first_column(heading: str) -> list[str]:
    """The code in the first column of the table of the README whose head begins so, row by row."""
    table = README.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return [found.replace("\\|", "|") for found in re.findall(r"^\| `(.+?)` \|", table, flags=re.MULTILINE)]


def test_the_readme_has_the_table_of_flags_row_by_row() -> None:
    assert first_column("flag") == [flag.usage for flag in FLAGS]


def test_the_readme_has_the_table_of_subcommands_row_by_row() -> None:
    lines = [f"%agent {command.name} {command.usage}".replace("  ", " ").strip() for command in COMMANDS.values()]
    assert first_column("line") == [*lines, "%agent !COMMAND", "%agent TEXT"]


def test_the_code_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 3
    namespace: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert "5" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
