"""Real coding agents, tried by hand: `python -m tests.agents.real`."""
