"""Plain-Python twins of the engine: the meaning that it is tested against."""
