"""The type of `--as`: an annotation whose names are looked up in the namespace."""

from __future__ import annotations

import ast
import builtins
import typing
from collections.abc import Mapping
from typing import Annotated, Any

from IPython.core.error import UsageError

from ..agent.output_type import is_frame
from .flags import near

# What a namespace need not have imported.
_TYPING = {name: getattr(typing, name) for name in ("Annotated", "Any", "Literal", "Optional", "Union")}


def annotation_named(text: str, namespace: Mapping[str, Any]) -> Any:
    """The annotation that `text` is, such as `Person`, `list[Person]`, `Person | None` or `pd.DataFrame[Person]`.

    `DataFrame[Row]` stands for `Annotated[DataFrame, Row]`, a frame of such rows. Nothing is called. Raises
    `UsageError` for anything that is no annotation, and for names that are not there.
    """
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        raise UsageError(f'--as: {text} is no type. Put quotes around a type with spaces: --as "Row | None".') from None
    try:
        return _Reader(namespace).value(tree.body)
    except (TypeError, AttributeError) as error:
        raise UsageError(f"--as: {text} is no type: {error}.") from None


class _Reader:
    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self.value(node.value), node.attr)
        if isinstance(node, ast.Tuple):
            return tuple(map(self.value, node.elts))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.value(node.left) | self.value(node.right)
        if isinstance(node, ast.Subscript):
            base, parts = self.value(node.value), self.value(node.slice)
            return Annotated[base, parts] if is_frame(base) else base[parts]
        raise UsageError(
            f"--as takes the name of a type, or an annotation such as list[Person], not {ast.unparse(node)}."
        )

    def _named(self, name: str) -> Any:
        for known in (self._namespace, vars(builtins), _TYPING):
            if name in known:
                return known[name]
        names = [
            each for each, value in self._namespace.items() if isinstance(value, type) and not each.startswith("_")
        ]
        raise UsageError(
            f"--as: there is no {name} here.{near(name, names)} Define the type in a cell before this one."
        )
