"""What an MCP server sent back for a call, as the result of a tool."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from ..messages import Content, TextContent
from .images import image_content, image_type
from .mcp_text import fenced, label, without_hidden
from .tool import AgentToolResult

# Characters of JSON that are kept beside the content, for programs.
MAX_STRUCTURED = 100_000


def agent_result(server: str, tool: str, result: Any) -> AgentToolResult:
    """A `CallToolResult` of the `mcp` package as an `AgentToolResult` (source: Y SP-010).

    Texts are fenced for the model; people see them as they are.
    """
    content: list[Content] = []
    texts: list[str] = []
    for block in result.content:
        text, others = _read(block)
        content += [TextContent(fenced(text))] if text is not None else others
        texts += [] if text is None else [text]
    details: dict[str, Any] = {"server": server, "tool": tool}
    structured = result.structured_content
    if structured is not None:
        shown = json.dumps(structured, ensure_ascii=False)
        if not any(_says(text, structured) for text in texts):
            content.append(TextContent(fenced(without_hidden(shown))))
        if len(shown) <= MAX_STRUCTURED:
            details["structuredContent"] = structured
    if not content:
        content.append(
            TextContent("It failed and did not say why." if result.is_error else "Done. It returned nothing.")
        )
    only_text = len(texts) == len(content)
    value = structured if structured is not None else "\n".join(texts) if only_text and texts else None
    return AgentToolResult(_separated(content), details, is_error=bool(result.is_error), value=value, untrusted=True)


def _separated(content: list[Content]) -> list[Content]:
    """Blocks whose texts do not run into each other."""
    return [
        TextContent(f"{block.text}\n") if isinstance(block, TextContent) and block is not content[-1] else block
        for block in content
    ]


def _says(text: str, structured: Any) -> bool:
    """Whether the text is what the structure says; a library wraps what is no object into one as its `result`."""
    if structured == {"result": text}:
        return True
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


def _read(block: Any) -> tuple[str | None, list[Content]]:
    """The text that a block is, or else what it becomes."""
    kind = block.type
    if kind == "text":
        return without_hidden(block.text), []
    if kind == "image":
        return None, [_binary(block.data, block.mime_type, "image")]
    if kind == "audio":
        return None, [_binary(block.data, block.mime_type, "sound")]
    if kind == "resource_link":
        parts = [block.title or block.name, f"<{block.uri}>", block.mime_type or "", block.description or ""]
        return without_hidden("A resource of the server: " + " ".join(part for part in parts if part)), []
    if kind == "resource":
        resource = block.resource
        text = getattr(resource, "text", None)
        if text is not None:
            return without_hidden(f"The resource <{resource.uri}>:\n{text}"), []
        return None, [_binary(resource.blob, resource.mime_type, f"resource <{resource.uri}>")]
    return f"A block of the unknown type {label(str(kind))}.", []


def _binary(data: str, mime_type: str | None, what: str) -> Content:
    try:
        raw = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return TextContent(f"[The server sent {label(what)} in broken base64.]")
    kind = image_type(raw)
    if kind is not None:
        return image_content(raw, kind)
    kind_of_data = label(mime_type or "unknown type")
    return TextContent(f"[{label(what)} of {len(raw):,} bytes ({kind_of_data}), which is not shown]")
