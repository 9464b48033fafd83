"""Use cases over any session, with the typed results of `--json`."""
