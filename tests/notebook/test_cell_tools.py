"""The tools for cells, with a page that has a notebook, over the comm of a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent_magic.errors import ToolExecutionError
from agent_magic.notebook.cell_tools import edited

from .kernel_client import Kernel
from .panel_page import SETUP, PanelPage

TOOLS = ("read_cells", "insert_cell", "edit_cell", "run_cell")


# Editing -------------------------------------------------------------------------------------------------------------


def test_a_text_that_occurs_once_is_replaced() -> None:
    assert edited("a = 1\nb = 2\n", {"old": "b = 2", "new": "b = 3"}) == "a = 1\nb = 3\n"
    assert edited("a", {"source": ""}) == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"old": "x", "new": "y"}, "occurs 0 times in the cell"),
        ({"old": "a", "new": "y"}, "occurs 2 times in the cell"),
        ({"old": "a"}, "Give old and new, or the whole source"),
        ({}, "Give old and new, or the whole source"),
        ({"old": "a", "new": "b", "source": "c"}, "Give either old and new, or source"),
    ],
)
def test_what_does_not_fit_is_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolExecutionError, match=message):
        edited("a b a", arguments)


# With a page ---------------------------------------------------------------------------------------------------------


class Notebook:
    """The cells of a page, by id, changed as the Lab extension changes them."""

    def __init__(self) -> None:
        self.cells = {"c1": ("code", "x = 20"), "c2": ("markdown", "# Title"), "c3": ("code", "print('hi')\nx + 1")}
        self.outputs: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[str] = []

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        self.asked.append(method)
        if method == "read_cells":
            names = params.get("ids") or list(self.cells)
            if unknown := [name for name in names if name not in self.cells]:
                raise ValueError(f"The notebook has no cell with the id {unknown[0]}.")
            return {"cells": [self.read(name) for name in names]}
        if method == "insert_cell":
            name = f"new{len(self.cells)}"
            cells = list(self.cells.items())
            place = 0 if params["after"] is None else [each for each, _ in cells].index(params["after"]) + 1
            cells.insert(place, (name, (params["type"], params["source"])))
            self.cells = dict(cells)
            return {"id": name}
        if method == "edit_cell":
            kind, source = self.cells[params["id"]]
            if source != params["expected"]:
                raise ValueError("has been changed since it was read")
            self.cells[params["id"]] = (kind, params["source"])
            return {}
        assert method == "set_outputs"
        self.outputs[params["id"]] = params["outputs"]
        return {}

    def read(self, name: str) -> dict[str, Any]:
        kind, source = self.cells[name]
        return {"id": name, "type": kind, "source": source, "outputs_text": "", "execution_count": None}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        kernel.run(SETUP)
        kernel.run("agent.policy = am.Policy()")
        yield kernel


@pytest.fixture
def page(kernel: Kernel) -> PanelPage:
    kernel.run("%agent new\nagent.policy = am.Policy()\nx = 20")
    page = PanelPage(kernel).find()
    page.attach()
    for name in TOOLS:
        page.ask("set_tool", name=name, on=True)
    return page


@pytest.fixture
def notebook(page: PanelPage) -> Notebook:
    notebook = Notebook()
    page.on_ask = notebook.answer
    return notebook


def called(page: PanelPage, name: str, **arguments: Any) -> dict[str, Any]:
    """The item of a call of that tool in a run of the panel."""
    page.kernel.run(f"answers(call({name!r}, **{arguments!r}), 'done')")
    page.say("go")
    return page.items("tool")[0]


@pytest.mark.kernel
def test_the_tools_are_off_at_first_and_not_there_without_a_page() -> None:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        assert "read_cells" not in kernel.run("%agent tools").printed
        page = PanelPage(kernel).find()
        page.attach()
        listed = kernel.run("%agent tools").printed
        assert all(f"off {name}" in listed for name in TOOLS)
        page.ask("detach")
        assert "read_cells" not in kernel.run("%agent tools").printed


@pytest.mark.kernel
def test_cells_are_read_by_id_by_place_or_all(page: PanelPage, notebook: Notebook) -> None:
    assert called(page, "read_cells")["result"] == (
        "--- cell c1 (code)\nx = 20\n--- cell c2 (markdown)\n# Title\n--- cell c3 (code)\nprint('hi')\nx + 1"
    )
    assert called(page, "read_cells", ids=["c2"])["result"] == "--- cell c2 (markdown)\n# Title"
    assert called(page, "read_cells", start=2)["result"].startswith("--- cell c3")
    assert called(page, "read_cells", start=7)["result"] == "There are no such cells."
    failed = called(page, "read_cells", ids=["nope"])
    assert failed["state"] == "failed"
    assert "no cell with the id nope" in failed["result"]


@pytest.mark.kernel
def test_a_cell_is_put_after_another_at_the_top_or_at_the_end(page: PanelPage, notebook: Notebook) -> None:
    """43: a new cell landed somewhere else."""
    assert called(page, "insert_cell", source="y = 1", after="c1")["result"] == "Inserted the code cell new3."
    called(page, "insert_cell", source="top", after=None, type="markdown")
    called(page, "insert_cell", source="end")
    assert list(notebook.cells) == ["new4", "c1", "new3", "c2", "c3", "new5"]
    assert notebook.cells["new4"] == ("markdown", "top")


@pytest.mark.kernel
def test_a_cell_is_changed_where_the_text_occurs(page: PanelPage, notebook: Notebook) -> None:
    item = called(page, "edit_cell", id="c1", old="20", new="21")
    assert notebook.cells["c1"] == ("code", "x = 21")
    assert "-x = 20" in item["result"]
    assert "+x = 21" in item["result"]
    assert called(page, "edit_cell", id="c1", old="nope", new="")["state"] == "failed"
    assert called(page, "edit_cell", id="c1", source="z = 0")["state"] == "done"
    assert notebook.cells["c1"] == ("code", "z = 0")


@pytest.mark.kernel
def test_a_cell_runs_in_the_kernel_and_its_outputs_appear_below_it(page: PanelPage, notebook: Notebook) -> None:
    """41: the model did not see what the cell printed."""
    item = called(page, "run_cell", id="c3")
    assert item["state"] == "done"
    assert item["result"] == "hi\n21"
    assert notebook.outputs["c3"] == [
        {"output_type": "stream", "name": "stdout", "text": "hi\n"},
        {"output_type": "execute_result", "data": {"text/plain": "21"}, "metadata": {}, "execution_count": None},
    ]
    notebook.cells["c3"] = ("code", "print('before')\n1 / 0")
    failed = called(page, "run_cell", id="c3")
    assert failed["state"] == "failed"
    assert "ZeroDivisionError" in failed["result"]
    error = notebook.outputs["c3"][1]
    assert (error["output_type"], error["ename"]) == ("error", "ZeroDivisionError")
    assert called(page, "run_cell", id="c2")["result"] == "Cell c2 is markdown, which does not run."
    notebook.cells["c3"] = ("code", "await asyncio.sleep(0.01)\nprint('awaited')")
    assert called(page, "run_cell", id="c3")["result"] == "awaited"


@pytest.mark.kernel
def test_it_works_while_a_cell_of_the_agent_holds_the_shell(page: PanelPage, notebook: Notebook) -> None:
    """15: awaiting the page from a cell deadlocked."""
    page.kernel.run("answers(call('run_cell', id='c3'), 'done')")
    (cell,) = page.kernel.run_all("%%agent\ngo", on_message=page.take)
    assert cell.record["items"][1]["result"] == "hi\n21"
    assert len(notebook.outputs["c3"]) == 2
    assert not cell.printed


@pytest.mark.kernel
def test_what_is_approved_is_shown_and_is_what_runs(page: PanelPage, notebook: Notebook) -> None:
    """32: an approval showed only a title."""
    kernel = page.kernel
    kernel.run("agent.policy = am.Policy.for_kernel()\nanswers(call('run_cell', id='c3'), 'done')")
    page.send("go")
    page.until(lambda: page.runs and page.items("approval"))
    (question,) = page.items("approval")
    assert "print('hi')\nx + 1" in question["text"]
    where = {"run": page.run["run"], "approval": question["id"]}
    page.ask("shown", **where)
    notebook.cells["c3"] = ("code", "evil()")
    page.ask("answer", **where, decision="once", reason="", arguments=None, hash=question["hash"])
    page.until(lambda: page.run["state"] == "done")
    assert "has changed since the user was asked" in page.items("tool")[0]["result"]
    assert notebook.outputs == {}


@pytest.mark.kernel
def test_a_change_is_approved_as_a_difference(page: PanelPage, notebook: Notebook) -> None:
    page.kernel.run("agent.policy = am.Policy.for_kernel()")
    page.kernel.run("answers(call('edit_cell', id='c1', old='20', new='7'), 'done')")
    page.send("go")
    page.until(lambda: page.runs and page.items("approval"))
    (question,) = page.items("approval")
    assert "-x = 20\n+x = 7" in question["text"]
    where = {"run": page.run["run"], "approval": question["id"]}
    page.ask("shown", **where)
    page.ask("answer", **where, decision="deny", reason="leave it", arguments=None, hash=question["hash"])
    page.until(lambda: page.run["state"] == "done")
    assert page.items("tool")[0]["state"] == "denied"
    assert notebook.cells["c1"] == ("code", "x = 20")


@pytest.mark.kernel
def test_a_page_that_is_gone_is_a_clear_error(page: PanelPage, notebook: Notebook) -> None:
    """42: the agent edited the tab that the user had switched to."""
    kernel = page.kernel
    other = page.beside("other", "work/another.ipynb")
    kernel.run("@tool\nasync def wait():\n    await asyncio.sleep(0.5)")
    kernel.run("answers(call('wait'), call('read_cells'), 'done')")
    page.send("go")
    other.attach()
    other.ask("sessions", filter="")
    asked = []
    other.on_ask = lambda method, params: asked.append(method)
    page.ask("detach")
    page.until(lambda: page.runs and page.run["state"] == "done")
    assert "No page shows the notebook any more" in page.items("tool")[1]["result"]
    assert asked == []
    other.ask("detach")
