from typing import Any

from .abort import (
    AbortSignal as AbortSignal,
)
from .agent.agent import (
    Agent as Agent,
)
from .agent.budget import (
    Budget as Budget,
)
from .agent.loop_config import (
    AgentLoopConfig as AgentLoopConfig,
    Block as Block,
    Turn as Turn,
    TurnUpdate as TurnUpdate,
)
from .agent.many import (
    Progress as Progress,
)
from .agent.policy import (
    ApprovalAnswer as ApprovalAnswer,
    ApprovalRequest as ApprovalRequest,
    Approver as Approver,
    Policy as Policy,
)
from .agent.reply import (
    Reply as Reply,
    StopCause as StopCause,
)
from .agent.state import (
    AgentState as AgentState,
)
from .config import (
    EmbeddingConfig as EmbeddingConfig,
    ImageConfig as ImageConfig,
    PromptCaching as PromptCaching,
    QueueMode as QueueMode,
    RequestConfig as RequestConfig,
    SpeakerConfig as SpeakerConfig,
    StopReason as StopReason,
    ThinkingLevel as ThinkingLevel,
    ToolChoice as ToolChoice,
    ToolExecutionMode as ToolExecutionMode,
    ToolSchema as ToolSchema,
)
from .conversion import (
    BRANCH_SUMMARY_PREFIX as BRANCH_SUMMARY_PREFIX,
    BRANCH_SUMMARY_SUFFIX as BRANCH_SUMMARY_SUFFIX,
    COMPACTION_SUMMARY_PREFIX as COMPACTION_SUMMARY_PREFIX,
    COMPACTION_SUMMARY_SUFFIX as COMPACTION_SUMMARY_SUFFIX,
    convert_to_llm as convert_to_llm,
    convert_to_llm_message as convert_to_llm_message,
)
from .errors import (
    AbortedError as AbortedError,
    AgentBusyError as AgentBusyError,
    AgentHubError as AgentHubError,
    AgentMagicError as AgentMagicError,
    AuthenticationError as AuthenticationError,
    BadRequestError as BadRequestError,
    BudgetExceededError as BudgetExceededError,
    ContentFilterError as ContentFilterError,
    ContextOverflowError as ContextOverflowError,
    EmptyResponseError as EmptyResponseError,
    InvalidDataError as InvalidDataError,
    MCPServerError as MCPServerError,
    OutputTypeError as OutputTypeError,
    ProviderError as ProviderError,
    RateLimitError as RateLimitError,
    ReplayError as ReplayError,
    ServerConnectionError as ServerConnectionError,
    ServerError as ServerError,
    SessionError as SessionError,
    SessionLockedError as SessionLockedError,
    StreamInterruptedError as StreamInterruptedError,
    ToolCallArgumentParseError as ToolCallArgumentParseError,
    ToolDefinitionError as ToolDefinitionError,
    ToolExecutionError as ToolExecutionError,
    ToolTimeoutError as ToolTimeoutError,
    ToolValidationError as ToolValidationError,
    UnknownModelError as UnknownModelError,
    UnsupportedParameterError as UnsupportedParameterError,
)
from .events import (
    AgentEndEvent as AgentEndEvent,
    AgentEvent as AgentEvent,
    AgentStartEvent as AgentStartEvent,
    EmbeddingItem as EmbeddingItem,
    InlineDataItem as InlineDataItem,
    MessageEndEvent as MessageEndEvent,
    MessageStartEvent as MessageStartEvent,
    MessageUpdateEvent as MessageUpdateEvent,
    NoteEvent as NoteEvent,
    PartialToolCall as PartialToolCall,
    StreamEvent as StreamEvent,
    TextDelta as TextDelta,
    ThinkingDelta as ThinkingDelta,
    ToolCallItem as ToolCallItem,
    ToolExecutionEndEvent as ToolExecutionEndEvent,
    ToolExecutionStartEvent as ToolExecutionStartEvent,
    ToolExecutionUpdateEvent as ToolExecutionUpdateEvent,
    TurnEndEvent as TurnEndEvent,
    TurnStartEvent as TurnStartEvent,
)
from .messages import (
    AgentContext as AgentContext,
    AgentMessage as AgentMessage,
    AssistantMessage as AssistantMessage,
    BashExecutionMessage as BashExecutionMessage,
    BranchSummaryMessage as BranchSummaryMessage,
    CompactionSummaryMessage as CompactionSummaryMessage,
    Content as Content,
    Context as Context,
    CustomMessage as CustomMessage,
    Embedding as Embedding,
    ImageContent as ImageContent,
    InlineData as InlineData,
    Message as Message,
    TextContent as TextContent,
    ThinkingContent as ThinkingContent,
    ToolCall as ToolCall,
    ToolResultMessage as ToolResultMessage,
    UserMessage as UserMessage,
)
from .models import (
    Model as Model,
    ModelCost as ModelCost,
)
from .notebook.chat_widget import panel as panel
from .notebook.kernel import (
    get_agent as get_agent,
)
from .providers.apis import (
    register_api as register_api,
)
from .providers.catalogue import (
    get_model as get_model,
    list_models as list_models,
)
from .providers.request import (
    complete as complete,
    stream as stream,
)
from .providers.scripted import (
    Delay as Delay,
    scripted as scripted,
)
from .session.session import (
    Session as Session,
)
from .stored import (
    messages_from_json as messages_from_json,
    messages_to_json as messages_to_json,
)
from .tools.function import (
    tool as tool,
)
from .tools.mcp import (
    MCPServers as MCPServers,
    MCPServerState as MCPServerState,
)
from .tools.mcp_config import (
    MCPServerConfig as MCPServerConfig,
)
from .tools.tool import (
    AgentTool as AgentTool,
    AgentToolResult as AgentToolResult,
    ToolContext as ToolContext,
)
from .tools.validation import (
    validate_required_args as validate_required_args,
    validate_tool_arguments as validate_tool_arguments,
)
from .uni import (
    messages_from_uni as messages_from_uni,
    messages_to_uni as messages_to_uni,
)
from .usage import (
    Usage as Usage,
    UsageCost as UsageCost,
)

__version__: str

def trace_of(trace_id: str) -> Any: ...
def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
