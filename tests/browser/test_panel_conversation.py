"""What the panel does with the conversation as a whole, and with which model and tools it goes on."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .chat_page import opened

pytestmark = pytest.mark.browser

SAID = "print([message.text for message in agent.messages])"


def test_a_message_is_tried_again_edited_taken_back_and_its_conversation_left_and_resumed(visit: Any) -> None:
    told = ("call('note', text='x')", "'One.'", "'Two.'", "'Three.'", "'Four.'", "'Five.'")
    notebook, chat = opened(visit, "lab", *told, more=(SAID,))
    chat.say("Count the lions")
    chat.shows("One.")
    expect(chat.log.locator("details").filter(has_text="note")).to_contain_text("done")
    chat.button("Try again").click()
    chat.shows("Two.")
    expect(chat.log).not_to_contain_text("One.")
    chat.is_idle()
    chat.say("Second")
    chat.shows("Three.")
    chat.is_idle()
    # Editing goes back to where the message was said.
    chat.turns.first.hover()
    chat.turns.first.get_by_role("button", name="Edit and send again").click()
    editor = chat.log.get_by_role("textbox", name="Edit the message")
    expect(editor).to_have_value("Count the lions")
    editor.fill("Count the tigers")
    editor.press("Enter")
    chat.shows("Four.")
    expect(chat.turns).to_have_count(1)
    chat.is_idle()
    notebook.run(2)
    assert notebook.outputs(2)[0]["text"] == "['Count the tigers', 'Four.']\n"
    chat.button("New conversation").click()
    expect(chat.turns).to_have_count(0)
    chat.say("Elsewhere")
    chat.shows("Five.")
    chat.button("Undo").click()
    expect(chat.turns).to_have_count(0)
    chat.button("Conversations").click()
    chat.popup.get_by_role("searchbox").fill("LIONS")
    chat.popup.locator(".am-chat-session").filter(has_text="Count the lions").click()
    chat.shows("Four.")
    notebook.run(2)
    assert notebook.outputs(2)[0]["text"] == "['Count the tigers', 'Four.']\n"


def test_model_and_tools_are_chosen_in_the_panel(visit: Any) -> None:
    notebook, chat = opened(visit, "lab", "'One.'", more=("%agent tools", "print(agent.model.id)"))
    chat.button("Tools").click()
    switch = chat.popup.get_by_role("switch", name="note")
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    chat.popup.get_by_role("searchbox").fill("shell")
    chat.popup.get_by_role("switch", name="shell").click()
    expect(chat.button("Tools 5 of")).to_be_visible()
    notebook.page.keyboard.press("Escape")
    chat.button("Model: ").click()
    search = chat.popup.get_by_role("combobox", name="Search models")
    search.fill("gpt-5-mini")
    expect(chat.popup.get_by_role("option").first).to_contain_text("gpt-5-mini")
    search.fill("demo")
    expect(chat.popup.get_by_role("option")).to_have_count(1)
    search.press("Enter")
    expect(chat.button("Model: demo")).to_be_visible()
    notebook.run(2)
    told = [line.split()[:2] for line in notebook.outputs(2)[0]["text"].splitlines()]
    assert ["off", "note"] in told
    assert ["on", "shell"] in told
    notebook.run(3)
    assert notebook.outputs(3)[0]["text"] == "demo\n"
