"""Where completions come from: text in, text out.

A provider answers one request; every judgement of the answer is the workflow's. Providers know no
workflow: what the simulator says in one is handed to it by `use`.
"""
