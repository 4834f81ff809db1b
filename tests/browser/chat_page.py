"""The chat with the agent, in the side panel or in the output of a cell, and what its user does there."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, expect

from .cells import SETUP, answers
from .notebook_page import ANSWERS, READY, NotebookPage


class ChatPage:
    """One chat: `place` is the element that it is drawn into."""

    def __init__(self, notebook: NotebookPage, place: Locator) -> None:
        self.notebook = notebook
        self.page = notebook.page
        self.root = place.locator(".am-chat")

    @property
    def field(self) -> Locator:
        """Where the user writes."""
        return self.root.get_by_role("textbox", name="Message to the agent")

    @property
    def log(self) -> Locator:
        return self.root.get_by_role("log")

    @property
    def turns(self) -> Locator:
        """The runs that the log shows, each with what the user said."""
        return self.log.locator("article")

    @property
    def question(self) -> Locator:
        """A call that waits for the user."""
        return self.root.get_by_role("alertdialog")

    @property
    def stop(self) -> Locator:
        return self.root.get_by_role("button", name="Stop", exact=True)

    @property
    def popup(self) -> Locator:
        """What a button of the chat has opened."""
        return self.root.locator(".am-chat-popup:visible")

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name)

    def say(self, text: str) -> None:
        """Write a message and send it by Enter."""
        self.field.fill(text)
        self.field.press("Enter")

    def shows(self, text: str, *, within: float = 20) -> None:
        """Wait until the log has `text`, for so many seconds."""
        expect(self.log).to_contain_text(text, timeout=within * 1000)

    def is_ready(self) -> None:
        """Wait until the chat has reached the agent."""
        expect(self.button("Attach")).to_be_visible(timeout=20_000)

    def is_idle(self) -> None:
        """Wait until no run goes on."""
        expect(self.stop).to_be_hidden(timeout=20_000)


def panel(notebook: NotebookPage) -> ChatPage:
    """Open the side panel."""
    notebook.command("agent-magic:open")
    return ChatPage(notebook, notebook.page.locator("#agent-magic-panel"))


def opened(visit: Any, app: str, *sources: str, more: tuple[str, ...] = ()) -> tuple[NotebookPage, ChatPage]:
    """A notebook whose agent has these answers, followed by the cells `more`, with the panel open."""
    notebook: NotebookPage = visit(app)
    notebook.server.write("panel.ipynb", [SETUP, answers(*sources), *more])
    notebook.open("panel.ipynb")
    notebook.run(0)
    notebook.run(1)
    chat = panel(notebook)
    chat.is_ready()
    return notebook, chat


def chat_in_cell(notebook: NotebookPage, index: int) -> ChatPage:
    """The chat that `am.panel()` shows under a cell."""
    return ChatPage(notebook, notebook.output(index))


def switch(notebook: NotebookPage, name: str) -> None:
    """Go to another notebook of the same page of JupyterLab; from then on `notebook` is that one."""
    notebook.command("docmanager:open", path=name)
    notebook.name = name
    notebook.result(READY, name)
    notebook.result(ANSWERS)
