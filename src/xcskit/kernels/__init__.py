"""All compiled code, and the only home of numba."""
