"""Many trials, run once each and never lost."""
