"""The side panel: the agent of the notebook's kernel, beside the notebook."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, SETUP, answers
from .chat_page import opened, panel, switch

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_one_click_loads_the_agent_and_it_answers(visit: Any, app: str) -> None:
    notebook = visit(app)
    notebook.server.write("empty.ipynb", [""])
    notebook.open("empty.ipynb")
    chat = panel(notebook)
    expect(chat.root).to_contain_text("This kernel has no agent yet.")
    chat.button("Load agent_magic").click()
    chat.is_ready()
    expect(chat.field).to_be_visible()
    chat.say("What can you do?")
    chat.shows("What can you do?")
    chat.shows("demo")
    chat.is_idle()
    expect(chat.button("Model: demo")).to_be_visible()
    # Loading ran no cell.
    assert notebook.outputs(0) == []
    assert notebook.save().cells[0].execution_count is None


def test_panel_and_cell_are_one_conversation(visit: Any) -> None:
    printed = "print([message.text for message in agent.messages])"
    notebook, chat = opened(visit, "lab", "'By the panel.'", "'By the cell.'", "'Both.'", more=(ASK, printed))
    chat.say("First")
    chat.shows("By the panel.")
    chat.is_idle()
    notebook.run(2)
    # What a cell says is told to the panel.
    expect(chat.turns).to_have_count(2)
    chat.shows("By the cell.")
    chat.say("Third")
    chat.shows("Both.")
    chat.is_idle()
    notebook.run(3)
    said = ["First", "By the panel.", "Please", "By the cell.", "Third", "Both."]
    assert notebook.outputs(3)[0]["text"] == f"{said}\n"
    # Runs of the panel leave no output in the notebook.
    assert notebook.outputs(1) == []


def test_what_is_sent_while_a_run_goes_on_steers_it_or_is_queued(visit: Any) -> None:
    printed = "print([message.text for message in agent.messages if message.role == 'user'])"
    call = "am.ToolCall('n', 'note', {'text': 'x'})"
    told = (f"['Begun. ', silence('sent'), {call}]", "'Steered.'", "'Then this.'")
    notebook, chat = opened(visit, "lab", *told, more=(printed,))
    chat.say("Begin")
    chat.shows("Begun.")
    chat.field.fill("afterwards")
    chat.button("Queue").click()
    expect(chat.log).to_contain_text("Queued")
    chat.say("at once")
    expect(chat.log.get_by_text("at once")).to_be_visible()
    expect(chat.field).to_have_value("")
    notebook.let("sent")
    chat.shows("Steered.")
    chat.shows("Then this.")
    chat.is_idle()
    notebook.run(2)
    assert notebook.outputs(2)[0]["text"] == "['Begin', 'at once', 'afterwards']\n"
    text = chat.log.inner_text()
    assert text.index("at once") < text.index("Steered.") < text.index("afterwards") < text.index("Then this.")
    assert text.count("at once") == text.count("afterwards") == 1
    assert "Queued" not in text


@pytest.mark.parametrize("what", ["answer", "tool"])
def test_stop_ends_a_run_of_the_panel_by_its_button_and_by_the_notebooks_own(visit: Any, what: str) -> None:
    if what == "answer":
        told = "['Begun. ', silence('never'), 'Ended.']"
    else:
        told = "am.ToolCall('b', 'block', {'name': 'never'})"
    notebook, chat = opened(visit, "lab", told, told, "'Usable.'")
    for number, stop in enumerate((lambda: chat.stop.click(), notebook.interrupt), 1):
        chat.say("Begin")
        expect(chat.turns).to_have_count(number)
        expect(chat.turns.last).to_contain_text("Begun." if what == "answer" else "running")
        if what == "answer" and number == 1:
            chat.say("More of it")
            expect(chat.log).to_contain_text("Told to the agent at its next step")
        stop()
        expect(chat.turns.last).to_contain_text("stopped")
        chat.is_idle()
        if what == "answer" and number == 1:
            # What it was not told comes back to where it was written.
            expect(chat.field).to_have_value("More of it")
            expect(chat.log).not_to_contain_text("More of it")
    assert "Ended." not in chat.log.inner_text()
    chat.say("Again")
    chat.shows("Usable.")


def test_a_question_of_a_cell_can_be_answered_in_the_panel_and_closes_in_the_cell(visit: Any) -> None:
    notebook, chat = opened(visit, "lab", "call('act', code='1')", "'Finished.'", more=(ASK, "print(ran)"))
    notebook.start(2)
    in_cell = notebook.output(2).get_by_role("alertdialog")
    expect(in_cell).to_be_visible()
    chat.question.get_by_role("button", name="Edit").click()
    chat.question.get_by_label("code").fill("2 + 2")
    chat.question.get_by_role("button", name="Run with these").click()
    expect(in_cell).to_have_count(0)
    expect(chat.question).to_have_count(0)
    notebook.shows(2, "Finished.")
    chat.shows("Finished.")
    notebook.ended(2)
    notebook.run(3)
    assert notebook.outputs(3)[0]["text"] == "[('2 + 2', 1)]\n"


def test_a_question_of_the_panel_is_denied_with_a_word_or_allowed_for_the_session(visit: Any) -> None:
    calls = [f"am.ToolCall('{n}', 'act', {{'code': '{n}'}})" for n in range(3)]
    later = f"['Begun. ', silence('hidden'), {calls[1]}]"
    notebook, chat = opened(visit, "lab", calls[0], "'I see.'", later, calls[2], "'Finished.'", more=("print(ran)",))
    chat.say("Begin")
    chat.question.get_by_role("button", name="Deny").click()
    chat.question.get_by_role("textbox").fill("use the test table")
    chat.question.get_by_role("button", name="Deny", exact=True).click()
    chat.shows("I see.")
    chat.shows("use the test table")
    chat.is_idle()
    chat.say("Again")
    chat.shows("Begun.")
    # A panel that is closed is not told of the question, and the user is all the same.
    notebook.command("agent-magic:toggle")
    expect(chat.root).to_be_hidden()
    notebook.let("hidden")
    told = notebook.page.get_by_role("alert").filter(has_text="The agent of panel.ipynb waits for your answer.")
    told.get_by_role("button", name="Show").click()
    chat.question.get_by_role("button", name="Always in this session").click()
    expect(told).to_have_count(0)
    chat.shows("Finished.")
    chat.is_idle()
    notebook.run(2)
    assert notebook.outputs(2)[0]["text"] == "[('1', 1), ('2', 1)]\n"


def test_a_page_that_is_loaded_again_shows_the_run_that_goes_on_and_asks_again(visit: Any) -> None:
    told = ("['Begun. ', silence('reloaded'), 'Gone on. ', am.ToolCall('a', 'act', {'code': '1'})]", "'Finished.'")
    notebook, chat = opened(visit, "lab", *told)
    chat.say("Begin")
    chat.shows("Begun.")
    notebook.save()
    notebook.reload()
    chat = panel(notebook)
    chat.shows("Begun.")
    notebook.let("reloaded")
    chat.shows("Gone on.")
    expect(chat.question).to_be_visible()
    notebook.save()
    notebook.reload()
    chat = panel(notebook)
    chat.question.get_by_role("button", name="Run", exact=True).click()
    chat.shows("Finished.")
    chat.is_idle()
    expect(chat.turns).to_have_count(1)


def test_after_a_restart_the_panel_offers_to_load_the_agent_and_the_conversation_can_be_resumed(visit: Any) -> None:
    notebook, chat = opened(visit, "lab", "['Begun. ', silence('never')]")
    chat.say("Count the tigers")
    chat.shows("Begun.")
    notebook.restart()
    chat.button("Load agent_magic").click()
    chat.is_ready()
    expect(chat.turns).to_have_count(0)
    expect(chat.stop).to_be_hidden()
    chat.button("Conversations").click()
    chat.popup.get_by_role("button", name="Count the tigers").first.click()
    chat.shows("Count the tigers")


def test_the_panel_follows_the_active_notebook_and_keeps_what_was_written(visit: Any) -> None:
    notebook, chat = opened(visit, "lab", "['Left begun. ', silence('switched'), 'Left ended.']")
    notebook.server.write("other.ipynb", [SETUP, answers("'Right.'")])
    chat.say("On the left")
    chat.shows("Left begun.")
    chat.field.fill("half a thought")
    switch(notebook, "other.ipynb")
    expect(chat.root).to_contain_text("other.ipynb")
    notebook.run(0)
    notebook.run(1)
    chat.is_ready()
    expect(chat.field).to_have_value("")
    chat.say("On the right")
    chat.shows("Right.")
    expect(chat.log).not_to_contain_text("Left")
    notebook.let("switched")
    switch(notebook, "panel.ipynb")
    expect(chat.field).to_have_value("half a thought")
    chat.shows("Left ended.")
    expect(chat.log).not_to_contain_text("Right.")
