"""What people do with passes and plans, besides what they do with any session."""
