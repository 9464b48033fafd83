"""What a repository says of itself."""
