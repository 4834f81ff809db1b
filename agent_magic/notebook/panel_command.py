"""`%agent panel`: open the panel, or say what there is in its place."""

from __future__ import annotations

from .command import Answer, Words
from .kernel import NotebookKernel

OPEN_IT = (
    'The panel is the chat beside the notebook: choose "Agent" in the right sidebar of JupyterLab, or View > Right '
    "Sidebar > Agent in Notebook 7. Its conversation is that of the cells."
)
WIDGET = "The same chat as the output of a cell: import agent_magic; agent_magic.panel()"


def panel(kernel: NotebookKernel, words: Words) -> Answer:
    if words:
        return None
    if kernel.in_terminal:
        return "There is no panel in a terminal. Ask by %agent TEXT, or open a notebook in JupyterLab."
    extension = kernel.shell.agent_magic.panel
    if extension.open():
        return "The panel is open beside the notebook. Its conversation is that of the cells."
    if extension.refused:
        return (
            "The page has no panel: the package agent-magic is not installed where JupyterLab itself runs. Install it "
            f"there and reload the page.\n{WIDGET}"
        )
    extension.announce()
    return f"{OPEN_IT}\nIf there is none, install the package agent-magic where JupyterLab itself runs.\n{WIDGET}"
