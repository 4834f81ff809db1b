"""A saved notebook that is opened again: trusted or not, with our extension or without."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, WIDGET, answers

pytestmark = pytest.mark.browser

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
TOLD = answers("['Thinking **aloud**.', call('note', text='a <b>bold</b> claim')]", repr(TABLE))
TRUSTED = "window.jupyterapp.shell.currentWidget.content.widgets[2].model.trusted"


@pytest.fixture(scope="module")
def saved(servers: Any, chromium: Any) -> Any:
    """A notebook as JupyterLab saved it after a run, with the widget-free record in cell 2."""
    from .conftest import Visits

    visits = Visits(chromium, servers)
    try:
        notebook = visits("lab")
        notebook.server.write("saved.ipynb", [SETUP, TOLD, ASK])
        notebook.open("saved.ipynb")
        for index in range(3):
            notebook.run(index)
        notebook.shows(2, "note")
        return notebook.save()
    finally:
        visits.close()


def test_the_saved_notebook_holds_four_kinds_and_no_widget(saved: Any) -> None:
    (output,) = saved.cells[2].outputs
    assert set(output.data) == {RECORD, "text/html", "text/markdown", "text/plain"}
    assert WIDGET not in nbformat.writes(saved)
    assert "widgets" not in saved.metadata


@pytest.mark.parametrize("extension", [True, False])
@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_reopened_notebook_reads_as_it_did_trusted_or_not(visit: Any, saved: Any, app: str, extension: bool) -> None:
    notebook = visit(app, extension=extension)
    copy = nbformat.reads(nbformat.writes(saved), as_version=4)
    # Jupyter trusts what it has saved, by its content.
    copy.metadata["copied_for"] = f"{app} {extension}"
    nbformat.write(copy, notebook.server.work / "again.ipynb")
    notebook.open("again.ipynb")
    assert notebook.page.evaluate(TRUSTED) is False
    reads_as_it_did(notebook, extension)
    notebook.trust()
    notebook.reload()
    notebook.page.wait_for_function(TRUSTED)
    reads_as_it_did(notebook, extension)


def reads_as_it_did(notebook: Any, extension: bool) -> None:
    output = notebook.output(2)
    expect(output.locator("strong").filter(has_text="aloud")).to_be_visible()
    expect(output.get_by_role("table").filter(has_text="2")).to_be_visible()
    card = output.locator("details").filter(has_text="note").first
    expect(card).to_contain_text("done")
    card.locator("summary").first.click()
    expect(card).to_contain_text("a <b>bold</b> claim")
    expect(output.locator("b").filter(has_text="bold")).to_have_count(0)
    expect(output).not_to_contain_text("Error displaying widget")
    # A record of the past has no controls that act.
    for name in ("Stop", "Run", "Deny"):
        expect(output.get_by_role("button", name=name)).to_have_count(0)
    assert (output.locator(".am-view").count() > 0) == extension


def test_a_record_that_no_page_can_read_falls_back_to_words(visit: Any, saved: Any) -> None:
    damaged = nbformat.reads(nbformat.writes(saved), as_version=4)
    damaged.cells[2].outputs[0].data[RECORD] = {"version": 99, "items": "?"}
    notebook = visit("lab")
    nbformat.write(damaged, notebook.server.work / "damaged.ipynb")
    notebook.open("damaged.ipynb")
    notebook.shows(2, "aloud")
    notebook.shows(2, "note")
