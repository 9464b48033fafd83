"""The runner: one Input at a time, recorded before it is judged."""
