"""Approved documents become structured plans, pass by pass (seed 2)."""
