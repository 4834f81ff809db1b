"""A pytest fixture for notebooks with recorded answers; pytest finds it by itself once the package is installed.

    def test_the_analysis_still_runs(agent_magic_replay):
        notebook = agent_magic_replay("analysis.ipynb")
        assert "EU" in notebook.cells[-1].outputs[0]["data"]["text/markdown"]

Nothing but pytest is imported before the fixture is used. It needs nbclient and ipykernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nbformat import NotebookNode


def replay_notebook(path: str | os.PathLike[str], timeout: float = 600, **options: Any) -> NotebookNode:
    """Run a notebook in a kernel of its own, with the answers that were recorded beside it, and return it executed.

    No model of the network is asked and no key is needed; the file itself stays as it is. `timeout` is seconds for
    each cell, `options` are traits of nbclient's `NotebookClient`. Raises nbclient's `CellExecutionError` for the
    first cell that fails, such as one whose request was not recorded.
    """
    # nbformat has no types of its own.
    nbformat: Any = import_module("nbformat")
    from nbclient import NotebookClient

    file = Path(path).absolute()
    notebook: NotebookNode = nbformat.read(file, as_version=4)
    resources = {"metadata": {"path": str(file.parent)}}
    client = NotebookClient(notebook, timeout=timeout, resources=resources, **options)
    environment = {**os.environ, "JPY_SESSION_NAME": str(file), "AGENT_MAGIC_REPLAY": "1"}
    executed: NotebookNode = client.execute(env=environment)
    return executed


@pytest.fixture
def agent_magic_replay(request: pytest.FixtureRequest) -> Callable[..., NotebookNode]:
    """`replay_notebook`, with paths seen from the folder of the test's file."""
    folder = request.path.parent

    def replay(path: str | os.PathLike[str], **options: Any) -> NotebookNode:
        return replay_notebook(folder / path, **options)

    return replay
