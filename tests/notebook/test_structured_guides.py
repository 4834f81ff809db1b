"""The guides to structured answers and to many prompts run without a key, and show what they say."""

from pathlib import Path
from typing import Any

import pytest

from .guides import executed

pytestmark = pytest.mark.kernel


def said(cells: list[Any], source: str) -> str:
    """What the cell that begins like this printed, and its value."""
    cell = next(each for each in cells if each.source.startswith(source))
    return "".join(
        output.text if output.output_type == "stream" else output.data["text/plain"] for output in cell.outputs
    )


def test_the_guide_to_structured_extraction(tmp_path: Path) -> None:
    cells = executed("extraction.ipynb", tmp_path)
    assert said(cells, "invoice = ") == "(2026, 142.8)"
    assert "total: Input should be greater than 0 (received -20)" in said(cells, "print(reply.messages[2]")
    assert "total=20.0" in said(cells, "print(reply.messages[2]")
    failure = said(cells, 'agent.model = am.scripted("There is no invoice')
    assert failure == "The answer is not JSON.\nReally, there is none.\n"
    assert said(cells, "reply.value is None") == "True"
    assert said(cells, "items = ").split("\n")[1].split() == ["0", "chair", "3", "40.0", "120.0"]
    assert said(cells[-1:], "reply.value") == "178.5"


def test_the_guide_to_many_prompts(tmp_path: Path) -> None:
    cells = executed("many_prompts.ipynb", tmp_path)
    assert said(cells, "from dataclasses") == "4 of 4 done, 1 failed"
    assert "(unreadable)".ljust(46) + " BadRequestError" in said(cells, "for text, result")
    assert said(cells, "failed = ").endswith("[5, 1, 5, 3]")
    assert said(cells, "agent.messages") == "([], True)"
    assert said(cells, "kept = ") == "0 of 2 done\n1 of 2 done\n2 of 2 done\n[0, 1]"
    assert said(cells, "results = await").endswith("['product', 'product']")
    assert said(cells, "from concurrent").endswith("['4', '25', '168']")
