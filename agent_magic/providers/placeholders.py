"""Words that stand where an API cannot take what is meant."""

from __future__ import annotations

IMAGE_BELOW = "(see the image in the next message)"
IMAGE_LEFT_OUT = '(An image was left out: the model is not declared to read images, input=("text", "image").)'
DATA_LEFT_OUT = "(Data of the type {} was left out: the model is not declared to read it.)"
DATA_NOT_SENT = "(Data of the type {} was left out: the API cannot take it here.)"
ACKNOWLEDGED = "(I have the results.)"
NO_OUTPUT = "(no output)"
# What Gemini takes in the place of a signature that another model cannot give.
SKIP_SIGNATURE = "skip_thought_signature_validator"
