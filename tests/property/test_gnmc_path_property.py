"""The GNMC path on any niches and masses, against Algorithm 1 taken literally."""

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.gnmc import gnmc
from populations import grid_observations, random_rules
from xcskit.compaction import gnmc_path
from xcskit.rules import Niches
from xcskit.spaces import IntegerSpace

N_RULES = 6
SPACE = IntegerSpace((0,), (3,))
RULES = random_rules(0, N_RULES, space=SPACE, n_actions=1)
NICHES = Niches.of(RULES, grid_observations(SPACE))

ordinary = st.floats(1e-6, 1e6)
few = st.sampled_from([0.1, 0.2, 0.3, 1.0 / 3.0, 0.7])
extreme = st.floats(1e-200, 1e200)
masses = st.lists(ordinary | few | extreme, min_size=N_RULES, max_size=N_RULES)
niches = st.lists(
    st.sets(st.integers(0, N_RULES - 1), min_size=1).map(sorted), min_size=4, max_size=4
)
rhos = st.floats(0.0, 1.0, exclude_max=True) | st.integers(0, 99).map(lambda k: k / 100)


@given(masses=masses, lists=niches, given_rhos=st.lists(rhos, max_size=5))
@settings(max_examples=400, deadline=None)
def test_the_path_equals_the_literal_algorithm(
    masses: list[float], lists: list[list[int]], given_rhos: list[float]
) -> None:
    members = np.concatenate([np.array(niche, dtype=np.int64) for niche in lists])
    first = np.concatenate([[0], np.cumsum([len(niche) for niche in lists])])
    made = dataclasses.replace(
        NICHES, first=first, members=members, predictions=np.zeros(members.size)
    )
    path = gnmc_path(RULES, made, lambda _table: masses)
    near = path.drop_out[path.drop_out < 1.0]
    below = np.nextafter(near[near > 0.0], 0.0)
    for rho in [*given_rhos, *near.tolist(), *below.tolist()]:
        assert set(np.flatnonzero(path.kept(rho)).tolist()) == gnmc(masses, lists, rho)
