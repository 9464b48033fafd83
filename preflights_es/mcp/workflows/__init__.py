"""The tools of single workflows: a module called like its workflow, with `TOOLS`."""
