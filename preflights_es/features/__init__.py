"""The features: each folder is one subject, and is found here."""
