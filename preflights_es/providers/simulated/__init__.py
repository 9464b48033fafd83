"""The deterministic simulator: the same seed and prompt, the same response (docs/simulator.md).

No clock, no chance, no environment, no file and no network below it.
"""
