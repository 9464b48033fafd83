"""How fast, as ratios to a floor measured in the same run; never part of the tests."""
