"""What a repository says of itself: its packages, images, languages, CI and README."""
