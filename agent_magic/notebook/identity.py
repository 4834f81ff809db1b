"""Which notebook this kernel belongs to, and which of its cells runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def notebook_path(namespace: Mapping[str, Any]) -> Path | None:
    """The file of the notebook; None where nobody tells, as in a terminal, nbclient and papermill."""
    for named in (os.environ.get("JPY_SESSION_NAME"), namespace.get("__vsc_ipynb_file__")):
        # A console has a session whose name is no file.
        if isinstance(named, str) and os.path.isabs(named) and Path(named).suffix and Path(named).parent.is_dir():
            return Path(named)
    return None


def cell_id(shell: Any) -> str | None:
    """The id of the running cell as the front end gives it, which may hold a path; None where it sends none."""
    try:
        found = shell.get_parent()["metadata"]["cellId"]
    except (AttributeError, KeyError, LookupError, TypeError):
        return None
    return found if isinstance(found, str) and found else None


def running_cell(shell: Any) -> str:
    """A digest of the id of the running cell; empty where the front end sends none."""
    found = cell_id(shell)
    return hashlib.sha256(found.encode()).hexdigest()[:8] if found else ""
