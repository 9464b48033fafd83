"""One room a workflow, all of the same shape; they do not see each other."""
