"""Files of decisions and tasks, written safely; briefs."""
