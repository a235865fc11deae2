"""Directed graphs of states, as SciPy's graph routines take them."""

import numpy as np
import scipy

from xcskit.typing import Ints

__all__ = ["graph_of"]


def graph_of(sources: Ints, targets: Ints, n_nodes: int) -> "scipy.sparse.csr_array[np.float64]":
    """Give the graph with an edge from each source to its target."""
    edges = (np.ones(sources.size), (sources, targets))
    graph = scipy.sparse.coo_array(edges, shape=(n_nodes, n_nodes), dtype=np.float64)
    return scipy.sparse.csr_array(graph)
