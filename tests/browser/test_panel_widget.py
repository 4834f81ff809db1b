"""`am.panel()`: the same chat in the output of a cell, where JupyterLab has no extension of ours, and in Notebook 7."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import SETUP, WIDGET, answers
from .chat_page import ChatPage, chat_in_cell

pytestmark = pytest.mark.browser


def opened(visit: Any, app: str, *sources: str, extension: bool, more: tuple[str, ...] = ()) -> tuple[Any, ChatPage]:
    notebook = visit(app, extension=extension)
    notebook.server.write("widget.ipynb", [SETUP, answers(*sources), "am.panel()", *more])
    notebook.open("widget.ipynb")
    for index in range(3):
        notebook.run(index)
    chat = chat_in_cell(notebook, 2)
    chat.is_ready()
    return notebook, chat


@pytest.mark.parametrize(("app", "extension"), [("lab", False), ("notebook", True)])
def test_the_chat_in_a_cell_answers_asks_stops_and_is_there_again(visit: Any, app: str, extension: bool) -> None:
    name = f"reloaded-{app}"
    told = (
        "'Hello.'",
        "call('act', code='1')",
        "['Begun. ', silence('never'), 'Ended.']",
        f"['Started. ', silence('{name}'), 'Gone on. ']",
        "'Usable.'",
    )
    notebook, chat = opened(visit, app, *told, extension=extension, more=("print(ran)",))
    chat.say("First")
    chat.shows("Hello.")
    chat.is_idle()
    chat.say("Second")
    chat.question.get_by_role("button", name="Run", exact=True).click()
    chat.shows("Begun.")
    chat.stop.click()
    chat.shows("stopped")
    chat.is_idle()
    chat.say("Third")
    chat.shows("Started.")
    saved = notebook.save()
    assert WIDGET in saved.cells[2].outputs[0].data
    notebook.reload()
    chat = chat_in_cell(notebook, 2)
    chat.shows("Started.")
    notebook.let(name)
    chat.shows("Gone on.")
    chat.is_idle()
    chat.say("Fourth")
    chat.shows("Usable.")
    expect(chat.log).not_to_contain_text("Ended.")
    chat.is_idle()
    notebook.run(3)
    assert notebook.outputs(3)[0]["text"] == "[('1', 1)]\n"
