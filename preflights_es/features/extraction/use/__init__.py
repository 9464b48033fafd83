"""What people do with notes, besides what they do with any session."""
