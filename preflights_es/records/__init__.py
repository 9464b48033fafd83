"""Projections written as files: the record of a decision, the task, the brief for an agent."""
