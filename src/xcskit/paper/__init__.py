"""The paper of Bishop and Gallagher (2020), reproduced and judged."""
