"""The tools `variables` and `inspect`: what the notebook has, by name, type, shape and signature, never by value."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from ..tools.tool import AgentTool, ToolContext
from .callables import documentation_of, function_of, methods_of, signature_of
from .frames import schema_of
from .kinds import CONTAINERS, MISSING, kind_of
from .namespace import Namespace
from .wording import one_line

# Names that one call lists.
MAX_NAMES = 200
_KEYS = 50


def namespace_tools(namespace: Namespace) -> tuple[AgentTool, ...]:
    """Both tools."""

    def variables(arguments: dict[str, Any], context: ToolContext) -> str:
        return variables_text(namespace, str(arguments.get("pattern") or "*"))

    def inspect(arguments: dict[str, Any], context: ToolContext) -> str:
        return inspect_text(namespace, str(arguments["name"]))

    return (
        _tool(
            "variables",
            "List the variables of the notebook with their types, shapes and signatures, without values.",
            {"pattern": {"type": "string", "description": "Only names that fit this pattern, such as sales*."}},
            (),
            variables,
        ),
        _tool(
            "inspect",
            "Look at one variable: its columns, keys, signature, documentation or methods, without values.",
            {"name": {"type": "string", "description": "A name, or a dotted one such as module.function."}},
            ("name",),
            inspect,
        ),
    )


def _tool(
    name: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...], execute: Any
) -> AgentTool:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return AgentTool(name, description, schema, execute, effect="read", origin="builtin")


def variables_text(namespace: Namespace, pattern: str = "*") -> str:
    """One line a name, such as `df: DataFrame 12 × 3`; at most 200, and how many more there are."""
    names = [name for name in namespace.names() if fnmatchcase(name, pattern)]
    lines = [f"{name}: {words_of(namespace.value(name))}" for name in names[:MAX_NAMES]]
    if len(names) > MAX_NAMES:
        lines.append(f"… {len(names) - MAX_NAMES:,} more; give a pattern to narrow them down")
    return "\n".join(lines) or ("The notebook has no variables yet." if pattern == "*" else f"No name fits {pattern}.")


def words_of(value: Any) -> str:
    """What a variable is, in one line without its value."""
    if value is MISSING:
        return "no longer there"
    function = function_of(value)
    return one_line(kind_of(value) if function is None else f"{kind_of(value)} {signature_of(function)}", 300)


def inspect_text(namespace: Namespace, name: str) -> str:
    """What is known of one name without its value. Raises `LookupError` for an unknown one."""
    reached, value = namespace.lookup(name)
    if reached != name:
        raise LookupError(f"The notebook has no {name}. The tool variables lists the names.")
    lines = [f"{name}: {words_of(value)}", *schema_of(value), *_keys(value)]
    described = function_of(value) or (value if isinstance(value, type) else None)
    if isinstance(value, type):
        lines += [f"{value.__name__}{signature_of(value)}", *methods_of(value)]
    if described is not None and (documentation := documentation_of(described)):
        lines.append(documentation)
    return "\n".join(lines)


def _keys(value: Any) -> list[str]:
    """The keys of a dict that are texts, or the kinds of what a container begins with."""
    kind = type(value)
    if kind not in CONTAINERS:
        return []
    if kind is dict:
        return [
            f"  {one_line(key, 80) if isinstance(key, str) else f'<{kind_of(key)}>'}: {kind_of(each)}"
            for key, each in islice(value.items(), _KEYS)
        ] + ([f"  … {len(value) - _KEYS:,} more"] if len(value) > _KEYS else [])
    kinds = dict.fromkeys(kind_of(each) for each in islice(value, _KEYS))
    return [f"  holds {', '.join(list(kinds)[:10])}"] if kinds else []
