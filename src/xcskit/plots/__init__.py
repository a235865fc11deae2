"""Frames to figures, and the only home of matplotlib."""
