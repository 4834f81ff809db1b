"""agent_magic: an LLM agent in your notebook.

    %load_ext agent_magic

Everything public is an attribute of this package and is loaded when it is first used, so that `import agent_magic`
costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names by the module that defines them; `__init__.pyi` says the same to type checkers, and a test compares both.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "abort": ("AbortSignal",),
    "config": (
        "EmbeddingConfig",
        "ImageConfig",
        "PromptCaching",
        "QueueMode",
        "RequestConfig",
        "SpeakerConfig",
        "StopReason",
        "ThinkingLevel",
        "ToolChoice",
        "ToolExecutionMode",
        "ToolSchema",
    ),
    "conversion": (
        "BRANCH_SUMMARY_PREFIX",
        "BRANCH_SUMMARY_SUFFIX",
        "COMPACTION_SUMMARY_PREFIX",
        "COMPACTION_SUMMARY_SUFFIX",
        "convert_to_llm",
        "convert_to_llm_message",
    ),
    "errors": (
        "AbortedError",
        "AgentBusyError",
        "AgentHubError",
        "AgentMagicError",
        "AuthenticationError",
        "BadRequestError",
        "BudgetExceededError",
        "ContentFilterError",
        "ContextOverflowError",
        "EmptyResponseError",
        "InvalidDataError",
        "MCPServerError",
        "OutputTypeError",
        "ProviderError",
        "RateLimitError",
        "ReplayError",
        "ServerConnectionError",
        "ServerError",
        "SessionError",
        "SessionLockedError",
        "StreamInterruptedError",
        "ToolCallArgumentParseError",
        "ToolDefinitionError",
        "ToolExecutionError",
        "ToolTimeoutError",
        "ToolValidationError",
        "UnknownModelError",
        "UnsupportedParameterError",
    ),
    "events": (
        "AgentEndEvent",
        "AgentEvent",
        "AgentStartEvent",
        "EmbeddingItem",
        "InlineDataItem",
        "MessageEndEvent",
        "NoteEvent",
        "MessageStartEvent",
        "MessageUpdateEvent",
        "PartialToolCall",
        "StreamEvent",
        "TextDelta",
        "ThinkingDelta",
        "ToolCallItem",
        "ToolExecutionEndEvent",
        "ToolExecutionStartEvent",
        "ToolExecutionUpdateEvent",
        "TurnEndEvent",
        "TurnStartEvent",
    ),
    "messages": (
        "AgentContext",
        "AgentMessage",
        "AssistantMessage",
        "BashExecutionMessage",
        "BranchSummaryMessage",
        "CompactionSummaryMessage",
        "Content",
        "Context",
        "CustomMessage",
        "Embedding",
        "ImageContent",
        "InlineData",
        "Message",
        "TextContent",
        "ThinkingContent",
        "ToolCall",
        "ToolResultMessage",
        "UserMessage",
    ),
    "models": ("Model", "ModelCost"),
    "stored": ("messages_from_json", "messages_to_json"),
    "uni": ("messages_from_uni", "messages_to_uni"),
    "usage": ("Usage", "UsageCost"),
    "providers.apis": ("register_api",),
    "providers.catalogue": ("get_model", "list_models"),
    "providers.request": ("complete", "stream"),
    "providers.scripted": ("Delay", "scripted"),
    "tools.function": ("tool",),
    "tools.mcp": ("MCPServerState", "MCPServers"),
    "tools.mcp_config": ("MCPServerConfig",),
    "tools.tool": ("AgentTool", "AgentToolResult", "ToolContext"),
    "tools.validation": ("validate_required_args", "validate_tool_arguments"),
    "agent.agent": ("Agent",),
    "agent.budget": ("Budget",),
    "agent.loop_config": ("AgentLoopConfig", "Block", "Turn", "TurnUpdate"),
    "agent.many": ("Progress",),
    "agent.policy": ("ApprovalAnswer", "ApprovalRequest", "Approver", "Policy"),
    "agent.reply": ("Reply", "StopCause"),
    "agent.state": ("AgentState",),
    "session.session": ("Session",),
    "notebook.chat_widget": ("panel",),
    "notebook.kernel": ("get_agent",),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'agent_magic' has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])


def trace_of(trace_id: str) -> Any:
    """What writes down the requests and tools of this `trace_id`; loaded by the first request that carries one."""
    from .session.trace import Trace

    return Trace(trace_id)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext agent_magic`."""
    from .notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext agent_magic`; undoes everything that loading did."""
    from .notebook.extension import unload

    unload(shell)
