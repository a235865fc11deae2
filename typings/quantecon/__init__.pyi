"""The part of quantecon that the tests use, typed."""
