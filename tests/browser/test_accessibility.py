"""The panel and the cards for those who see differently or use no mouse: axe-core's rules, and keys alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, answers
from .chat_page import ChatPage, opened

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
# Only what is ours: Lab's own faults are not in our hands.
OURS = ["#agent-magic-panel", ".jp-Cell-outputArea .am-view"]
FAULTS = """async places => {
  // Lab's body has no height and hides what overflows it, for which axe-core takes all text to be out of sight.
  document.body.style.minHeight = '100vh';
  const found = await axe.run({ include: places.map(place => [place]) });
  const contrasts = [...found.passes, ...found.violations].find(({ id }) => id === 'color-contrast')?.nodes.length ?? 0;
  if (contrasts < 30) return [`axe-core saw only ${contrasts} texts`];
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`));
}"""
ANSWER = """'''## Result

A **bold** word, [a link](https://example.org), `code` &copy; and

| region | growth |
| --- | --- |
| EU | 12 % |

```python
for region in regions:  # a comment
    print(region, 1.5, "text")
```
'''"""


def faults(chat: ChatPage) -> list[str]:
    """What axe-core finds to be serious or critical in what we draw on this page, once the page has settled."""
    if not chat.page.evaluate("() => 'axe' in window"):
        chat.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = []
    for _ in range(10):
        found = chat.page.evaluate(FAULTS, OURS)
        if not found:
            break
        chat.page.wait_for_timeout(500)
    return found


def in_panel_and_cell(visit: Any) -> tuple[Any, ChatPage]:
    """A notebook that shows a call that failed, a call that was done and an answer, and asks about a call."""
    failing = "@tool\ndef fail(reason: str) -> str:\n    raise ValueError(reason)"
    calls = ("call('note', text='x')", "call('fail', reason='month must be in 1..12')")
    told = answers(
        *calls, ANSWER, "[am.ThinkingContent('Well.'), *call('act', code='print(1)', times=2).content]", "'End.'"
    )
    notebook, chat = opened(visit, "lab", "'Hello.'", more=(failing, told, "%agent new", ASK))
    for index in range(2, 5):
        notebook.run(index)
    chat.say("Begin")
    chat.shows("code ©")
    chat.is_idle()
    notebook.start(5)
    expect(chat.question).to_be_visible()
    expect(notebook.output(5).get_by_role("alertdialog")).to_be_visible()
    return notebook, chat


def switches_are_told_apart_without_colours(chat: ChatPage) -> None:
    """Where the system's high contrast takes all colours away, the knob of a switch is seen, on or off."""
    chat.page.emulate_media(forced_colors="active")
    for is_on in ("true", "false"):
        track = chat.popup.locator(f'[aria-checked="{is_on}"] .am-chat-switch-track').first
        knob, ground = track.evaluate(
            "track => ['::after', null].map(part => getComputedStyle(track, part).backgroundColor)"
        )
        assert knob not in (ground, "rgb(255, 255, 255)"), is_on
    chat.page.emulate_media(forced_colors="none")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_no_serious_fault_in_panel_and_cards(visit: Any, theme: str) -> None:
    notebook, chat = in_panel_and_cell(visit)
    notebook.command("apputils:change-theme", theme=theme)
    expect(notebook.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
    assert faults(chat) == []
    expect(notebook.page.get_by_role("region", name="Agent", exact=True)).to_have_count(1)
    for details in chat.log.locator("details").all():
        details.evaluate("node => { node.open = true; }")
    chat.question.get_by_role("button", name="Edit").click()
    assert faults(chat) == []
    for name in ("Conversations", "Attach", "Model: ", "Tools "):
        chat.button(name).click()
        expect(chat.popup).to_be_visible()
        assert faults(chat) == [], name
        if name == "Tools ":
            switches_are_told_apart_without_colours(chat)
        notebook.page.keyboard.press("Escape")


def test_keys_alone_send_answer_and_stop(visit: Any) -> None:
    told = ("call('act', code='1')", "['Begun. ', silence('never')]")
    notebook, chat = opened(visit, "lab", *told, more=("print(ran)",))
    keys = notebook.page.keyboard
    notebook.cell(2).locator(".jp-InputPrompt").click()
    keys.press("Control+;")
    expect(chat.field).to_be_focused()
    keys.type("Begin")
    keys.press("Enter")
    run = chat.question.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_visible()
    # Who writes is not torn away; Shift+Tab goes back to the question, which is the last thing above.
    expect(chat.field).to_be_focused()
    for _ in range(12):
        keys.press("Shift+Tab")
        if run.evaluate("button => button === document.activeElement"):
            break
    expect(run).to_be_focused()
    keys.press("Enter")
    chat.shows("Begun.")
    # The question is gone, and the focus is not lost with it.
    assert notebook.page.evaluate("() => document.activeElement !== document.body")
    for _ in range(30):
        if chat.stop.evaluate("button => button === document.activeElement"):
            break
        keys.press("Tab")
    expect(chat.stop).to_be_focused()
    keys.press("Enter")
    chat.shows("stopped")
    expect(chat.field).to_be_focused()
    # Escape goes back to the notebook.
    keys.press("Escape")
    notebook.page.wait_for_function("() => document.activeElement.closest('.jp-Notebook') !== null")
    notebook.run(2)
    assert notebook.outputs(2)[0]["text"] == "[('1', 1)]\n"
