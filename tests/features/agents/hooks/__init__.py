"""What coding agents call at their events."""
