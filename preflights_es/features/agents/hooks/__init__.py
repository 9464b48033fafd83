"""What coding agents call at their own events: the brief, a look at an edit, a question asked."""
