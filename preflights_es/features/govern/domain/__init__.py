"""Pure: which products a change to a file brings in."""
