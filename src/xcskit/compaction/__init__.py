"""Smaller rule sets that keep what the large one knew."""
