"""A notebook that is open in a browser, and what its user does there."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from .jupyter_server import JupyterServer

# The page is ready when its notebook has a kernel; what is in the DOM does not tell.
READY = """async path => {
  const app = window.jupyterapp;
  await app.started;
  for (;;) {
    const widget = app.shell.currentWidget;
    const kernel = widget?.context?.path === path && widget.context.isReady && widget.sessionContext?.session?.kernel;
    if (kernel) {
      return kernel.id;
    }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}"""
# A kernel that runs a cell answers this at the end of it.
ANSWERS = "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.info; }"
# Playwright waits for ever for what a script of ours waits for.
LIMITED = """([argument, wait]) => Promise.race([
  (SCRIPT)(argument),
  new Promise((_, reject) => setTimeout(() => reject(new Error('The page has not done this in time.')), wait))
])"""
LIMIT = 60_000
RUN = """async ([index, wait]) => {
  const app = window.jupyterapp;
  const notebook = app.shell.currentWidget.content;
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  const ran = app.commands.execute('notebook:run-cell');
  if (wait) await ran;
}"""
NOTEBOOK = "window.jupyterapp.shell.currentWidget"


class NotebookPage:
    """One page of a browser with one notebook of a server in it. Times of waiting are those of `page`."""

    def __init__(self, page: Page, server: JupyterServer) -> None:
        self.page = page
        self.server = server
        self.name = ""

    def open(self, name: str) -> str:
        """Open a notebook that the server has; returns the id of its kernel."""
        self.name = name
        # Lab would open the tabs of the test before, which it keeps on the server.
        path = f"lab/tree/{quote(name)}?reset&" if self.server.app == "lab" else f"notebooks/{quote(name)}?"
        self.page.goto(f"{self.server.url}/{path}token={self.server.token}")
        kernel = self._ready()
        self.result(ANSWERS)
        return kernel

    def reload(self) -> str:
        """Load the page again, perhaps while a cell runs; returns the id of its kernel."""
        self.page.reload()
        return self._ready()

    def leave(self) -> None:
        """Go to another page, so that nobody shows the notebook."""
        self.page.goto("about:blank")

    def come_back(self) -> str:
        """Load the page that was left; returns the id of the kernel."""
        self.page.go_back()
        return self._ready()

    def _ready(self) -> str:
        self.page.wait_for_function("() => !!window.jupyterapp")
        return str(self.result(READY, self.name))

    def result(self, script: str, argument: Any = None) -> Any:
        """What a function of the page comes to, which may take a while but not for ever."""
        return self.page.evaluate(LIMITED.replace("SCRIPT", script), [argument, LIMIT])

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of the page's commands, as its menu does, and wait for it."""
        self.result(
            "([name, rest]) => window.jupyterapp.commands.execute(name, rest).then(() => null)", [name, arguments]
        )

    def run(self, index: int) -> None:
        """Run a cell and wait until it has ended, well or not."""
        self.result(RUN, [index, True])

    def prepare(self, count: int) -> None:
        """Run the first cells, none of which may fail."""
        for index in range(count):
            self.run(index)
            errors = [output["evalue"] for output in self.outputs(index) if output["output_type"] == "error"]
            assert errors == [], f"cell {index}"

    def start(self, index: int) -> None:
        """Run a cell without waiting."""
        self.page.evaluate(RUN, [index, False])

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def output(self, index: int) -> Locator:
        """What stands under a cell."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    def shows(self, index: int, text: str) -> None:
        """Wait until `text` is seen under a cell."""
        expect(self.output(index)).to_contain_text(text)

    def let(self, name: str) -> None:
        """Let a scripted answer or a tool go on that waits for this name."""
        (self.server.work / name).touch()

    def until_made(self, name: str) -> None:
        """Wait until a cell has made this file, which tells also where there is no page."""
        end = time.monotonic() + LIMIT / 1000
        while not (self.server.work / name).exists():
            assert time.monotonic() < end, f"{name} was not made in time"
            time.sleep(0.05)

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """The outputs of a cell as the notebook's document has them, but for `complaint`s of ipykernel."""
        found: list[dict[str, Any]] = self.page.evaluate(
            f"index => {NOTEBOOK}.content.widgets[index].model.sharedModel.toJSON().outputs", index
        )
        return [each for each in found if not complaint(each)]

    def set_source(self, index: int, source: str) -> None:
        self.page.evaluate(
            f"([index, source]) => {NOTEBOOK}.content.widgets[index].model.sharedModel.setSource(source)",
            [index, source],
        )

    def ended(self, index: int) -> None:
        """Wait until a cell that was started has ended. Its kernel is idle now and then before that."""
        expect(self.cell(index).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))

    def save(self) -> Any:
        """Save the notebook; returns what is in the file, but for `complaint`s of ipykernel."""
        self.command("docmanager:save")
        saved = self.server.read(self.name)
        for cell in saved.cells:
            if cell.cell_type == "code":
                cell.outputs = [each for each in cell.outputs if not complaint(each)]
        return saved

    def trust(self) -> None:
        """Trust the notebook, by the command and its question; that saves it."""
        self.page.evaluate("() => { window.trusting = window.jupyterapp.commands.execute('notebook:trust'); }")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.result("() => window.trusting.then(() => null)")

    def interrupt(self) -> None:
        """Press the square in the notebook's toolbar."""
        self.page.locator('.jp-NotebookPanel-toolbar [data-command="notebook:interrupt-kernel"]:visible').first.click()

    def restart(self) -> None:
        """Restart the kernel and say yes to the question about it."""
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:restart-kernel'); }")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)
        self._ready()
        self.result(ANSWERS)


def complaint(output: Any) -> bool:
    """Whether this is what ipykernel itself may print when a page gives a subshell back."""
    return "_async_in_context" in str(output.get("text", ""))
