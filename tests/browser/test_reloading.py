"""What is there after the page was loaded again, or the kernel was started again, in the middle of a run."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, WIDGET, answers

pytestmark = pytest.mark.browser

ENDED = "This run did not end here"
TRUSTED = "window.jupyterapp.shell.currentWidget.content.widgets[2].model.trusted"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_page_that_is_loaded_again_goes_on_with_the_run(visit: Any, app: str) -> None:
    notebook = visit(app)
    notebook.server.write(
        "reload.ipynb",
        [
            SETUP,
            answers("['Before. ', silence('reloaded'), 'Behind.']", "['First. ', silence('away'), 'Last.']"),
            ASK,
            "print(agent.messages[-1].text)",
            ASK,
            "open('run-is-over', 'w').close()",
        ],
    )
    kernel = notebook.open("reload.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    notebook.shows(2, "Before.")
    notebook.save()
    assert notebook.reload() == kernel
    # What was streamed before is there, and what comes is added.
    notebook.shows(2, "Before.")
    notebook.let("reloaded")
    notebook.shows(2, "Behind.")
    expect(notebook.output(2)).not_to_contain_text("Error displaying widget")
    notebook.ended(2)
    notebook.run(3)
    assert "Before. Behind." in notebook.outputs(3)[0]["text"]
    # Nor is a run lost that ends while there is no page.
    notebook.start(4)
    notebook.shows(4, "First.")
    notebook.start(5)
    notebook.save()
    notebook.leave()
    notebook.let("away")
    notebook.until_made("run-is-over")
    assert notebook.come_back() == kernel
    notebook.shows(4, "Last.")
    notebook.ended(4)
    assert [output["data"][RECORD]["state"] for output in notebook.outputs(4)] == ["done"]


def test_a_question_is_asked_again_by_a_page_that_is_loaded_again(visit: Any) -> None:
    notebook = visit("lab")
    told = answers("call('act', code='1')", "'Finished.'")
    notebook.server.write("ask-again.ipynb", [SETUP, told, ASK, "print(ran)"])
    notebook.open("ask-again.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    expect(notebook.output(2).get_by_role("alertdialog")).to_be_visible()
    notebook.save()
    notebook.reload()
    notebook.output(2).get_by_role("alertdialog").get_by_role("button", name="Run", exact=True).click()
    # Behind the cell that asks, in the kernel's own queue.
    notebook.run(3)
    assert notebook.outputs(3)[0]["text"] == "[('1', 1)]\n"


def test_a_restart_ends_the_run_and_the_notebook_works_again(visit: Any) -> None:
    notebook = visit("lab")
    told = answers("['Before. ', silence('never')]")
    notebook.server.write("restart.ipynb", [SETUP, told, ASK, answers("'Here again.'"), "%%agent\nAgain"])
    notebook.open("restart.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    notebook.shows(2, "Before.")
    torn = notebook.save()
    notebook.restart()
    notebook.run(0)
    notebook.run(3)
    notebook.run(4)
    notebook.shows(4, "Here again.")
    assert notebook.outputs(4)[0]["data"][RECORD]["state"] == "done"
    # What had come is not lost with the kernel.
    assert "Before." in notebook.output(2).inner_text()
    # And says that it has ended.
    notebook.shows(2, ENDED)
    expect(notebook.output(2).get_by_role("button", name="Stop")).to_have_count(0)
    (saved,) = notebook.save().cells[2].outputs
    assert [item["text"] for item in saved.data[RECORD]["items"]] == ["Please", "Before. "]
    assert saved.data["text/plain"] == "Before. "
    assert WIDGET not in saved.data
    # So does a notebook that was saved before that, and is opened when its widget is no more.
    assert WIDGET in torn.cells[2].outputs[0].data
    nbformat.write(torn, notebook.server.work / "torn.ipynb")
    notebook.open("torn.ipynb")
    assert notebook.page.evaluate(TRUSTED)
    notebook.cell(2).scroll_into_view_if_needed()
    notebook.shows(2, ENDED)
    expect(notebook.output(2)).not_to_contain_text("Error displaying widget")
    assert set(notebook.outputs(2)[0]["data"]) == {RECORD, "text/html", "text/plain"}
