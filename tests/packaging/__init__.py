"""What is installed, away from the checkout."""
