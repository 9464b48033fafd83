"""What people do with the plan of a day, besides what they do with any session."""
