"""Where sessions are kept, and what their files are called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .entries import iso

SUFFIX = ".jsonl"


def data_folder() -> Path:
    """The user's own folder for what this package keeps, by platform; `AGENT_MAGIC_DATA` names another.

    The folder need not exist.
    """
    chosen = os.environ.get("AGENT_MAGIC_DATA")
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "agent_magic"


def sessions_folder(beside: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the sessions: in the user's data folder, or beside the notebook whose path is given."""
    if beside is not None:
        return Path(beside).absolute().parent / ".agent_magic" / "sessions"
    return data_folder() / "sessions"


def session_name(timestamp: int, session_id: str) -> str:
    """A file name that sorts by time and is unique, such as `2026-01-31T09-30-00-000Z_<id>.jsonl`."""
    return f"{iso(timestamp).replace(':', '-').replace('.', '-')}_{session_id}{SUFFIX}"
