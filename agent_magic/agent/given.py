"""What a user may give an agent in more than one form: a model, tools, a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import AgentMagicError
from ..messages import Content, UserMessage, tools_by_name
from ..models import Model
from ..tools.tool import AgentTool


def resolved_model(model: Model | str) -> Model:
    if isinstance(model, Model):
        return model
    from ..providers.catalogue import get_model

    return get_model(model)


def as_tool(tool: Any) -> Any:
    """`tool` itself, or the tool made of a plain function."""
    if isinstance(tool, AgentTool) or not callable(tool):
        return tool
    from ..tools.function import tool as make_tool

    return make_tool(tool)


def named_tools(tools: Mapping[str, Any] | Iterable[Any]) -> Mapping[str, Any]:
    given = tools.values() if isinstance(tools, Mapping) else tools
    return tools_by_name([as_tool(tool) for tool in given]) or {}


def as_messages(message: Any, images: Iterable[Content] = ()) -> list[Any]:
    """What a prompt may be, as messages: a text with images, a message, or a list of these."""
    pictures = list(images)
    if isinstance(message, str):
        return [UserMessage([message, *pictures] if message else pictures)]
    several = list(message) if isinstance(message, (list, tuple)) else [message]
    messages = [UserMessage(each) if isinstance(each, str) else each for each in several]
    for each in messages:
        if not hasattr(each, "role"):
            raise AgentMagicError(f"A prompt is a text, a message or a list of these, not {type(each).__name__}.")
    return [*messages, UserMessage(pictures)] if pictures else messages
