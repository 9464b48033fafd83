"""What a recorded call is, and what follows from it; pure."""
