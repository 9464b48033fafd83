"""Re-runs recorded sessions through today's code and says where they differ."""
