"""The command: arguments and printing only."""
