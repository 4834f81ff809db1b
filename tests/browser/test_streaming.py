"""A long answer while it comes: it is drawn as it arrives, and does not get in its reader's way."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, answers

pytestmark = pytest.mark.browser

# Where the element that scrolls is, since the two applications have it in different places.
SCROLLED = """() => {
  const window = document.querySelector('.jp-WindowedPanel-outer');
  for (let node = window; node; node = node.parentElement) {
    if (node.scrollHeight > node.clientHeight + 50 && getComputedStyle(node).overflowY !== 'visible') return node;
  }
  return document.scrollingElement;
}"""
LINES = (
    "['\\n'.join(f'{n}. line {n}' for n in range(80)), silence('scrolled'),"
    " *(part for n in range(80, 150) for part in (f'\\n{n}. line {n}', am.Delay(0.02)))]"
)


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_reader_who_scrolled_up_stays_there_while_the_answer_grows(visit: Any, app: str) -> None:
    notebook = visit(app, viewport={"width": 1200, "height": 800})
    notebook.server.write("long.ipynb", [SETUP, answers(LINES), ASK])
    notebook.open("long.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    lines = notebook.output(2).locator("li")
    expect(lines).to_have_count(80)
    place = notebook.page.evaluate_handle(SCROLLED)
    notebook.page.mouse.move(700, 500)
    notebook.page.mouse.wheel(0, 150)
    notebook.page.wait_for_timeout(300)
    before = place.evaluate("node => node.scrollTop")
    notebook.let("scrolled")
    expect(lines).to_have_count(150)
    assert abs(place.evaluate("node => node.scrollTop") - before) < 5
    notebook.ended(2)
    assert abs(place.evaluate("node => node.scrollTop") - before) < 5
    assert notebook.outputs(2)[0]["data"][RECORD]["items"][-1]["text"].endswith("149. line 149")


def test_code_is_shown_as_code_before_its_block_is_closed(visit: Any) -> None:
    notebook = visit("lab")
    halves = "['Look:\\n\\n```python\\nfor x in y:', silence('closed'), '\\n    print(x)\\n```\\nThat is it.']"
    notebook.server.write("code.ipynb", [SETUP, answers(halves), ASK])
    notebook.open("code.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    code = notebook.output(2).locator("pre code, pre").first
    expect(code).to_have_text("for x in y:")
    expect(notebook.output(2)).not_to_contain_text("```")
    notebook.let("closed")
    expect(code).to_contain_text("print(x)")
    notebook.shows(2, "That is it.")


def test_two_notebooks_with_two_kernels_each_show_their_own_run(visit: Any) -> None:
    first, second = visit("lab"), visit("lab")
    for notebook, word in ((first, "left"), (second, "right")):
        told = answers(f"['{word} begins. ', silence('{word}'), '{word} ends.']")
        notebook.server.write(f"{word}.ipynb", [SETUP, told, ASK])
        notebook.open(f"{word}.ipynb")
        notebook.prepare(2)
        notebook.start(2)
    first.shows(2, "left begins.")
    second.shows(2, "right begins.")
    second.output(2).get_by_role("button", name="Stop").click()
    second.shows(2, "stopped")
    first.let("left")
    first.shows(2, "left ends.")
    first.ended(2)
    assert first.outputs(2)[0]["data"][RECORD]["state"] == "done"
    assert "right" not in str(first.outputs(2))
    second.ended(2)
    record = second.outputs(2)[0]["data"][RECORD]
    assert record["state"] == "aborted"
    assert "ends" not in str(record)
