"""What `core.contracts` is made of: extraction, schema, code detection, one thought a module."""
