"""What people ask of what was decided, besides what they do with any session."""
