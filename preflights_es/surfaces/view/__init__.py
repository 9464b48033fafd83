"""The page: a view of sessions and decisions in a browser on this machine."""
