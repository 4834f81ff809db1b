"""Being asked before a tool runs: buttons in the cell, by mouse and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from .cells import ASK, RECORD, SETUP, answers

pytestmark = pytest.mark.browser

CALL = "call('act', code='print(1)', times=2)"


def asked(visit: Any, app: str, *sources: str, extension: bool = True) -> tuple[Any, Locator]:
    """A notebook whose run asks a question, and the question."""
    notebook = visit(app, extension=extension)
    notebook.server.write("ask.ipynb", [SETUP, answers(*sources), ASK, "print(ran, agent.messages[-2])"])
    notebook.open("ask.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    question = notebook.output(2).get_by_role("alertdialog")
    expect(question).to_be_visible()
    return notebook, question


def printed(notebook: Any) -> str:
    notebook.ended(2)
    notebook.run(3)
    return str(notebook.outputs(3)[0]["text"])


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_question_shows_all_arguments_and_run_runs_them_once(visit: Any, app: str) -> None:
    far = " " * 400
    hidden = f"call('act', code='print(1) #{far}\\u202e\\u200b', times=2)"
    notebook, question = asked(visit, app, hidden, "'Finished.'")
    for shown in ("act", "print(1)", "times", "202e", "200b"):
        expect(question).to_contain_text(shown)
    assert "\u202e" not in question.inner_text()
    # Nothing stands beyond the edge, however far to the right it was written.
    assert question.evaluate(
        "each => [...each.querySelectorAll('pre')].every(pre => pre.scrollWidth <= pre.clientWidth)"
    )
    question.get_by_role("button", name="Run", exact=True).click()
    notebook.shows(2, "Finished.")
    assert f"[('print(1) #{far}\\u202e\\u200b', 2)]" in printed(notebook)
    expect(notebook.output(2).get_by_role("alertdialog")).to_have_count(0)


def test_a_denial_takes_a_word_to_the_model(visit: Any) -> None:
    notebook, question = asked(visit, "lab", CALL, "'I see.'")
    question.get_by_role("button", name="Deny").click()
    question.get_by_role("textbox").fill("use the test table")
    question.get_by_role("button", name="Deny", exact=True).click()
    notebook.shows(2, "I see.")
    said = printed(notebook)
    assert said.startswith("[] ")
    assert "use the test table" in said
    assert "denied" in notebook.output(2).inner_text()


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_edited_arguments_are_what_runs_once_they_fit(visit: Any, app: str) -> None:
    notebook, question = asked(visit, app, CALL, "'Finished.'")
    question.get_by_role("button", name="Edit").click()
    question.get_by_label("code").fill("print(2)")
    question.get_by_label("times").fill('"many"')
    question.get_by_role("button", name="Run with these").click()
    expect(question.get_by_role("alert").filter(has_text="integer")).to_be_visible()
    question.get_by_label("times").fill("7")
    question.get_by_role("button", name="Run with these").click()
    notebook.shows(2, "Finished.")
    assert "[('print(2)', 7)]" in printed(notebook)


def test_always_is_not_asked_again_in_this_session(visit: Any) -> None:
    second = "call('act', code='print(2)')"
    notebook, question = asked(visit, "lab", CALL, second, "'Finished.'")
    question.get_by_role("button", name="Always in this session").click()
    notebook.shows(2, "Finished.")
    assert "[('print(1)', 2), ('print(2)', 1)]" in printed(notebook)


def test_a_question_is_answered_by_keys_alone_and_gives_the_focus_back(visit: Any) -> None:
    notebook, question = asked(visit, "lab", CALL, "'Finished.'")
    page = notebook.page
    expect(question).to_have_attribute("aria-labelledby", question.get_attribute("aria-labelledby") or "")
    question.get_by_role("button", name="Run", exact=True).focus()
    # Two of these would delete the cell if they reached the notebook.
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("Tab")
    expect(question.get_by_role("button", name="Always in this session")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    notebook.shows(2, "Finished.")
    assert "[('print(1)', 2)]" in printed(notebook)
    assert len(notebook.save().cells) == 4


@pytest.mark.parametrize("extension", [True, False])
def test_a_question_that_no_widget_shows_is_asked_by_a_line_of_input(visit: Any, extension: bool) -> None:
    notebook = visit("lab", extension=extension)
    off = "%config AgentMagic.widgets = False"
    notebook.server.write("line.ipynb", [f"{SETUP}\n{off}", answers(CALL, "'Finished.'"), ASK, "print(ran)"])
    notebook.open("line.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    line = notebook.cell(2).locator("input.jp-Stdin-input")
    line.fill("y")
    line.press("Enter")
    notebook.shows(2, "Finished.")
    notebook.ended(2)
    notebook.run(3)
    assert notebook.outputs(3)[0]["text"] == "[('print(1)', 2)]\n"
    assert notebook.outputs(2)[0]["data"][RECORD]["state"] == "done"
