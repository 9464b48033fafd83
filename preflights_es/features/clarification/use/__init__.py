"""What people do with clarifications, besides what they do with any session."""
