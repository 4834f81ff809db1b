"""agent_magic by the Gemini API."""

from agent_magic_agent import AgentMagic
from common import main


class AgentMagicGemini(AgentMagic):
    api, provider, root = "gemini", "google", ""


if __name__ == "__main__":
    main(AgentMagicGemini)
