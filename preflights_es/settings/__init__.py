"""Files, variables, options; the only reader of the environment.

It stands above records, store and providers: it says where they lie and how they are asked.
"""
