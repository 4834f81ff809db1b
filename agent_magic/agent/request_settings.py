"""What the requests of a run are made with, for the model that it has at the moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..config import RequestConfig
from ..models import Model
from ..providers.request import without_unsupported
from ..providers.thinking import clamping_note


@dataclass
class RequestSettings:
    """What requests are made with. `defaults` may be left out where a model does not take them, `explicit` may not."""

    model: Model
    defaults: RequestConfig
    explicit: Mapping[str, Any] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.config = self._for_model()

    def change(self, model: Model | None, config: RequestConfig | None) -> None:
        if model is not None or config is not None:
            self.model, self.defaults = model or self.model, config or self.defaults
            self.config = self._for_model()

    def _for_model(self) -> RequestConfig:
        config, left_out = without_unsupported(self.model, self.defaults)
        for name in left_out:
            if name not in self.explicit:
                self.notes[f"{self.model.label} does not take {name}; it was left out."] = None
        config = config.replace(**self.explicit) if self.explicit else config
        note = clamping_note(config.thinking_level, self.model)
        if note:
            self.notes[note] = None
        return config
