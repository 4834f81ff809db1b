"""Tables as data: what a frame or an array becomes in a record, and how much of it is shown."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from .limits import DETAIL_LIMIT, FALLBACK_LIMIT, with_note
from .wording import count, without_ansi

TABLE_TYPE = "application/vnd.agent-magic.table+json"

_MAX_ROWS = 50
_MAX_COLUMNS = 20
_MAX_CELL = 100


def loaded(module: str, name: str) -> tuple[Any, ...]:
    """The class `name` of `module` if that has been imported: only then can a value be one."""
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if isinstance(found, type) else ()


def table_of(value: Any) -> dict[str, Any] | None:
    """A frame, series or array of one or two dimensions as a mimebundle; None for anything else."""
    columns: Sequence[Any]
    index: list[str] | None = None
    if isinstance(value, loaded("pandas", "Series")):
        value = value.to_frame(name="value" if value.name is None else value.name)
    if isinstance(value, loaded("pandas", "DataFrame")):
        top = value.iloc[:_MAX_ROWS, :_MAX_COLUMNS]
        columns, index = list(top.columns), [_cell(each) for each in top.index]
        # Where there are no columns some versions of pandas give no rows either.
        rows = list(top.itertuples(index=False, name=None)) or [()] * len(top)
        name = "DataFrame"
    elif isinstance(value, loaded("polars", "DataFrame") + loaded("polars", "Series")):
        frame = value.to_frame() if isinstance(value, loaded("polars", "Series")) else value
        value = frame
        top = frame.head(_MAX_ROWS).select(frame.columns[:_MAX_COLUMNS])
        columns, rows, name = top.columns, top.rows(), "DataFrame"
    elif isinstance(value, loaded("numpy", "ndarray")) and value.ndim in (1, 2) and value.dtype.names is None:
        top = value[:_MAX_ROWS] if value.ndim == 1 else value[:_MAX_ROWS, :_MAX_COLUMNS]
        rows = [(each,) for each in top.tolist()] if value.ndim == 1 else top.tolist()
        columns, name = range(1 if value.ndim == 1 else top.shape[1]), f"{value.dtype} array"
        index = [str(number) for number in range(len(rows))]
    else:
        return None
    numeric = [
        place
        for place in range(len(columns))
        if rows and all(isinstance(row[place], (int, float)) or _cell(row[place]) == "" for row in rows)
    ]
    table = {
        "name": name,
        "columns": [_cell(column) for column in columns],
        "index": index,
        "rows": [[_cell(each) for each in row] for row in rows],
        "numeric": numeric,
        "shape": [int(size) for size in value.shape],
    }
    return {TABLE_TYPE: table, "text/plain": with_note(without_ansi(repr(value)), DETAIL_LIMIT)}


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and not isinstance(value, bool):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:,.0f}" if abs(value) < 1e15 else f"{value:g}"
    text = with_note(str(value), _MAX_CELL * 4)
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"


def is_table(data: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether `data` has the shape of a table of ours."""
    if not isinstance(data, Mapping) or not isinstance(data.get("columns"), list):
        return False
    rows, index, shape = data.get("rows"), data.get("index"), data.get("shape")
    return (
        isinstance(rows, list)
        and all(isinstance(row, list) for row in rows)
        and (index is None or (isinstance(index, list) and len(index) == len(rows)))
        and isinstance(shape, list)
        and all(isinstance(size, int) for size in shape)
    )


def rows_that_fit(rows: Sequence[Sequence[Any]], limit: int = FALLBACK_LIMIT) -> int:
    """How many rows, at least five, a readable form shows."""
    for number, row in enumerate(rows):
        limit -= sum(len(str(cell)) + 1 for cell in row)
        if limit < 0 and number >= 5:
            return number
    return len(rows)


def table_title(table: Mapping[str, Any], shown: int) -> str:
    """Such as `DataFrame 12 × 3`, and how much of it is shown where that is not all."""
    shape = list(table.get("shape") or ())
    columns = len(table.get("columns") or ())
    title = " ".join(part for part in (str(table.get("name") or ""), " × ".join(f"{size:,}" for size in shape)) if part)
    hidden = []
    if shape and shown < shape[0]:
        hidden.append(f"the first {count(shown, 'row')}")
    if len(shape) > 1 and columns < shape[1]:
        hidden.append(f"the first {count(columns, 'column')}")
    return f"{title} · {', '.join(hidden)}" if hidden else title
