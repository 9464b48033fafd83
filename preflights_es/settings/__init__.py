"""Files, variables, options; the only reader of the environment."""
