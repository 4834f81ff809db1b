"""Imports go downwards only, and the check that says so sees what it should see."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent.parent


check = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "check_layers.py")))


def test_the_package_keeps_its_layers() -> None:
    assert check.violations(ROOT) == []


def project(folder: Path, path: str, source: str) -> Path:
    """A package with all layers and this one module in it."""
    package = folder / "agent_magic"
    for layer in ("providers", "tools", "agent", "session", "notebook"):
        (package / layer).mkdir(parents=True)
        (package / layer / "__init__.py").touch()
        (package / layer / "thing.py").touch()
    (package / "__init__.py").write_text('_EXPORTS: dict = {"agent.thing": ("Agent",), "messages": ("Message",)}')
    (package / "messages.py").touch()
    (package / path).write_text(source)
    return folder


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("messages.py", "from .tools import thing"),
        ("tools/a.py", "from ..agent.thing import x"),
        ("tools/a.py", "from .. import agent"),
        ("tools/a.py", "from .. import Agent"),
        ("tools/a.py", "from agent_magic import Agent"),
        ("tools/a.py", "import agent_magic.session.thing"),
        ("tools/__init__.py", "from ..agent.thing import x"),
        ("agent/a.py", "def f():\n    from ..notebook.thing import x"),
        ("agent/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..session.thing import x"),
        ("agent/a.py", "from importlib import import_module\nimport_module('agent_magic.notebook.thing')"),
        ("providers/other.py", "import httpx"),
        ("tools/a.py", "from httpx import get"),
        ("session/a.py", "from IPython.display import display"),
    ],
)
def test_an_import_that_goes_up_is_found(path: str, source: str, tmp_path: Path) -> None:
    assert len(check.violations(project(tmp_path, path, source))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("notebook/a.py", "from ..agent.thing import x\nfrom .. import Agent\nimport IPython"),
        ("tools/a.py", "from . import thing\nfrom ..providers import thing\nfrom .. import messages, Message"),
        ("tools/__init__.py", "from .thing import x\nfrom ..messages import Message"),
        ("providers/http.py", "import httpx"),
    ],
)
def test_an_import_that_goes_down_or_aside_is_allowed(path: str, source: str, tmp_path: Path) -> None:
    assert check.violations(project(tmp_path, path, source)) == []
