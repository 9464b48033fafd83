"""Use cases: what a surface asks for, over sessions of one or several workflows."""
