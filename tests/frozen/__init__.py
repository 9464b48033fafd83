"""What is published, as it is and as it was when it was frozen."""
