"""IPython magics, kernel tools, records and display."""
