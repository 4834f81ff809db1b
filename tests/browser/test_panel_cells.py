"""What passes between the panel and the cells of the notebook, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import RECORD
from .chat_page import opened, switch

pytestmark = pytest.mark.browser

# The smallest PNG: one dark pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PASTE = """(field, data) => {
  const bytes = Uint8Array.from(atob(data), sign => sign.charCodeAt(0));
  const clipboard = new DataTransfer();
  clipboard.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
  field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: clipboard, bubbles: true, cancelable: true }));
}"""
SOURCES = "() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.sharedModel.getSource())"


def test_cell_selection_variable_and_pasted_image_go_with_a_message(visit: Any) -> None:
    seen = "print([type(part).__name__ for part in agent.messages[0].content], agent.messages[0].text)"
    notebook, chat = opened(visit, "lab", "'Seen.'", more=("tigers = [1, 2, 3]\nprint('so many')", seen))
    notebook.run(2)
    notebook.cell(2).locator(".cm-line").first.dblclick()
    for name in ("Selected text", "Cell"):
        chat.button("Attach").click()
        chat.popup.get_by_role("menuitem", name=name).click()
    chat.field.evaluate(PASTE, PIXEL)
    chips = chat.root.get_by_role("list", name="Attached").get_by_role("listitem")
    expect(chips).to_have_count(3)
    chat.field.fill("Look at @tig")
    expect(chat.root.get_by_role("option", name="tigers")).to_be_visible()
    chat.field.press("Enter")
    expect(chat.field).to_have_value("Look at @tigers ")
    chat.field.press("Enter")
    chat.shows("Seen.")
    expect(chips).to_have_count(0)
    notebook.run(3)
    said = notebook.outputs(3)[0]["text"]
    assert "ImageContent" in said
    assert "Look at @tigers" in said
    # The cell's source and output, and the variable's summary.
    assert "tigers = [1, 2, 3]" in said
    assert "so many" in said
    assert "list" in said


def test_code_of_an_answer_becomes_a_cell_or_changes_one_and_a_run_becomes_a_record(visit: Any) -> None:
    told = "'Try this:\\n\\n```python\\ntotal = 6 * 7\\nprint(total)\\n```\\n'"
    notebook, chat = opened(visit, "lab", told, more=("total = 1\nprint(total)",))
    notebook.run(2)
    chat.say("Begin")
    code = chat.log.locator(".am-code")
    code.hover()
    code.get_by_role("button", name="Insert").click()
    expect(notebook.cell(3)).to_be_visible()
    assert notebook.page.evaluate(SOURCES)[3] == "total = 6 * 7\nprint(total)"
    notebook.run(3)
    notebook.shows(3, "42")
    notebook.cell(2).locator(".jp-InputPrompt").click()
    code.get_by_role("button", name="Apply").click()
    dialog = notebook.page.locator(".jp-Dialog")
    expect(dialog.locator("del")).to_have_text(["−total = 1"])
    expect(dialog.locator("ins")).to_have_text(["+total = 6 * 7"])
    dialog.get_by_role("button", name="Reject").click()
    assert notebook.page.evaluate(SOURCES)[2] == "total = 1\nprint(total)"
    code.get_by_role("button", name="Apply").click()
    dialog.get_by_role("button", name="Accept").click()
    expect(dialog).to_have_count(0)
    assert notebook.page.evaluate(SOURCES)[2] == "total = 6 * 7\nprint(total)"
    chat.button("Insert as a cell").click()
    notebook.shows(3, "Try this:")
    assert notebook.page.evaluate(SOURCES)[3] == "%%agent\nBegin"
    (output,) = notebook.save().cells[3].outputs
    assert output.data[RECORD]["state"] == "done"
    assert {"text/html", "text/markdown", "text/plain"} < set(output.data)


def test_the_agent_reads_inserts_edits_and_runs_cells_of_the_notebook_where_its_run_began(visit: Any) -> None:
    def call(name: str, **arguments: Any) -> str:
        return f"am.ToolCall('{name}', '{name}', {arguments})"

    edit = call("edit_cell", id="cell-2", old="print(1)", new="print(2)")
    told = (
        call("read_cells", ids=["cell-2"]),
        call("insert_cell", source="tigers = 1", after="cell-2"),
        f"['Switch now. ', silence('on-another-tab'), {edit}]",
        call("run_cell", id="cell-2"),
        "'Finished.'",
    )
    seen = "print([m.text for m in agent.messages if m.role == 'toolResult'])"
    on = "\n".join(f"%agent tools on {name}" for name in ("read_cells", "insert_cell", "edit_cell", "run_cell"))
    notebook, chat = opened(visit, "lab", *told, more=("print(1)\n1 / 0", seen, on))
    notebook.server.write("other.ipynb", ["'untouched'"])
    notebook.run(4)
    chat.say("Begin")
    chat.question.get_by_role("button", name="Always in this session").click()
    chat.shows("Switch now.")
    assert notebook.page.evaluate(SOURCES)[3] == "tigers = 1"
    switch(notebook, "other.ipynb")
    notebook.let("on-another-tab")
    switch(notebook, "panel.ipynb")
    # The question shows what would change.
    expect(chat.question).to_contain_text("-print(1)")
    expect(chat.question).to_contain_text("+print(2)")
    chat.question.get_by_role("button", name="Run", exact=True).click()
    expect(chat.question).to_contain_text("run_cell")
    chat.question.get_by_role("button", name="Run", exact=True).click()
    chat.shows("Finished.")
    assert notebook.page.evaluate(SOURCES)[2:4] == ["print(2)\n1 / 0", "tigers = 1"]
    notebook.shows(2, "ZeroDivisionError")
    notebook.run(4)
    said = notebook.outputs(4)[0]["text"]
    assert "print(1)" in said
    assert "ZeroDivisionError" in said
    switch(notebook, "other.ipynb")
    assert notebook.page.evaluate(SOURCES) == ["'untouched'"]


def test_a_cell_that_failed_offers_to_ask_the_agent(visit: Any) -> None:
    told = "'Divide by one:\\n\\n```python\\n1 / 1\\n```'"
    notebook, chat = opened(visit, "lab", told, more=("1 / 0", "print(agent.messages[0].text)"))
    notebook.run(2)
    notebook.cell(2).get_by_role("button", name="Ask the agent").click()
    chat.shows("Divide by one:")
    chat.is_idle()
    chat.log.get_by_role("button", name="Apply").click()
    notebook.page.locator(".jp-Dialog").get_by_role("button", name="Accept").click()
    notebook.run(2)
    notebook.shows(2, "1.0")
    expect(notebook.cell(2).get_by_role("button", name="Ask the agent")).to_have_count(0)
    notebook.run(3)
    assert "ZeroDivisionError" in notebook.outputs(3)[0]["text"]
