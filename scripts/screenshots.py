"""Make the pictures of the README anew, in a real JupyterLab: docs/images/*.png.

    python -m scripts.screenshots [NAME ...]

The answers come from a script that stands here, so it costs nothing and needs no key; everything else is as users see
it. With names (light, dark, narrow, approval, error, record) only these pictures are written. Needs the dependency
groups `test` and `browser`, and Chromium.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.chat_page import ChatPage, panel
from tests.browser.jupyter_server import JupyterServer
from tests.browser.notebook_page import NotebookPage

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
LIMIT = 200_000
COMMONEST = 160
SIZE = {"width": 1280, "height": 860}

CELLS = [
    "%load_ext agent_magic",
    '''\
@tool
def sales(region: str, year: int = 2025):
    """Monthly sales of a region, with their growth.

    Args:
        region: Code of the region.
        year: Calendar year.
    """
    return df[df.region == region].drop(columns="region").reset_index(drop=True)''',
    "%%agent\nWhich region grew fastest this year? Draw it. The figures are in @df.",
    """\
for region in ("EU", "US", "APAC"):
    year = df[df.region == region]
    print(region, yaer.revenue.sum())""",
]
# What a notebook of a user would have in cells above; run without a cell, so that the pictures show what matters.
SETUP = '''
import dataclasses, os, time
import pandas as pd
import agent_magic as am
from agent_magic import tool
get_ipython().run_line_magic("load_ext", "agent_magic")
get_ipython().run_line_magic("agent", "tools on run_python")
get_ipython().run_line_magic("matplotlib", "inline")
rates = {"EU": 0.012, "US": 0.007, "APAC": 0.031}
df = pd.DataFrame([
    {"region": region, "month": f"2025-{month:02}", "revenue": round(400 * (1 + rate) ** month, 1),
     "growth": f"+{rate * 100:.1f}%"}
    for region, rate in rates.items() for month in range(1, 13)
])

@tool
def fx_rate(pair: str, day: str) -> float:
    """The rate of a pair of currencies on a day."""
    raise ValueError("month must be in 1..12")

@tool
def fit_trend(region: str, horizon: int = 6):
    """Fit a trend to the sales of a region."""
    for fold in range(3, 600):
        yield f"fold {min(fold, 4)} of 5"
        time.sleep(1)

def call(name, **arguments):
    return am.ToolCall(f"{name}-{len(str(arguments))}", name, arguments)

PLOT = """import matplotlib.pyplot as plt
last = df.groupby("region").revenue.agg(lambda each: each.iloc[-1] / each.iloc[0] - 1)
last.sort_values().plot.barh(figsize=(4, 1.5), color="#1976d2")
plt.xlabel("growth over the year")
plt.ylabel("")"""
am.get_agent().model = dataclasses.replace(
    am.scripted(
        [am.ThinkingContent("Compare the last month with the first, region by region."),
         am.Delay(1.2), call("sales", region="EU"), call("sales", region="APAC")],
        [call("fx_rate", pair="EURUSD", day="2025-13-01")],
        [call("run_python", code=PLOT)],
        "**APAC grew fastest: +40%** over the year, ahead of EU (+14%) and US (+8%). "
        "The rate of the euro was not needed: all figures are in one currency.",
        [call("fit_trend", region="APAC", horizon=6)],
        "The name `year` is misspelt in the last line:\\n\\n"
        "```python\\nfor region in (\\"EU\\", \\"US\\", \\"APAC\\"):\\n"
        "    year = df[df.region == region]\\n    print(region, year.revenue.sum())\\n```\\n",
    ),
    id="scripted-model", provider="example", context_window=16_000,
)
'''
EXECUTE = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const reply = await kernel.requestExecute({ code, store_history: false, silent: false }).done;
  if (reply.content.status !== 'ok') throw new Error(reply.content.evalue);
}"""
# Flashes of what is under the mouse, and cursors, differ from one picture to the next.
STILL = "* { caret-color: transparent !important; transition: none !important; animation: none !important; }"


class Photographer:
    """Writes the pictures that were asked for."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def take(self, name: str, target: Page | Locator) -> None:
        if self._names and name not in self._names:
            return
        page = target if isinstance(target, Page) else target.page
        page.mouse.move(SIZE["width"] / 2, 5)
        page.wait_for_timeout(300)
        IMAGES.mkdir(parents=True, exist_ok=True)
        path = IMAGES / f"{name}.png"
        picture = with_few_colours(Image.open(io.BytesIO(target.screenshot())).convert("RGB"))
        picture.save(path, optimize=True)
        size = path.stat().st_size
        print(f"{path.relative_to(ROOT)}: {picture.width} x {picture.height}, {size / 1000:.0f} kB")
        if size > LIMIT:
            sys.exit(f"{path.name} is larger than {LIMIT / 1000:.0f} kB.")


def with_few_colours(picture: Image.Image) -> Image.Image:
    """The picture in 256 colours: the commonest of its own as they are, and those farthest from them."""
    pixels = np.asarray(picture).reshape(-1, 3)
    colours, places, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    wide = colours.astype(int)
    chosen = list(np.argsort(-counts)[:COMMONEST])
    near = np.min([np.sum((wide - wide[each]) ** 2, axis=1) for each in chosen], axis=0)
    while len(chosen) < min(256, len(colours)):
        chosen.append(int(near.argmax()))
        near = np.minimum(near, np.sum((wide - wide[chosen[-1]]) ** 2, axis=1))
    nearest = np.argmin([np.sum((wide - wide[each]) ** 2, axis=1) for each in chosen], axis=0)
    few = Image.fromarray(nearest[places].astype(np.uint8).reshape(picture.height, picture.width))
    few.putpalette(colours[chosen].tobytes())
    return few


def opened(browser: Browser, server: JupyterServer, name: str, **options: Any) -> NotebookPage:
    context = browser.new_context(**{"viewport": SIZE, "device_scale_factor": 2, **options})
    context.set_default_timeout(60_000)
    notebook = NotebookPage(context.new_page(), server)
    notebook.open(name)
    notebook.page.add_style_tag(content=STILL)
    notebook.command("application:toggle-left-area")
    return notebook


def set_width(notebook: NotebookPage, chat: ChatPage, width: int) -> None:
    """Drag the border between notebook and panel until the panel is so wide, in pixels."""
    box = chat.root.bounding_box()
    assert box is not None
    handles = [handle.bounding_box() for handle in notebook.page.locator(".lm-SplitPanel-handle:visible").all()]
    x = max(handle["x"] + handle["width"] / 2 for handle in handles if handle is not None and handle["x"] < box["x"])
    mouse = notebook.page.mouse
    mouse.move(x, 400)
    mouse.down()
    mouse.move(x + box["width"] - width, 400, steps=5)
    mouse.up()


def set_theme(notebook: NotebookPage, theme: str) -> None:
    notebook.command("apputils:change-theme", theme=theme)
    expect(notebook.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
    expect(notebook.page.locator("#jupyterlab-splash")).to_have_count(0)


def scroll_to(notebook: NotebookPage, index: int) -> None:
    notebook.cell(index).evaluate("cell => cell.scrollIntoView({ block: 'start' })")


def with_the_extension(browser: Browser, server: JupyterServer, photographer: Photographer) -> None:
    server.write("growth.ipynb", CELLS)
    notebook = opened(browser, server, "growth.ipynb")
    notebook.page.evaluate(EXECUTE, SETUP)
    chat = panel(notebook)
    chat.is_ready()
    set_width(notebook, chat, 360)
    notebook.run(1)
    notebook.start(2)
    question = notebook.output(2).get_by_role("alertdialog")
    expect(question).to_be_visible()
    scroll_to(notebook, 2)
    photographer.take("approval", notebook.cell(2))
    question.get_by_role("button", name="Run", exact=True).click()
    notebook.shows(2, "grew fastest")
    notebook.ended(2)
    notebook.save()
    chat.say("Now fit a trend for APAC and tell me when it will slow down.")
    expect(chat.log.locator("details").filter(has_text="fit_trend")).to_contain_text("fold 4 of 5")
    chat.field.fill("and use a robust fit")
    scroll_to(notebook, 2)
    photographer.take("light", notebook.page)
    set_theme(notebook, "JupyterLab Dark")
    scroll_to(notebook, 2)
    photographer.take("dark", notebook.page)
    set_theme(notebook, "JupyterLab Light")
    set_width(notebook, chat, 240)
    photographer.take("narrow", chat.root)
    set_width(notebook, chat, 360)
    chat.field.fill("")
    chat.stop.click()
    chat.is_idle()
    notebook.run(3)
    notebook.cell(3).get_by_role("button", name="Ask the agent").click()
    chat.shows("is misspelt")
    chat.is_idle()
    notebook.cell(3).evaluate("cell => cell.scrollIntoView({ block: 'end' })")
    photographer.take("error", notebook.page)


def without_the_extension(browser: Browser, server: JupyterServer, photographer: Photographer) -> None:
    notebook = opened(browser, server, "growth.ipynb", viewport={"width": 980, "height": 1500})
    notebook.shows(2, "grew fastest")
    summary = notebook.page.locator("summary", has_text='region="APAC"')
    call = notebook.output(2).locator("details").filter(has=summary)
    call.evaluate("details => { details.open = true; }")
    scroll_to(notebook, 2)
    photographer.take("record", notebook.cell(2))


def main() -> None:
    photographer = Photographer(sys.argv[1:])
    found = subprocess.run(
        [sys.executable, ROOT / "scripts" / "find_chromium.py"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        sys.exit(found.stderr.strip())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=["--no-sandbox"])
        server = JupyterServer(Path(folder, "with"), "lab")
        try:
            with_the_extension(browser, server, photographer)
        finally:
            server.stop()
        saved = (server.work / "growth.ipynb").read_bytes()
        server = JupyterServer(Path(folder, "without"), "lab", extension=False)
        try:
            (server.work / "growth.ipynb").write_bytes(saved)
            without_the_extension(browser, server, photographer)
        finally:
            server.stop()
        browser.close()


if __name__ == "__main__":
    main()
