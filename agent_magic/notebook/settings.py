"""The defaults of a kernel's agent, as traits: `%config AgentMagic.model = "..."`, or in a config file of IPython."""

from __future__ import annotations

import os
from typing import Any

from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode, validate
from traitlets.config import Configurable

from .flags import thinking_level

MODEL_VARIABLE = "AGENT_MAGIC_MODEL"
POLICY_VARIABLE = "AGENT_MAGIC_POLICY"
REPLAY_VARIABLE = "AGENT_MAGIC_REPLAY"
CONFIG_FILE = "ipython_config.json"


class AgentMagic(Configurable):
    """Defaults of `%%agent`; a flag of a cell goes before them."""

    model = Unicode("demo", help="The model that answers, such as 'openai/gpt-5-mini'.").tag(config=True)
    system_prompt = Unicode("", help="Added to the end of the built-in system prompt.").tag(config=True)
    max_turns = Int(50, min=1, allow_none=True, help="The most requests of one cell; None: no limit.").tag(config=True)
    thinking = Unicode("", help="How much the model reasons; empty: as the model likes.").tag(config=True)
    max_tokens = Int(None, min=1, allow_none=True, help="The most tokens of one answer; None: no limit.").tag(
        config=True
    )
    temperature = Float(None, min=0.0, allow_none=True, help="None: as the model likes.").tag(config=True)
    mention_seconds = Float(
        1.0, min=0.05, help="Seconds to look at each @name; five times as many to draw a figure."
    ).tag(config=True)

    budget = Float(None, min=0.0, allow_none=True, help="The most US dollars of one conversation; None: no limit.").tag(
        config=True
    )
    token_budget = Int(
        None, min=1, allow_none=True, help="The most tokens of one conversation, prompts and answers; None: no limit."
    ).tag(config=True)
    sessions = Enum(
        ["user", "notebook", "off"],
        "user",
        help="Where conversations are kept: in your data folder, beside the notebook, or nowhere; from the next on.",
    ).tag(config=True)
    compaction = Bool(
        True, help="Whether a summary takes the place of the older part of a conversation that comes near the window."
    ).tag(config=True)

    @validate("thinking")
    def _checked_thinking(self, proposal: Any) -> str:
        try:
            return thinking_level(proposal["value"]) if proposal["value"] else ""
        except ValueError as error:
            raise TraitError(f"AgentMagic.thinking takes {error}, not {proposal['value']!r}.") from None

    policy_file = Unicode("", help="A JSON file with rules about tools; empty: the default rules.").tag(config=True)
    folders = List(
        Unicode(), help="Folders beyond the notebook's own that read_file, write_file and @file may reach."
    ).tag(config=True)

    widgets = Bool(
        True, help="Whether a run is shown as a widget while it goes on, where the page can; else as plain HTML."
    ).tag(config=True)

    replay = Enum(
        ["", "record", "replay"],
        "",
        help="'record' keeps what all cells ask and are answered, 'replay' answers from that without key or network.",
    ).tag(config=True)
    replay_file = Unicode("", help="The file for that; empty: NAME.agent-replay.json beside the notebook.").tag(
        config=True
    )

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        # The environment is nearer to this process than a config file.
        if chosen := os.environ.get(MODEL_VARIABLE):
            self.model = chosen
        if chosen := os.environ.get(POLICY_VARIABLE):
            self.policy_file = chosen
        self._read_replay(os.environ.get(REPLAY_VARIABLE, ""))

    def _read_replay(self, chosen: str) -> None:
        """What the environment says: `1` replays, `record` records, and the path of a recording replays that."""
        if chosen in ("1", "replay", "record"):
            self.replay = "record" if chosen == "record" else "replay"
        elif chosen not in ("", "0"):
            self.replay, self.replay_file = "replay", chosen


def save_model(shell: Any, model: str) -> str:
    """Make `model` the default of this IPython profile; returns the path of the file that says so."""
    from traitlets.config.manager import BaseJSONConfigManager

    folder = shell.profile_dir.location
    BaseJSONConfigManager(config_dir=folder).update(CONFIG_FILE.removesuffix(".json"), {"AgentMagic": {"model": model}})
    return os.path.join(folder, CONFIG_FILE)
