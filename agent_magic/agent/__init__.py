"""The agent: its loop, queues, hooks, budget and policy. Works without IPython."""
