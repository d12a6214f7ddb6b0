"""What to keep and what to compute again."""
