import base64
import io
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from IPython.display import HTML, Image, Markdown

from agent_magic.notebook.limits import IMAGE_LIMIT
from agent_magic.notebook.outputs import output_bundles, safe_bundle, traceback_text
from agent_magic.notebook.pictures import fitted
from agent_magic.notebook.tables import TABLE_TYPE, is_table, rows_that_fit

matplotlib.use("Agg")


def table(value: Any) -> dict[str, Any]:
    (bundle,) = output_bundles(value)
    assert is_table(bundle[TABLE_TYPE])
    return bundle[TABLE_TYPE]


def decoded(data: str) -> bytes:
    return base64.b64decode(data)


def test_a_frame_becomes_a_table_of_texts() -> None:
    frame = pd.DataFrame({"month": ["Jan", None], "revenue": [412.5, float("nan")], "n": [1, 2]}, index=["a", "b"])
    assert table(frame) == {
        "name": "DataFrame",
        "columns": ["month", "revenue", "n"],
        "index": ["a", "b"],
        "rows": [["Jan", "412.5", "1"], ["", "", "2"]],
        "numeric": [1, 2],
        "shape": [2, 3],
    }


def test_a_large_frame_is_cut_and_tells_its_whole_shape() -> None:
    large = table(pd.DataFrame(np.zeros((10_000, 300))))
    assert (len(large["rows"]), len(large["columns"]), large["shape"]) == (50, 20, [10_000, 300])


def test_a_series_is_a_table_of_one_column() -> None:
    assert table(pd.Series([1, 2], name="n"))["rows"] == [["1"], ["2"]]


@pytest.mark.parametrize(
    ("array", "rows"),
    [
        (np.array([1, 2]), [["1"], ["2"]]),
        (np.array([[1.5, 2], [3, 4]]), [["1.5", "2"], ["3", "4"]]),
        (np.zeros((0, 3)), []),
    ],
)
def test_arrays_of_one_and_two_dimensions_are_tables(array: Any, rows: list[list[str]]) -> None:
    assert table(array)["rows"] == rows


@pytest.mark.parametrize("frame", [pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame(index=[1, 2])])
def test_empty_frames_are_tables_too(frame: pd.DataFrame) -> None:
    assert table(frame)["shape"] == list(frame.shape)


@pytest.mark.parametrize("value", [None, "text", 5, 2.5, True, {"a": 1}, [1, 2], object(), np.zeros((2, 2, 2))])
def test_what_its_text_says_as_well_has_no_rich_form(value: Any) -> None:
    assert output_bundles(value) == []


def test_several_rich_values_each_get_their_form() -> None:
    assert [set(bundle) for bundle in output_bundles([pd.Series([1]), "x", HTML("<b>y</b>")])] == [
        {TABLE_TYPE, "text/plain"},
        {"text/plain"},
    ]


def test_a_figure_becomes_a_picture_within_the_limit() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8))
    axes = figure.subplots()
    axes.imshow(np.random.default_rng(0).random((800, 800)))
    for value in (figure, axes):
        (bundle,) = output_bundles(value)
        assert len(bundle["image/jpeg"]) <= IMAGE_LIMIT
        assert decoded(bundle["image/jpeg"]).startswith(b"\xff\xd8\xff")
        assert bundle["text/plain"] == "figure, 800 × 800 pixels"


def test_a_figure_that_fits_is_kept_as_it_is() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3))
    figure.subplots().plot([1, 2])
    (bundle,) = output_bundles(figure)
    assert decoded(bundle["image/png"]).startswith(b"\x89PNG")


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "CMYK", "F", "P"])
def test_a_noisy_image_of_any_mode_is_made_to_fit(mode: str) -> None:
    from PIL import Image as Pictures

    noise = np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype=np.uint8)
    (bundle,) = output_bundles(Pictures.fromarray(noise).convert(mode))
    (data,) = [data for kind, data in bundle.items() if kind.startswith("image/")]
    assert len(data) <= IMAGE_LIMIT
    assert Pictures.open(io.BytesIO(decoded(data))).width <= 900


def test_bytes_of_a_picture_are_a_picture() -> None:
    assert output_bundles(b"\x89PNG rest") == [{"image/png": base64.b64encode(b"\x89PNG rest").decode()}]
    assert output_bundles(b"other") == []


def test_what_is_no_picture_and_too_large_is_left_out_with_words() -> None:
    assert fitted("image/png", "A" * (IMAGE_LIMIT + 4)) == {
        "text/plain": "image/png, left out: it takes more than 300 kB"
    }


def test_documents_become_their_words() -> None:
    assert output_bundles(HTML("<h1>Report</h1><script>x</script><p>a &amp; b</p>")) == [
        {"text/plain": "Report\na & b"}
    ]
    assert output_bundles(Markdown("**a**")) == [{"text/plain": "**a**"}]
    assert output_bundles(Image(data=b"\x89PNG rest", format="png")) == [
        {"image/png": base64.b64encode(b"\x89PNG rest").decode()}
    ]


def test_an_exception_shows_its_own_frames_without_colours() -> None:
    def failing() -> None:
        raise ValueError("\x1b[31mmonth must be in 1..12\x1b[0m")

    with pytest.raises(ValueError, match="month") as caught:
        failing()
    text = traceback_text(caught.value)
    assert output_bundles(caught.value) == [{"text/plain": text}]
    assert text.startswith("Traceback (most recent call last):\n")
    assert 'raise ValueError("' in text
    assert text.endswith("ValueError: month must be in 1..12")


def test_a_value_whose_own_code_fails_has_no_rich_form() -> None:
    class Broken(pd.DataFrame):
        @property
        def iloc(self) -> Any:
            raise RuntimeError("broken")

    assert output_bundles(Broken({"a": [1]})) == []


def test_charts_of_the_user_keep_their_data(monkeypatch: pytest.MonkeyPatch) -> None:
    class Figure:
        def to_json(self) -> str:
            return '{"data": [{"y": [1, NaN]}], "layout": {}}'

    class Chart:
        def to_dict(self) -> dict[str, Any]:
            return {"$schema": "https://vega.github.io/schema/vega-lite/v5.20.1.json", "mark": "bar"}

    monkeypatch.setitem(sys.modules, "plotly.basedatatypes", SimpleNamespace(BaseFigure=Figure))
    monkeypatch.setitem(sys.modules, "altair", SimpleNamespace(TopLevelMixin=Chart))
    (figure,) = output_bundles(Figure())
    assert figure["application/vnd.plotly.v1+json"] == {"data": [{"y": [1, None]}], "layout": {}}
    (chart,) = output_bundles(Chart())
    assert chart["application/vnd.vegalite.v5+json"]["mark"] == "bar"
    assert [set(bundle) for bundle in output_bundles(Figure(), "mcp")] == [{"text/plain"}]


def test_what_was_displayed_loses_its_colours_and_its_length() -> None:
    assert safe_bundle({"text/plain": "\x1b[1mbold\x1b[0m"}) == {"text/plain": "bold"}
    assert safe_bundle({"text/plain": ["a\n", "b"]}) == {"text/plain": "a\nb"}
    assert len(safe_bundle({"text/plain": "x" * 100_000})["text/plain"]) < 21_000


def test_our_own_tables_pass_and_others_do_not() -> None:
    (bundle,) = output_bundles(pd.DataFrame({"a": [1]}))
    assert safe_bundle(bundle) == bundle
    assert safe_bundle({TABLE_TYPE: {"columns": "x"}, "text/plain": "t"}) == {"text/plain": "t"}


def test_at_least_five_rows_are_shown_and_not_more_than_fit() -> None:
    assert rows_that_fit([["x" * 1000]] * 20) == 5
    assert rows_that_fit([["x"]] * 20) == 20


def test_looking_at_a_value_imports_no_library() -> None:
    code = (
        "import sys; from agent_magic.notebook.outputs import output_bundles; output_bundles([object(), {1: 2}]); "
        "print([name for name in ('pandas', 'numpy', 'polars', 'matplotlib', 'PIL', 'plotly', 'altair', 'markdown_it')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
