"""Directed graphs of states, as SciPy's graph routines take them."""

import numpy as np
from scipy import sparse

from xcskit.typing import Ints

__all__ = ["graph_of"]


def graph_of(sources: Ints, targets: Ints, n_nodes: int) -> sparse.csr_array[np.float64]:
    """Give the graph with an edge from each source to its target."""
    edges = (np.ones(sources.size), (sources, targets))
    return sparse.csr_array(sparse.coo_array(edges, shape=(n_nodes, n_nodes), dtype=np.float64))
