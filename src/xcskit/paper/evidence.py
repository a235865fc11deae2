"""What the figures, tables and claims rest on: tables made from the trained instances."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse, stats

from xcskit.compaction import Pdrc
from xcskit.evaluation import is_correct
from xcskit.evaluation.chains import solver_of
from xcskit.mdp import Solution, TabularMdp, frozen_lake, solve
from xcskit.paper.instances import MASSES, Instance
from xcskit.typing import Bools, Floats, Ints

__all__ = [
    "RHOS",
    "actions_table",
    "environments_table",
    "gnmc_table",
    "instances_table",
    "least_steps",
    "random_success",
    "rank_correlation",
]

RHOS = np.arange(100) / 100.0
"""The mass removal factors of the paper's compaction figure."""

_DEFAULT_SLIP = 2.0 / 3.0
_YOUNG = 50
"""theta_sub and theta_del: a rule with less experience is trusted by neither."""


def environments_table(
    solutions: dict[str, Solution], policies: pl.DataFrame, target_error: float
) -> pl.DataFrame:
    """Give a row for each variant: its size, and facts of its optimum.

    Parameters
    ----------
    solutions
        The optimum of each variant.
    policies
        As of ``policies_table``.
    target_error
        epsilon_0; action gaps below it count as small.
    """
    rows: list[dict[str, Any]] = []
    for variant, solution in solutions.items():
        states = solution.mdp.states
        start = int(np.argmax(solution.mdp.test_start))
        by_chance = random_success(solution.mdp)
        distance = least_steps(solution.mdp)
        can = states[np.isfinite(distance[states])]
        rows.append(
            {
                "variant": variant,
                "n_states": states.size,
                "n_tied": int((solution.advocacy[states].sum(axis=1) > 1).sum()),
                "n_small_gaps": int((_gaps(solution, states) < target_error).sum()),
                "start_value": float(solution.v[start]),
                "default_start_value": _default_start_value(solution),
                "random_success": float(by_chance @ solution.mdp.test_start),
                "random_success_anywhere": float(by_chance @ solution.mdp.training_start),
                "error_of_zero": float(np.abs(solution.q[states]).mean()),
                "target_error": target_error,
                "least_steps": _finite(distance[start]),
                "least_sampled_steps": policies.filter(variant=variant)["least_stg"].min(),
                "value_by_distance": rank_correlation(distance[can], solution.v[can]),
            }
        )
    return pl.DataFrame(rows)


def least_steps(mdp: TabularMdp) -> Floats:
    """Count the steps of the shortest way to a goal, from each state; infinite where none leads."""
    origin = mdp.outcomes.states_of_rows(mdp.n_actions)
    steps = np.full(mdp.n_states, np.inf)
    arrives = mdp.outcomes.is_success
    for step in range(1, mdp.n_states + 1):
        steps[origin[arrives]] = step
        is_known = np.isfinite(steps[mdp.outcomes.next_state])
        arrives = is_known & ~mdp.outcomes.is_terminated & np.isinf(steps[origin])
    return steps


def random_success(mdp: TabularMdp) -> Floats:
    """Give the exact chance of reaching a goal by actions drawn at random, from each state."""
    table, n = mdp.outcomes, mdp.n_states
    origin = table.states_of_rows(mdp.n_actions)
    chance = table.probability / mdp.n_actions
    on = ~table.is_terminated
    among = sparse.csr_array((chance[on], (origin[on], table.next_state[on])), shape=(n, n))
    at_once = np.bincount(origin, chance * table.is_success, n).astype(np.float64)
    return solver_of(among)(at_once)


def _default_start_value(solution: Solution) -> float | None:
    """Give V* at the start were the slip that of the environment as it comes."""
    if solution.mdp.layout is None:
        return None
    lake = frozen_lake(list(solution.mdp.layout.rows), slip=_DEFAULT_SLIP)
    return float(solve(lake, solution.gamma).v @ lake.test_start)


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def actions_table(instances: Sequence[Instance], calm: Solution) -> pl.DataFrame:
    """Give a row for each instance and state: the greedy action, and what it should be.

    Parameters
    ----------
    instances
        The trained instances.
    calm
        The optimum without slip.

    Returns
    -------
    pl.DataFrame
        ``cost`` is V* - Q* of the action, ``action_gap`` that of the best action not optimal.
    """
    frames: list[pl.DataFrame] = []
    for instance in instances:
        solution, states = instance.solution, instance.solution.mdp.states
        seen, names = solution.mdp.observations[states], np.array(solution.mdp.action_names)
        values, chosen = instance.values("A"), instance.policy("A")[states]
        frames.append(
            pl.DataFrame(
                {
                    "variant": instance.variant,
                    "seed": np.full(states.size, instance.seed),
                    "state": states,
                    "x": seen[:, 0],
                    "y": seen[:, 1],
                    "action": names[chosen],
                    "is_correct": is_correct(values, solution.advocacy[states]),
                    "cost": solution.v[states] - solution.q[states, chosen],
                    "is_optimal_without_slip": calm.advocacy[states, chosen],
                    "optimal_action": names[solution.policy[states]],
                    "action_gap": _gaps(solution, states),
                }
            )
        )
    return pl.concat(frames)


def _gaps(solution: Solution, states: Ints) -> Floats:
    """Give the gap to the best action that is not optimal, as ties cost nothing."""
    others = np.where(solution.advocacy[states], -np.inf, solution.q[states])
    gaps: Floats = solution.v[states] - others.max(axis=1)
    return gaps


def gnmc_table(instances: Sequence[Instance]) -> pl.DataFrame:
    """Give a row for each instance, mass and rho: size and performance."""
    frames = [
        path.table(instance.solution, RHOS).select(
            pl.lit(instance.variant).alias("variant"),
            pl.lit(mass).alias("mass"),
            pl.lit(instance.seed, pl.Int64).alias("seed"),
            pl.all(),
        )
        for instance in instances
        for mass, path in instance.paths.items()
    ]
    return pl.concat(frames)


def instances_table(instances: Sequence[Instance]) -> pl.DataFrame:
    """Give a row for each instance: its performance, and the structure of its population."""
    return pl.DataFrame([_row(instance) for instance in instances])


def _row(instance: Instance) -> dict[str, Any]:
    rules, niches, solution = instance.rules, instance.niches, instance.solution
    states = solution.mdp.states
    values = instance.values("A")
    return {
        "variant": instance.variant,
        "seed": instance.seed,
        "mean_absolute_error": float(np.abs(values - solution.q[states]).mean()),
        "policy_accuracy": float(is_correct(values, solution.advocacy[states]).mean()),
        "n_rules": len(rules),
        "n_microclassifiers": rules.n_microclassifiers,
        **_terminal_only(instance),
        "n_gnmc_holes": sum(_holes_at_the_end(instance, mass) for mass in MASSES),
        "is_pdrc": bool(
            (_at_the_end(instance, "tan") == Pdrc().select(rules, niches, solution)).all()
        ),
        "greatest_drop": _greatest_drop(instance),
        **_by_experience(instance),
        **_by_age(instance),
        "mass_correlation": _mass_correlation(instance),
        "numerosity_by_fitness": rank_correlation(rules.fitness, rules.numerosity),
        **{f"kept_fitness_{group}": _mean_fitness(instance, group) for group in ("B", "C")},
        **_rules_per_pair(instance),
    }


def _terminal_only(instance: Instance) -> dict[str, int]:
    """Count the rules that match no state of S, their experience, and those that GNMC keeps."""
    first, _ = instance.niches.by_rule
    is_idle = np.diff(first) == 0
    experience = np.asarray(instance.rules["experience"])[is_idle]
    kept = [int((path.kept(0.0) & is_idle).sum()) for path in instance.paths.values()]
    return {
        "n_idle": int(is_idle.sum()),
        "n_idle_experienced": int((experience > 0).sum()),
        "n_idle_kept": sum(kept),
    }


def _at_the_end(instance: Instance, mass: str) -> Bools:
    """Give GNMC's smallest set: sets are nested, so that it has every hole that any has."""
    path = instance.paths[mass]
    return path.kept(float(path.breakpoints[-1]))


def _holes_at_the_end(instance: Instance, mass: str) -> int:
    return int(instance.niches.keep(_at_the_end(instance, mass)).is_hole.sum())


def _greatest_drop(instance: Instance) -> float:
    """Give the share of the rules that leave the path of fitness at one rho, at most."""
    drop_out = instance.paths["fitness"].drop_out
    leaving = drop_out[(drop_out > 0.0) & (drop_out < 1.0)]
    _, counts = np.unique(leaving, return_counts=True)
    return int(counts.max(initial=0)) / drop_out.size


def _by_experience(instance: Instance) -> dict[str, int]:
    """Say what keeping the most experienced rules does, where GNMC keeps as many."""
    experience = np.asarray(instance.rules["experience"])
    n_kept = int(instance.kept("B").sum())
    most = np.zeros(len(experience), dtype=np.bool_)
    most[np.argsort(-experience, kind="stable")[:n_kept]] = True
    in_niche = experience[instance.niches.members]
    safe = int(np.maximum.reduceat(in_niche, instance.niches.first[:-1]).min())
    return {
        "n_gnmc_rules": n_kept,
        "n_experience_holes": int(instance.niches.keep(most).is_hole.sum()),
        "safe_experience": safe,
        "n_safe_rules": int((experience >= safe).sum()),
    }


def _by_age(instance: Instance) -> dict[str, float | None]:
    """Say how many rules are young, and how far from Q* these and the others predict."""
    rules, niches, solution = instance.rules, instance.niches, instance.solution
    is_young = np.asarray(rules["experience"]) < _YOUNG
    best = solution.q[solution.mdp.states].ravel()[niches.niche_of]
    error = np.abs(niches.predictions - best)
    parts = {"young": is_young[niches.members], "others": ~is_young[niches.members]}
    return {
        "share_young": float(is_young.mean()),
        **{
            f"error_of_{name}": float(error[part].mean()) if part.any() else None
            for name, part in parts.items()
        },
    }


def _mass_correlation(instance: Instance) -> float:
    """Correlate, over the niches, how evenly mass is spread with the share of rules kept.

    Evenness: the effective number of rules, 1 / sum of squared shares, over their number. Kept: by
    Algorithm 1 in that niche alone, at rho 1/2.
    """
    niches = instance.niches
    mass = instance.rules.fitness[niches.members]
    order = np.lexsort((-mass, niches.niche_of))
    starts, sizes = niches.first[:-1], niches.sizes
    share = mass[order] / np.repeat(np.add.reduceat(mass[order], starts), sizes)
    running = np.cumsum(share)
    before = running - share - np.repeat(running[starts] - share[starts], sizes)
    n_kept = np.add.reduceat((before < 0.5).astype(np.int64), starts)
    evenness = 1.0 / np.add.reduceat(share**2, starts) / sizes
    kept = n_kept / sizes
    return rank_correlation(evenness, kept)


def rank_correlation(first: Floats | Ints, second: Floats | Ints) -> float:
    """Give Spearman's rank correlation; 0 where either does not vary."""
    if first.size == 0 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(stats.spearmanr(first, second).statistic)


def _mean_fitness(instance: Instance, group: str) -> float:
    return float(instance.rules.fitness[instance.kept(group)].mean())


def _rules_per_pair(instance: Instance) -> dict[str, float | None]:
    """Count the rules that match, per pair, away from holes in the ice and next to them."""
    is_near = _is_near_hole(instance.solution)
    kept = instance.niches.keep(instance.kept("B"))
    n_actions = kept.n_actions
    counts: dict[str, float | None] = {}
    for name, chosen in (("open", ~is_near), ("near", is_near)):
        inside = np.repeat(chosen, n_actions)
        members = kept.members[inside[kept.niche_of]]
        n_pairs = int(inside.sum())
        counts[f"rules_per_pair_{name}"] = np.unique(members).size / n_pairs if n_pairs else None
    return counts


def _is_near_hole(solution: Solution) -> Bools:
    """Tell which states of S have a hole in the ice among their eight neighbours."""
    mdp = solution.mdp
    if mdp.layout is None:
        return np.zeros(mdp.states.size, dtype=np.bool_)
    is_hole = np.array([[letter == "H" for letter in row] for row in mdp.layout.rows])
    padded = np.pad(is_hole, 1)
    height, width = is_hole.shape
    near = np.zeros_like(is_hole)
    for dy in range(3):
        for dx in range(3):
            near |= padded[dy : dy + height, dx : dx + width]
    x, y = mdp.layout.positions[mdp.states].T
    answer: Bools = near[y, x]
    return answer
