"""Nothing that a model, a tool or its arguments say runs in a real page or makes it ask another machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.notebook.test_writer_safety import ATTACKS

from .cells import RECORD, SETUP

pytestmark = pytest.mark.browser

# What the attacks call.
WATCH = """window.attacked = [];
for (const name of ['alert', 'confirm', 'prompt', 'open', 'msgbox']) {
  window[name] = (...all) => { window.attacked.push([name, ...all.map(String)]); };
}"""
FOUND = """node => [...node.querySelectorAll('*')].flatMap(element => [
  ...(element.matches('script, iframe, object, embed, base, meta, link, form, style') ? [element.outerHTML] : []),
  ...[...element.attributes]
    .filter(({name, value}) => name.startsWith('on')
      || name === 'data-commandlinker-command'
      || /^[\\s\\u0000-\\u001f]*(javascript|vbscript|data:text|file|command):/i.test(value))
    .map(({name, value}) => `${element.tagName} ${name}=${value}`)
])"""


def check(notebook: Any) -> None:
    """Open every card, move over everything, and see that nothing has happened."""
    output = notebook.output(2)
    output.evaluate("node => { for (const card of node.querySelectorAll('details')) card.open = true; }")
    notebook.page.wait_for_timeout(300)
    output.evaluate(
        "node => { for (const element of node.querySelectorAll('*'))"
        " element.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})); }"
    )
    assert notebook.page.evaluate("window.attacked") == []
    assert output.evaluate(FOUND) == []


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_no_attack_runs_live_or_in_the_record(visit: Any, app: str) -> None:
    notebook = visit(app)
    page = notebook.page
    page.add_init_script(WATCH)
    given = (
        f"import json\nattacks = json.loads({json.dumps(ATTACKS)!r})\n"
        "turns = [[am.ThinkingContent(attack), attack, call('note', text=attack)] for attack in attacks]\n"
        "agent.model = am.scripted(*turns, ['The end.', silence('looked')])"
    )
    notebook.server.write("attacks.ipynb", [SETUP, given, "%%agent --max-turns 200\nPlease"])
    notebook.open("attacks.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    notebook.shows(2, "The end.")
    check(notebook)
    notebook.let("looked")
    notebook.ended(2)
    assert notebook.outputs(2)[0]["data"][RECORD]["state"] == "done"
    check(notebook)
