"""Configurations of published work, each a function named after its paper."""

from xcskit.kernels.conditions import MinSpan
from xcskit.kernels.predictions import Nlms
from xcskit.learner.config import XcsfConfig

__all__ = ["bishop2020"]


def bishop2020() -> XcsfConfig:
    """Give the setting of Bishop and Gallagher (2020), Section "Training Experiments".

    Every number stands here, so that a later default cannot move it. The paper trains 400,000
    steps on FrozenLake8x8 with slip 0, and 800,000 with slip 0.1.

    Notes
    -----
    The mean fitness of deletion is weighted by numerosity, as in the authors' program. theta_mna,
    4 in the paper, is the number of actions, so that the preset serves other environments too.
    """
    return XcsfConfig(
        population_size=5000,
        learning_rate=0.1,
        minimum_error_rate=0.05,
        accuracy_slope=0.1,
        target_error=0.01,
        accuracy_power=5,
        discount=0.95,
        ga_threshold=50,
        tournament_fraction=0.5,
        crossover_probability=1.0,
        allele_swap_probability=0.5,
        mutation_probability=0.05,
        deletion_experience=50,
        deletion_fraction=0.1,
        subsumption_experience=50,
        initial_error=1e-3,
        initial_fitness=1e-3,
        minimum_actions=None,
        exploration_probability=0.5,
        exploration="step",
        selection="tournament",
        crossover="uniform",
        error="xcs_mu",
        ga_subsumption=True,
        action_set_subsumption=False,
        deletion_mean="numerosity",
        condition=MinSpan(cover_range=4, mutation_range=4),
        prediction=Nlms(degree=1, x_0=10.0, eta=0.1),
    )
