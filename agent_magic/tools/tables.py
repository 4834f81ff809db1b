"""Frames and arrays as text: what they are, and how they begin."""

from __future__ import annotations

import sys
from typing import Any

from ..messages import TextContent

# What a table shows to a model.
HEAD_ROWS = 20
HEAD_COLUMNS = 30
MAX_CELL = 80

# Values that an array may have to be shown whole by numpy.
WHOLE_ARRAY = 400

# Values that an array may have to be summarised; more would take noticeable time and memory.
MAX_SUMMARISED = 10_000_000


def describe(value: Any) -> tuple[TextContent, ...] | None:
    """The text of a pandas, polars or numpy value, or of a tensor; None for anything else."""
    for library, kinds, write in (
        ("pandas", ("DataFrame",), _pandas_frame),
        ("pandas", ("Series", "Index"), _pandas_column),
        ("polars", ("DataFrame",), _polars_frame),
        ("polars", ("Series",), _polars_series),
        ("polars", ("LazyFrame",), _lazy_frame),
        ("numpy", ("ndarray",), _array),
        ("torch", ("Tensor",), _tensor),
    ):
        module = sys.modules.get(library)
        classes = tuple(kind for name in kinds if isinstance(kind := getattr(module, name, None), type))
        if classes and isinstance(value, classes):
            text = write(value)
            return None if text is None else (TextContent(text),)
    return None


def _size(rows: int, columns: int, kind: str) -> str:
    return f"{kind} of {rows:,} row{'' if rows == 1 else 's'} and {columns:,} column{'' if columns == 1 else 's'}"


def _pandas_frame(frame: Any) -> str:
    rows, columns = frame.shape
    shown = frame.iloc[:HEAD_ROWS, :HEAD_COLUMNS]
    types = ", ".join(f"{name} {kind}" for name, kind in zip(shown.columns, shown.dtypes, strict=True))
    table = shown.to_string(max_colwidth=MAX_CELL, show_dimensions=False)
    return _table(_size(rows, columns, "DataFrame"), types, table, rows, columns)


def _table(size: str, types: str, table: str, rows: int, columns: int) -> str:
    left_out = [
        f"{total - shown:,} more {what}"
        for total, shown, what in ((rows, HEAD_ROWS, "rows"), (columns, HEAD_COLUMNS, "columns"))
        if total > shown
    ]
    note = f"\n[{' and '.join(left_out)}]" if left_out else ""
    return f"{size}\nTypes: {types}\n{table}{note}"


def _pandas_column(column: Any) -> str:
    name = f" {column.name!r}" if column.name is not None else ""
    shown = column[:HEAD_ROWS]
    series = shown if hasattr(shown, "to_string") else shown.to_series(index=range(len(shown)))
    left_out = f"\n[{len(column) - HEAD_ROWS:,} more values]" if len(column) > HEAD_ROWS else ""
    return f"{type(column).__name__}{name} of {len(column):,} values, {column.dtype}\n{series.to_string()}{left_out}"


def _polars_frame(frame: Any) -> str:
    rows, columns = frame.shape
    shown = frame[:HEAD_ROWS, :HEAD_COLUMNS]
    types = ", ".join(f"{name} {kind}" for name, kind in zip(shown.columns, shown.dtypes, strict=True))
    return _table(_size(rows, columns, "polars DataFrame"), types, _polars_text(shown), rows, columns)


def _polars_series(series: Any) -> str:
    left_out = f"\n[{len(series) - HEAD_ROWS:,} more values]" if len(series) > HEAD_ROWS else ""
    text = _polars_text(series[:HEAD_ROWS].to_frame())
    return f"polars Series {series.name!r} of {len(series):,} values, {series.dtype}\n{text}{left_out}"


def _polars_text(frame: Any) -> str:
    polars = sys.modules["polars"]
    with polars.Config(
        tbl_rows=HEAD_ROWS,
        tbl_cols=HEAD_COLUMNS,
        tbl_formatting="ASCII_MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        fmt_str_lengths=MAX_CELL,
    ):
        return str(frame)


def _lazy_frame(frame: Any) -> str:
    types = ", ".join(f"{name} {kind}" for name, kind in frame.collect_schema().items())
    return f"polars LazyFrame, not computed yet\nTypes: {types}"


def _array(array: Any) -> str | None:
    if array.ndim == 0:
        return str(array)
    if array.dtype == object:
        from .figures import figure_of

        if figure_of(array) is not None:
            return None
    numpy = sys.modules["numpy"]
    text = numpy.array2string(array, threshold=WHOLE_ARRAY, edgeitems=4)
    return f"Array of shape {array.shape}, {array.dtype}\n{text}{_range(numpy, array)}"


def _range(numpy: Any, array: Any) -> str:
    """The extremes and the mean of the numbers that the text of a large array leaves out."""
    if not WHOLE_ARRAY < array.size <= MAX_SUMMARISED or array.dtype.kind not in "iuf":
        return ""
    numbers = array[numpy.isfinite(array)]
    if not numbers.size:
        return ""
    return f"\nminimum {numbers.min():g}, mean {numbers.mean():g}, maximum {numbers.max():g}"


def _tensor(tensor: Any) -> str:
    return f"Tensor of shape {tuple(tensor.shape)}, {tensor.dtype}, on {tensor.device}\n{tensor!s}"
