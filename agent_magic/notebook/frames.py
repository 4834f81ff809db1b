"""Frames of pandas and polars as text: columns with their types, the first rows, statistics.

Statistics of a long frame are those of every so many-th row, so that the time does not grow with the frame.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from .kinds import is_a
from .wording import count, one_line

MAX_COLUMNS = 30
_HEAD = 5
_CELL = 60
_NAME = 80
# Values that statistics are made of.
_SAMPLED = 1_000_000
_COMMON = 3

# Kinds of values in a pandas column that can be counted without running code of the user's.
_COUNTABLE = ("string", "integer", "boolean", "floating", "date", "datetime", "decimal", "categorical")


def describe(value: Any) -> Iterator[str] | None:
    """What a frame or series is; None for anything else. A lazy frame is not computed."""
    if is_a(value, "pandas", "DataFrame"):
        return _pandas_frame(value)
    if is_a(value, "pandas", "Series"):
        return _pandas_series(value)
    if is_a(value, "polars", "DataFrame"):
        return _polars_frame(value, "DataFrame")
    if is_a(value, "polars", "Series"):
        return _polars_series(value)
    if is_a(value, "polars", "LazyFrame"):
        return _lazy_frame(value)
    return None


def schema_of(value: Any) -> list[str]:
    """The columns of a frame with their types, one a line, the number left out last; empty for anything else."""
    if is_a(value, "pandas", "DataFrame"):
        return _schema(
            len(value.columns), zip(value.columns[:MAX_COLUMNS], value.dtypes.iloc[:MAX_COLUMNS], strict=True)
        )
    if is_a(value, "polars", "DataFrame"):
        return _schema(value.width, zip(value.columns[:MAX_COLUMNS], value.dtypes[:MAX_COLUMNS], strict=True))
    if is_a(value, "polars", "LazyFrame"):
        schema = value.collect_schema() if hasattr(value, "collect_schema") else value.schema
        return _schema(len(schema), list(schema.items())[:MAX_COLUMNS])
    return []


def _schema(total: int, columns: Any) -> list[str]:
    lines = [f"  {_label(name)}: {kind}" for name, kind in columns]
    return lines + ([f"  … {count(total - MAX_COLUMNS, 'more column')}, not shown"] if total > MAX_COLUMNS else [])


def _label(name: Any) -> str:
    return one_line(str(name), _NAME)


def _size(kind: str, rows: int, columns: int) -> str:
    return f"{kind} of {count(rows, 'row')} and {count(columns, 'column')}"


def _step(values: int) -> int:
    return max(1, -(-values // _SAMPLED))


def _statistics(step: int, lines: Sequence[str]) -> str:
    return "\n".join([f"Statistics{_of_rows(step)}:", *lines])


def _of_rows(step: int) -> str:
    return "" if step == 1 else f" (of one row in {step:,})"


def _line(name: str, missing: int, parts: Sequence[str]) -> str:
    return f"  {name}: " + ", ".join([*parts, f"{missing:,} missing" if missing else "none missing"])


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) or type(value).__name__.startswith("float") else str(value)


def _range(lowest: Any, mean: Any, highest: Any) -> list[str]:
    return [f"minimum {_number(lowest)}", f"mean {_number(mean)}", f"maximum {_number(highest)}"]


def _common(distinct: int, common: Any) -> list[str]:
    shown = ", ".join(f"{one_line(str(value), 40)} ({times:,})" for value, times in common)
    return [f"{count(distinct, 'distinct value')}, most often {shown}"] if shown else []


# pandas -------------------------------------------------------------------------------------------------------------


def _pandas_frame(frame: Any) -> Iterator[str]:
    rows, columns = frame.shape
    yield _size("pandas DataFrame", rows, columns)
    yield "\n".join(["Columns:", *schema_of(frame)])
    if type(frame.index).__name__ != "RangeIndex":
        yield f"Index: {type(frame.index).__name__} {', '.join(_label(name) for name in frame.index.names)}"
    shown = frame.iloc[:, :MAX_COLUMNS]
    if rows:
        yield f"First {count(min(rows, _HEAD), 'row')}:\n" + shown.iloc[:_HEAD].to_string(max_colwidth=_CELL)
        step = _step(rows * max(1, shown.shape[1]))
        sample = shown.iloc[::step]
        lines = [_pandas_line(_label(name), sample.iloc[:, place]) for place, name in enumerate(shown.columns)]
        yield _statistics(step, lines)


def _pandas_series(series: Any) -> Iterator[str]:
    yield f"pandas Series {_label(series.name)} of {count(len(series), 'value')}, {series.dtype}"
    if len(series):
        yield f"First {count(min(len(series), _HEAD), 'value')}:\n" + series.iloc[:_HEAD].to_string()
        step = _step(len(series))
        yield _statistics(step, [_pandas_line("values", series.iloc[::step])])


def _pandas_line(name: str, column: Any) -> str:
    missing = int(column.isna().sum())
    present = column.dropna() if missing else column
    return _line(name, missing, _pandas_parts(present) if len(present) else [])


def _pandas_parts(column: Any) -> list[str]:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf":
        return _range(column.min(), column.mean(), column.max())
    if kind in "mM":
        return [f"from {column.min()} to {column.max()}"]
    if kind == "b":
        return [f"{int(column.sum()):,} true"]
    if sys.modules["pandas"].api.types.infer_dtype(column, skipna=True) not in _COUNTABLE:
        return []
    counts = column.value_counts()
    return _common(len(counts), counts.head(_COMMON).items())


# polars -------------------------------------------------------------------------------------------------------------


def _polars_frame(frame: Any, kind: str) -> Iterator[str]:
    yield _size(f"polars {kind}", frame.height, frame.width)
    yield "\n".join(["Columns:", *schema_of(frame)])
    shown = frame.select(frame.columns[:MAX_COLUMNS])
    if frame.height:
        yield f"First {count(min(frame.height, _HEAD), 'row')}:\n" + _rows(shown)
        step = _step(frame.height * max(1, shown.width))
        sample = shown.gather_every(step)
        yield _statistics(step, [_polars_line(_label(name), sample[name]) for name in sample.columns])


def _polars_series(series: Any) -> Iterator[str]:
    yield f"polars Series {_label(series.name)} of {count(len(series), 'value')}, {series.dtype}"
    if len(series):
        yield f"First {count(min(len(series), _HEAD), 'value')}: " + ", ".join(map(_cell, series.head(_HEAD).to_list()))
        step = _step(len(series))
        yield _statistics(step, [_polars_line("values", series.gather_every(step))])


def _lazy_frame(frame: Any) -> Iterator[str]:
    yield "polars LazyFrame, not computed"
    yield "\n".join(["Columns:", *schema_of(frame)])


def _rows(frame: Any) -> str:
    rows = [frame.columns, *frame.head(_HEAD).rows()]
    return "\n".join(" | ".join(map(_cell, row)) for row in rows)


def _cell(value: Any) -> str:
    return one_line(str(value), _CELL)


def _polars_line(name: str, column: Any) -> str:
    missing = column.null_count()
    return _line(name, missing, _polars_parts(column) if missing < len(column) else [])


def _polars_parts(column: Any) -> list[str]:
    polars = sys.modules["polars"]
    if column.dtype.is_numeric():
        return _range(column.min(), column.mean(), column.max())
    if column.dtype.is_temporal():
        return [f"from {column.min()} to {column.max()}"]
    if column.dtype == polars.Boolean:
        return [f"{column.sum():,} true"]
    if column.dtype not in (polars.String, polars.Categorical, polars.Enum):
        return []
    counts = column.drop_nulls().value_counts(sort=True)
    return _common(counts.height, counts.head(_COMMON).rows())
