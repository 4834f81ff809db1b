"""The guides in `notebooks/`, each run from its first cell to its last, as a reader would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat

GUIDES = Path(__file__).parents[2] / "notebooks"
_RECORD = "application/vnd.agent-magic.run+json"


def executed(name: str, folder: Path) -> list[Any]:
    """The code cells of a guide, which must be kept without outputs, after they were run in `folder`."""
    guide = nbformat.read(GUIDES / name, as_version=4)
    nbformat.validate(guide)
    code = [cell for cell in guide.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(guide, kernel_name="python3", timeout=90, resources=resources).execute()
    return code


def runs_of(cells: list[Any]) -> list[dict[str, Any]]:
    """The records of the runs in these cells."""
    return [output.data[_RECORD] for cell in cells for output in cell.outputs if _RECORD in output.get("data", {})]
