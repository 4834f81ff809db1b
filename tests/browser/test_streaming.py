"""A long answer while it comes: it is drawn as it arrives, and does not get in its reader's way."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, answers, paced

pytestmark = pytest.mark.browser

# Where the element that scrolls is, since the two applications have it in different places.
SCROLLED = """() => {
  const window = document.querySelector('.jp-WindowedPanel-outer');
  for (let node = window; node; node = node.parentElement) {
    if (node.scrollHeight > node.clientHeight + 50 && getComputedStyle(node).overflowY !== 'visible') return node;
  }
  return document.scrollingElement;
}"""
LINES = "[part for n in range(150) for part in (f'{n}. line {n}\\n', am.Delay(0.03))]"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_reader_who_scrolled_up_stays_there_while_the_answer_grows(visit: Any, app: str) -> None:
    notebook = visit(app)
    notebook.server.write("long.ipynb", [SETUP, answers(LINES), ASK])
    notebook.open("long.ipynb")
    notebook.run(0)
    notebook.run(1)
    notebook.start(2)
    lines = notebook.output(2).locator("li")
    expect(lines).not_to_have_count(0)
    notebook.page.wait_for_function(
        "index => document.querySelectorAll('.jp-Notebook .jp-CodeCell')[index].querySelectorAll('li').length > 50",
        arg=2,
    )
    place = notebook.page.evaluate_handle(SCROLLED)
    notebook.page.mouse.move(700, 500)
    notebook.page.mouse.wheel(0, 150)
    notebook.page.wait_for_timeout(300)
    before = place.evaluate("node => node.scrollTop")
    seen = lines.count()
    expect(lines).to_have_count(150)
    assert seen < 140, "the answer had ended before the reader scrolled"
    assert abs(place.evaluate("node => node.scrollTop") - before) < 5
    notebook.idle()
    assert abs(place.evaluate("node => node.scrollTop") - before) < 5
    assert notebook.outputs(2)[0]["data"][RECORD]["items"][-1]["text"].endswith("149. line 149\n")


def test_code_is_shown_as_code_before_its_block_is_closed(visit: Any) -> None:
    notebook = visit("lab")
    halves = "['Look:\\n\\n```python\\nfor x in y:', am.Delay(2), '\\n    print(x)\\n```\\nThat is it.']"
    notebook.server.write("code.ipynb", [SETUP, answers(halves), ASK])
    notebook.open("code.ipynb")
    notebook.run(0)
    notebook.run(1)
    notebook.start(2)
    code = notebook.output(2).locator("pre code, pre").first
    expect(code).to_have_text("for x in y:")
    expect(notebook.output(2)).not_to_contain_text("```")
    expect(code).to_contain_text("print(x)")
    notebook.shows(2, "That is it.")


def test_two_notebooks_with_two_kernels_each_show_their_own_run(visit: Any) -> None:
    first, second = visit("lab"), visit("lab")
    for notebook, word in ((first, "left"), (second, "right")):
        notebook.server.write(f"{word}.ipynb", [SETUP, answers(paced(60, 0.05, word)), ASK, "'next'"])
        notebook.open(f"{word}.ipynb")
        notebook.run(0)
        notebook.run(1)
    first.start(2)
    second.start(2)
    for notebook, word in ((first, "left"), (second, "right")):
        notebook.shows(2, f"{word}3 ")
    second.output(2).get_by_role("button", name="Stop").click()
    second.shows(2, "stopped")
    first.shows(2, "left59")
    first.idle()
    assert first.outputs(2)[0]["data"][RECORD]["state"] == "done"
    assert "right" not in str(first.outputs(2))
    record = second.outputs(2)[0]["data"][RECORD]
    assert record["state"] == "aborted"
    assert "right59" not in str(record)
