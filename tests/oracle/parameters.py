"""The settings of XCSF, under the symbols of the algorithm page. Defaults: the paper's setting."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Symbols as the page writes them; ``mu`` is the probability of mutation."""

    N: int = 5000
    beta: float = 0.1
    beta_epsilon: float = 0.05
    alpha: float = 0.1
    epsilon_0: float = 0.01
    nu: float = 5.0
    gamma: float = 0.95
    theta_ga: float = 50.0
    tau: float = 0.5
    chi: float = 1.0
    upsilon: float = 0.5
    mu: float = 0.05
    theta_del: float = 50.0
    delta: float = 0.1
    theta_sub: float = 50.0
    epsilon_i: float = 1e-3
    f_i: float = 1e-3
    theta_mna: int | None = None
    """Distinct actions that a match set must hold; None: all of them."""
    r_0: int = 4
    m_0: int = 4
    x_0: float = 10.0
    eta: float = 0.1
    exploration_probability: float = 0.5

    condition: Literal["min_span", "unordered_bounds"] = "min_span"
    prediction: Literal["nlms", "rls", "constant"] = "nlms"
    degree: int = 1
    delta_rls: float = 10.0
    forgetting: float = 0.999
    """Lambda of recursive least squares."""
    p_i: float = 0.01
    exploration: Literal["step", "episode"] = "step"
    selection: Literal["tournament", "micro_tournament", "roulette"] = "tournament"
    crossover: Literal["uniform", "two_point"] = "uniform"
    error: Literal["xcs_mu", "plain"] = "xcs_mu"
    ga_subsumption: bool = True
    action_set_subsumption: bool = False
    deletion_mean: Literal["numerosity", "butz_wilson"] = "numerosity"
