"""The features: each folder is one, and is found here."""
