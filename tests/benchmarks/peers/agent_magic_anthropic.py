"""agent_magic by the Anthropic Messages API."""

from agent_magic_agent import AgentMagic
from common import main


class AgentMagicAnthropic(AgentMagic):
    api, provider, root = "anthropic", "anthropic", ""


if __name__ == "__main__":
    main(AgentMagicAnthropic)
