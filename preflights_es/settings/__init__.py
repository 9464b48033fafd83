"""Settings: what files, variables and options say, checked, with its source named."""
