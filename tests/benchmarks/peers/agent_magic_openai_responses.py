"""agent_magic by the OpenAI Responses API."""

from agent_magic_agent import AgentMagic
from common import main


class AgentMagicResponses(AgentMagic):
    api, provider, root = "openai-responses", "openai", "/v1"


if __name__ == "__main__":
    main(AgentMagicResponses)
