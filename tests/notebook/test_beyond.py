"""What a record cannot carry stands as outputs of their own below it: charts and large pictures of the user's tools."""

from collections.abc import Iterator
from typing import Any

import pytest

from agent_magic.notebook.beyond import beyond_record
from agent_magic.notebook.record import RECORD_TYPE

from .kernel_client import Cell, Kernel

PLOTLY = "application/vnd.plotly.v1+json"
VEGA = "application/vnd.vegalite.v6+json"


def test_charts_always_go_below_and_pictures_only_where_the_record_has_none() -> None:
    chart = {"data": [1]}
    assert beyond_record({PLOTLY: chart, "text/plain": "p"}, {PLOTLY: chart}) == [{PLOTLY: chart, "text/plain": "p"}]
    assert beyond_record({"image/png": "AAAA"}, {"image/png": "AAAA"}) == []
    assert beyond_record({"image/png": "AAAA"}, {"image/jpeg": "smaller"}) == []
    assert beyond_record({"image/png": "AAAA"}, {}) == [{"image/png": "AAAA", "text/plain": "chart or picture"}]


@pytest.mark.parametrize(
    "kind",
    [
        "text/html",
        "text/markdown",
        "application/javascript",
        "image/svg+xml",
        "application/vnd.jupyter.widget-view+json",
    ],
)
def test_nothing_that_could_run_is_published(kind: str) -> None:
    assert beyond_record({kind: "<script>", "text/plain": "x"}, {}) == []
    (bundle,) = beyond_record({kind: "<script>", VEGA: {"mark": "bar"}, "text/plain": "x"}, {})
    assert set(bundle) == {VEGA, "text/plain"}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel() as started:
        started.run("%load_ext agent_magic\nimport agent_magic as am\nagent = am.get_agent()")
        yield started


def run_of(kernel: Kernel, body: str, origin: str = "user", flags: str = "") -> Cell:
    """A run in which a tool with this body is called once."""
    kernel.run(
        f"def made(arguments, context):\n    {body}\n"
        f"agent.tools = [am.AgentTool('made', 'Makes.', {{'type': 'object'}}, made, origin={origin!r})]\n"
        "agent.policy = None\n"
        "agent.model = am.scripted(am.AssistantMessage([am.ToolCall('1', 'made', {})]), 'done')"
    )
    cell = kernel.run(f"%%agent {flags}\nhi")
    assert cell.status == "ok", cell.printed
    return cell


def below(cell: Cell) -> list[dict[str, Any]]:
    """The outputs that are not the record, which must come after it."""
    outputs = [each["content"] for each in cell.of_type("display_data")]
    assert "display_id" in outputs[0]["transient"]
    return [each["data"] for each in outputs[1:]]


CHART = "import plotly.graph_objects as g\n    figure = g.Figure(g.Bar(x=['a'], y=[1]))\n    "


@pytest.mark.kernel
def test_a_plotly_figure_is_drawn_below_the_record(kernel: Kernel) -> None:
    (bundle,) = below(run_of(kernel, CHART + "return figure"))
    assert set(bundle) == {PLOTLY, "text/plain"}
    assert bundle[PLOTLY]["data"][0]["type"] == "bar"


@pytest.mark.kernel
def test_an_altair_chart_is_drawn_below_the_record(kernel: Kernel) -> None:
    (bundle,) = below(
        run_of(
            kernel,
            "import altair, pandas\n    frame = pandas.DataFrame({'a': [1]})\n"
            "    return altair.Chart(frame).mark_bar().encode(x='a')",
        )
    )
    assert [kind for kind in bundle if kind.startswith("application/vnd.vegalite")]


@pytest.mark.kernel
def test_a_displayed_figure_is_drawn_below_too_but_none_of_its_html(kernel: Kernel) -> None:
    (bundle,) = below(run_of(kernel, CHART + "from IPython.display import display\n    display(figure)"))
    assert set(bundle) == {PLOTLY, "text/plain"}


@pytest.mark.kernel
def test_pictures_that_find_no_room_in_the_record_are_below_it(kernel: Kernel) -> None:
    cell = run_of(
        kernel,
        "import numpy, io\n    from PIL import Image\n    from IPython.display import display, Image as Shown\n"
        "    for seed in range(4):\n"
        "        noise = numpy.random.default_rng(seed).integers(0, 255, (250, 250, 3), numpy.uint8)\n"
        "        file = io.BytesIO()\n        Image.fromarray(noise).save(file, 'PNG')\n"
        "        display(Shown(file.getvalue()))",
    )
    record = next(
        each["content"]["data"][RECORD_TYPE] for each in cell.displays if RECORD_TYPE in each["content"]["data"]
    )
    (item,) = [item for item in record["items"] if item["kind"] == "tool"]
    inside = [bundle for bundle in item["outputs"] if "image/png" in bundle]
    outside = below(cell)
    assert len(inside) + len(outside) == 4
    assert outside
    assert all("image/png" in bundle for bundle in outside)
    assert len(str(record)) < 1_000_000


@pytest.mark.kernel
@pytest.mark.parametrize("origin", ["mcp", "builtin"])
def test_foreign_tools_publish_nothing_of_their_own(kernel: Kernel, origin: str) -> None:
    cell = run_of(kernel, CHART + "return figure", origin)
    assert below(cell) == []
    assert PLOTLY not in str(cell.record)


@pytest.mark.kernel
def test_a_quiet_run_publishes_nothing(kernel: Kernel) -> None:
    assert run_of(kernel, CHART + "return figure", flags="--quiet").displays == []
