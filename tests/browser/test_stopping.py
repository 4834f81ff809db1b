"""Stop: by the button of the run and by the notebook's own, while a model answers, a tool works, a question waits."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, answers

pytestmark = pytest.mark.browser


def running(visit: Any, app: str, *sources: str) -> Any:
    notebook = visit(app)
    notebook.server.write("stop.ipynb", [SETUP, answers(*sources), ASK, "print('not aborted')", "print('usable')"])
    notebook.open("stop.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    return notebook


def was_stopped(notebook: Any) -> dict[str, Any]:
    """Check the end of a stopped run; returns its record."""
    notebook.shows(2, "stopped")
    notebook.ended(2)
    record: dict[str, Any] = notebook.outputs(2)[0]["data"][RECORD]
    assert record["state"] == "aborted"
    assert all(item["state"] not in ("running", "pending") for item in record["items"])
    notebook.run(4)
    assert notebook.outputs(4)[0]["text"] == "usable\n"
    return record


@pytest.mark.parametrize(("app", "by"), [("lab", "button"), ("lab", "toolbar"), ("notebook", "button")])
def test_stop_ends_an_answer_and_the_cells_that_wait(visit: Any, app: str, by: str) -> None:
    notebook = running(visit, app, "['Begun. ', silence('never'), 'Ended.']")
    notebook.shows(2, "Begun.")
    notebook.start(3)
    if by == "button":
        notebook.output(2).get_by_role("button", name="Stop").click()
    else:
        notebook.interrupt()
    record = was_stopped(notebook)
    # The button is gone, and the keys of the notebook are not gone with it.
    notebook.page.wait_for_function("() => document.activeElement.closest('.jp-Notebook') !== null")
    assert "Begun." in record["items"][-1]["text"]
    assert "Ended." not in str(record)
    assert notebook.outputs(3) == []


@pytest.mark.parametrize("by", ["button", "toolbar"])
def test_stop_ends_a_tool_that_blocks_the_kernel(visit: Any, by: str) -> None:
    notebook = running(visit, "lab", "call('block', name='never')", "'never'")
    expect(notebook.output(2).locator("details").filter(has_text="block")).to_contain_text("running")
    if by == "button":
        notebook.output(2).get_by_role("button", name="Stop").click()
    else:
        notebook.interrupt()
    record = was_stopped(notebook)
    (call,) = [item for item in record["items"] if item["kind"] == "tool"]
    assert call["state"] == "aborted"


def test_stop_answers_a_question(visit: Any) -> None:
    notebook = running(visit, "lab", "call('act', code='1')", "'never'")
    expect(notebook.output(2).get_by_role("alertdialog")).to_be_visible()
    notebook.interrupt()
    was_stopped(notebook)
    expect(notebook.output(2).get_by_role("alertdialog")).to_have_count(0)
