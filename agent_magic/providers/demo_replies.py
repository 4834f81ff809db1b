"""What the demo model says. Its sentences are templates around names and results; it makes nothing up."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..messages import Content, ImageContent, ToolCall, ToolResultMessage
from .demo_matcher import Choice
from .demo_profile import Parameter, profile_of
from .offered_tools import OfferedTool
from .vendors import keys_present

_LINES = 8
_LINE_LENGTH = 160
_TOOLS = 12
# What the package says to a model in the place of an empty result.
_NOTHING = ("Done. The tool returned nothing.", "Done. It returned nothing.")
# One model of each vendor for the line to type; all are in the catalogue.
SUGGESTED = {
    "openai": "gpt-5-mini",
    "anthropic": "claude-haiku-4-5",
    "google": "gemini-2.5-flash",
    "openrouter": "openai/gpt-5-mini",
    "deepseek": "deepseek-chat",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-small-latest",
    "xai": "grok-4.3",
    "together": "openai/gpt-oss-120b",
    "cerebras": "gpt-oss-120b",
}
LABEL = "*demo: built-in, no language model*"
WHAT_IT_IS = "I am **demo**: built in, no language model. I match your words with the tools I am offered."


def what_is_called(calls: Sequence[Content]) -> str:
    written = [_code(call_text(call)) for call in calls if isinstance(call, ToolCall)]
    return f"I call {_listed(written)}."


def what_is_missing(choices: Sequence[Choice]) -> str:
    """A question for the arguments that the sentence did not give."""
    lines = [WHAT_IT_IS, ""]
    asked: set[tuple[str, str]] = set()
    for choice in choices:
        for parameter in choice.missing:
            if (choice.tool.name, parameter.name) not in asked:
                asked.add((choice.tool.name, parameter.name))
                lines.append(f"- Which **{_plain(parameter.name)}** for {_code(choice.tool.name)}?{_hint(parameter)}")
    return "\n".join(lines)


def what_can_be_done(tools: Sequence[OfferedTool], attached: Sequence[str] = ()) -> str:
    """What to say when no tool fits: what came along, which tools there are, and how to choose a real model."""
    return f"{WHAT_IT_IS} {_what_came_along(attached)}{_tools_on_offer(tools)}\n\n{_real_models()}"


def _what_came_along(attached: Sequence[str]) -> str:
    names = [_code(name) for name in attached]
    return f"With your message came {_listed(names)}, for a real model to read. " if names else ""


def what_came_back(result: ToolResultMessage, call: ToolCall | None) -> str:
    """A sentence with the first lines of a result."""
    name = _code(call_text(call) if call is not None else result.tool_name)
    text = result.text.strip()
    if text in _NOTHING:
        text = ""
    if result.is_error:
        lines = text.splitlines() or ["no reason was given"]
        return f"{name} failed: {_plain(lines[0][:_LINE_LENGTH])}" + _block(lines[1:], len(lines) - 1)
    pictures = sum(isinstance(block, ImageContent) for block in result.content)
    if not text:
        return f"{name} returned {'an image' if pictures == 1 else f'{pictures} images' if pictures else 'nothing'}."
    pairs = _flat_object(text)
    if pairs:
        return f"{name} returned:\n\n" + "\n".join(f"- {_plain(key)}: **{_plain(value)}**" for key, value in pairs)
    lines = text.splitlines()
    frame = _frame_in_words(lines)
    if frame:
        return f"{name} returned a {frame}."
    if len(lines) == 1 and len(text) <= _LINE_LENGTH:
        return f"{name} returned {_plain(text)}" + ("" if text.endswith((".", "!", "?")) else ".")
    return f"{name} returned:" + _block(lines, len(lines))


def call_text(call: ToolCall) -> str:
    """The call as Python would write it."""
    return f"{call.name}({', '.join(f'{name}={_short(value)}' for name, value in call.arguments.items())})"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _flat_object(text: str) -> list[tuple[str, str]]:
    """The pairs of a small JSON object of plain values, else none."""
    if not text.startswith("{") or len(text) > 1000:
        return []
    try:
        found = json.loads(text)
    except ValueError:
        return []
    if not isinstance(found, dict) or len(found) > 10:
        return []
    if any(isinstance(value, (dict, list)) for value in found.values()):
        return []
    return [(str(key), value if isinstance(value, str) else json.dumps(value)) for key, value in found.items()]


def _frame_in_words(lines: Sequence[str]) -> str:
    """The size of a whole table of numbers and the range of each column; the table itself stands in the card."""
    if len(lines) < 4 or not lines[1].startswith("Types: "):
        return ""
    names = lines[2].split()
    rows = [line.split()[1:] for line in lines[3:]]
    if any(len(row) != len(names) for row in rows) or not lines[0].startswith(f"DataFrame of {len(rows)} row"):
        return ""
    ranges = []
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        try:
            ordered = sorted(column, key=float)
        except ValueError:
            return ""
        ranges.append(f"{_plain(name)} {ordered[0]} to {ordered[-1]}")
    return f"{_plain(lines[0])}: {', '.join(ranges)}"


def _block(lines: Sequence[str], total: int) -> str:
    """The first lines: a Markdown table as it is, anything else in a fence."""
    if not lines:
        return ""
    shown = [line if len(line) <= _LINE_LENGTH else f"{line[: _LINE_LENGTH - 1]}…" for line in lines[:_LINES]]
    more = f"\n\n{total - len(shown)} more lines are in the tool's card." if total > len(shown) else ""
    if all(line.startswith("|") for line in shown):
        return "\n\n" + "\n".join(shown) + more
    longest = max((len(run) for line in shown for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n\n" + "\n".join((f"{fence}text", *shown, fence)) + more


def _hint(parameter: Parameter) -> str:
    choices = parameter.choices or (parameter.item.choices if parameter.item is not None else ())
    words = [_plain(parameter.description)] if parameter.description else []
    if choices:
        words.append(f"One of {', '.join(_plain(str(each)) for each in choices)}.")
    elif parameter.kind in ("date", "date-time"):
        words.append("Such as 3 March 2026.")
    return f" {' '.join(words)}" if words else ""


def _tools_on_offer(tools: Sequence[OfferedTool]) -> str:
    if not tools:
        return "There is no tool yet: write `@tool` above a function with a docstring, and ask again."
    lines = ["For this I found none that surely fits, so I called nothing. I have:", ""]
    for tool in tools[:_TOOLS]:
        names = [each.name if each.required else f"{each.name}=…" for each in profile_of(tool).parameters]
        first = tool.description.strip().partition("\n")[0]
        signature = _code(f"{tool.name}({', '.join(names)})")
        lines.append(f"- {signature}: {_plain(first)}" if first else f"- {signature}")
    if len(tools) > _TOOLS:
        lines.append(f"- and {len(tools) - _TOOLS} more")
    return "\n".join(lines)


def _real_models() -> str:
    keys = keys_present()
    vendor = next((name for name in SUGGESTED if name in keys), "openai")
    line = f"`%agent model {vendor}/{SUGGESTED[vendor]}`"
    local = "`%agent models local` looks for model servers on this machine."
    if keys:
        found = _listed([_code(variable) for variable in keys.values()])
        return f"For a real model, type {line}: the environment has {found}. {local}"
    return f"For a real model, set a key such as `OPENAI_API_KEY` and type {line}. {local}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _code(text: str) -> str:
    """A code span; its marks are longer than any run of backticks in `text`."""
    text = " ".join(text.split())
    mark = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{mark}{pad}{text}{pad}{mark}"


def _plain(text: str) -> str:
    """`text` on one line, with what Markdown would read as a sign escaped."""
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", " ".join(text.split()))
