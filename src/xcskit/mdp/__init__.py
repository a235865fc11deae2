"""Environments as models, solved exactly; knows no rules."""
