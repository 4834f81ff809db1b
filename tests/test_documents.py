"""What the project's pages say about the project is so."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
from pathlib import Path

import pytest

from agent_magic.notebook.commands import COMMANDS
from agent_magic.notebook.flags import FLAGS
from agent_magic.notebook.settings import AgentMagic

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "agent_magic"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", ARCHITECTURE)))


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(("file", "name"), NAMED_TESTS)
def test_every_test_that_the_architecture_names_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_every_row_of_the_documents_table_names_a_test() -> None:
    table = ARCHITECTURE.partition("From the source documents to the code")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in row] for row in rows if not row[0].strip().startswith("---")]
    assert len(rows) >= 29
    assert [row[0] for row in rows if "::" not in row[2]] == []


@pytest.mark.parametrize("folder", ["", "providers", "tools", "agent", "session", "notebook"])
def test_the_map_of_modules_leaves_none_out_and_names_none_that_is_gone(folder: str) -> None:
    modules = {path.stem for path in (PACKAGE / folder).glob("*.py")} - {"__init__"}
    table = ARCHITECTURE.partition(f"\n### `agent_magic/{folder}`\n")[2].partition("\n#")[0]
    patterns = {
        name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    }
    found = {name: fnmatch.filter(modules, name) for name in patterns}
    assert sorted(name for name in found if not found[name]) == []
    assert sorted(modules - {each for names in found.values() for each in names}) == []


def test_every_command_of_the_readme_is_a_target_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    assert set(re.findall(r"^make (\w+)", README, flags=re.MULTILINE)) == targets


def first_column(heading: str, page: str = README) -> list[str]:
    """The code in the first column of the table of a page whose head begins so, row by row."""
    table = page.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return [found.replace("\\|", "|") for found in re.findall(r"^\| `(.+?)` \|", table, flags=re.MULTILINE)]


def test_the_readme_has_the_table_of_flags_row_by_row() -> None:
    assert first_column("flag") == [flag.usage for flag in FLAGS]


def test_the_readme_has_the_table_of_subcommands_row_by_row() -> None:
    lines = [f"%agent {command.name} {command.usage}".replace("  ", " ").strip() for command in COMMANDS.values()]
    assert first_column("line") == [*lines, "%agent !COMMAND", "%agent TEXT"]


def test_the_page_of_settings_has_each_with_its_default() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `(.+?)` \|", SETTINGS, flags=re.MULTILINE)
    found = {name: ast.literal_eval(default) for names, default in rows for name in re.findall(r"\w+", names)}
    traits = AgentMagic.class_traits(config=True)
    assert found == {name: trait.default() for name, trait in traits.items()}


def test_the_page_of_settings_has_each_variable_of_the_environment() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert set(re.findall(r"AGENT_MAGIC_\w+", sources)) == set(
        re.findall(r"^\| `(AGENT_MAGIC_\w+)`", SETTINGS, re.MULTILINE)
    )


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_code_of_a_page_runs(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, page.name, "exec", dont_inherit=True), namespace)
    assert page.name != "README.md" or "5" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not Path(os.path.normpath(page.parent / link)).exists()] == []


def test_the_readme_leads_to_every_guide() -> None:
    guides = [guide.name for guide in (ROOT / "notebooks").glob("*.ipynb")]
    assert [name for name in guides if f"(notebooks/{name})" not in README] == []


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len(README.splitlines()) <= 350
