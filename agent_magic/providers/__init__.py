"""One adapter per wire API, and what they share."""
