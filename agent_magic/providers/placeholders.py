"""Words that stand where an API cannot take what is meant."""

from __future__ import annotations

IMAGE_BELOW = "(see the image in the next message)"
IMAGE_LEFT_OUT = '(An image was left out: the model is not declared to read images, input=("text", "image").)'
NO_OUTPUT = "(no output)"
