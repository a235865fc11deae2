"""The certified minimum: the fewest rules that keep every niche within bounds."""

import logging
import time
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from xcskit.compaction.bounds import within
from xcskit.compaction.program import SelectionProgram
from xcskit.compaction.task import check_task
from xcskit.errors import CompactionError, SolverError
from xcskit.mdp import Solution
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Floats
from xcskit.validation import check_choice, check_real

__all__ = ["Minimal", "MinimalRules", "minimal_rules"]

_LOG = logging.getLogger("xcskit.compaction")

_OPTIMAL, _LIMIT, _INFEASIBLE = 0, 1, 2
_WHOLE = 1e-6
"""The solver's absolute gap: a bound this near to a whole number stands for it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MinimalRules:
    """A smallest rule set, and how far that is proven.

    Parameters
    ----------
    rules
        The rules kept; every niche is within its bounds, checked on the niches themselves.
    kept
        Their mask in the full rule set.
    status
        "optimal": no selection is lighter. "time_limit": ``rules`` is the best that was found.
    weight
        The sum of the weights of the rules kept: their number, unless weights were given.
    bound
        Proven: no selection within the bounds weighs less.
    n_cuts
        How many rows it took to cut off selections that only the solver's tolerance let pass.
    seconds
        How long it took.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import minimal_rules, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> found = minimal_rules(rules, niches)  # a rule in every niche, and nothing more
    >>> found.status, found.gap
    ('optimal', 0.0)
    """

    rules: RuleSet
    kept: Bools
    status: Literal["optimal", "time_limit"]
    weight: float
    bound: float
    n_cuts: int
    seconds: float

    @property
    def gap(self) -> float:
        """By how much the weight may exceed the least possible; 0 when optimal."""
        return self.weight - self.bound


def minimal_rules(
    rules: RuleSet,
    niches: Niches,
    lower: Floats | float = -np.inf,
    upper: Floats | float = np.inf,
    *,
    weights: str | Floats = "rules",
    time_limit: float = 60.0,
    start: Bools | None = None,
) -> MinimalRules:
    """Find the lightest selection of rules that keeps every niche within its bounds.

    Parameters
    ----------
    rules, niches
        A rule set and its niches.
    lower, upper
        What Qhat may be in each niche, shape (n_observations, n_actions); ``compaction.bounds``
        makes them.
    weights
        "rules" (fewest rules), "microclassifiers" (least numerosity), or a weight for each rule.
    time_limit
        Seconds.
    start
        A selection known to be within the bounds, a mask; returned if time ends before a better one
        is found. The full rule set serves where it is within them.

    Notes
    -----
    Qhat is a weighted mean, so that a bound is linear in the selection z: sum F_i (p_i - U) z_i
    <= 0 and sum F_i (p_i - L) z_i >= 0, with sum z_i >= 1 in every niche. The mixed-integer program
    is solved by HiGHS with a gap of 0, rows scaled to a greatest coefficient of 1. The solver
    holds rows to a tolerance, so each of its answers is valued on the niches themselves; one that
    breaks a bound is cut off, and the program solved again. A selection within the bounds always
    satisfies the program, so that the solver's bound is one for it.

    Raises
    ------
    CompactionError
        No selection is within the bounds, or none was found in time.
    """
    check_task(rules, niches)
    began = time.monotonic()
    limit = check_real("time_limit", time_limit, 0.0, open_low=True)
    costs = _check_weights(rules, weights)
    program = SelectionProgram(rules, niches, *_check_bounds(niches, lower, upper))
    known = None if start is None else niches.check_mask("start", start)
    best = _first_selection(program, known, len(rules))
    bound = 0.0
    status: Literal["optimal", "time_limit"] = "time_limit"
    while status != "optimal" and (left := limit - (time.monotonic() - began)) > 0.0:
        answer = program.solve(costs, left)
        if answer.status == _INFEASIBLE:
            program.refuse_infeasible(is_known_feasible=best is not None)
        if answer.status not in {_OPTIMAL, _LIMIT}:
            msg = f"the solver gave up on {niches!r}: {answer.message}"
            raise SolverError(msg)
        bound = max(bound, _proven(answer.mip_dual_bound, costs))
        if answer.x is None:
            continue
        kept = np.asarray(answer.x) > 0.5
        if not program.is_valid(kept):
            program.cut_off(kept)
            continue
        if best is None or costs @ kept < costs @ best:
            best = kept
        if answer.status == _OPTIMAL:
            status = "optimal"
    if best is None:
        msg = (
            f"no selection within the bounds was found in {limit:g} s (proven: at least "
            f"{bound:g}); allow more time_limit, or widen the bounds"
        )
        raise CompactionError(msg)
    if status == "time_limit":
        best = program.thin_out(best, costs)
    weight = float(costs @ best)
    return MinimalRules(
        rules=rules[best],
        kept=best,
        status=status,
        weight=weight,
        bound=min(bound, weight),
        n_cuts=program.n_cuts,
        seconds=time.monotonic() - began,
    )


def _first_selection(program: SelectionProgram, start: Bools | None, n_rules: int) -> Bools | None:
    """Give a selection that is known to be within the bounds, if one is."""
    if start is not None:
        if not program.is_valid(start):
            msg = "start is not within the bounds; leave it out, or widen the bounds"
            raise CompactionError(msg)
        return start
    every = np.ones(n_rules, dtype=np.bool_)
    return every if program.is_valid(every) else None


def _proven(bound: float | None, costs: Floats) -> float:
    """Give the solver's bound, rounded up where every weight is whole."""
    if bound is None or not np.isfinite(bound):
        return 0.0
    is_whole = bool((costs == np.rint(costs)).all())
    return float(np.ceil(bound - _WHOLE)) if is_whole else float(bound) - _WHOLE


def _check_bounds(
    niches: Niches, lower: Floats | float, upper: Floats | float
) -> tuple[Floats, Floats]:
    shape = niches.is_hole.shape
    checked: list[Floats] = []
    for name, given in (("lower", lower), ("upper", upper)):
        values = _numbers(given)
        if values.shape not in {(), shape} or np.isnan(values).any():
            msg = f"{name} must be a number or an array of shape {shape} without NaN: got {given!r}"
            raise CompactionError(msg)
        checked.append(np.broadcast_to(values, shape).ravel())
    if (checked[0] > checked[1]).any():
        niche = int(np.argmax(checked[0] > checked[1]))
        msg = (
            f"the bounds of {niches.name_pair(niche)} contradict each other: "
            f"{checked[0][niche]} to {checked[1][niche]}"
        )
        raise CompactionError(msg)
    return checked[0], checked[1]


def _numbers(given: object) -> Floats:
    """Give an array of floats, a single NaN for what is none."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


def _check_weights(rules: RuleSet, weights: str | Floats) -> Floats:
    if isinstance(weights, str):
        name = check_choice("weights", weights, ("rules", "microclassifiers"))
        return np.ones(len(rules)) if name == "rules" else rules.numerosity.astype(np.float64)
    costs = _numbers(weights)
    if costs.shape != (len(rules),) or not (np.isfinite(costs) & (costs >= 0.0)).all():
        msg = f"weights are {len(rules)} finite numbers of at least 0: got {weights!r}"
        raise CompactionError(msg)
    return costs


@dataclass(frozen=True, kw_only=True)
class Minimal:
    """The fewest rules that keep every niche within a margin of the full rule set's values.

    Parameters
    ----------
    within
        The margin.
    weights
        "rules" or "microclassifiers": what is to be least.
    time_limit
        Seconds; the best that was found serves when they end.

    Notes
    -----
    ``minimal_rules`` takes other bounds, and tells what was proven.

    Examples
    --------
    >>> from xcskit import XCSF, frozen_lake
    >>> from xcskit.compaction import compact, model_niches
    >>> lake = frozen_lake("4x4")
    >>> rules = XCSF.on(lake, seed=1).train(lake, 20_000).rules
    >>> niches = model_niches(rules, lake)
    >>> small = compact(rules, niches, Minimal(within=0.05))
    >>> change = small.q_values(niches.observations) - rules.q_values(niches.observations)
    >>> bool(abs(change).max() <= 0.05)
    True
    """

    name: ClassVar[str] = "minimal"
    within: float = 0.02
    weights: str = "rules"
    time_limit: float = 60.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_real("within", self.within, 0.0)
        check_choice("weights", self.weights, ("rules", "microclassifiers"))
        check_real("time_limit", self.time_limit, 0.0, open_low=True)

    def solve(self, rules: RuleSet, niches: Niches) -> MinimalRules:
        """Find the minimum, and what is proven of it."""
        bounds = within(rules, niches, self.within)
        return minimal_rules(
            rules, niches, *bounds, weights=self.weights, time_limit=self.time_limit
        )

    def select(
        self,
        rules: RuleSet,
        niches: Niches,
        solution: Solution | None,  # noqa: ARG002 - one interface
    ) -> Bools:
        """Give a mask of the rules to keep; a warning is logged where it is not proven minimal."""
        found = self.solve(rules, niches)
        if found.status != "optimal":
            _LOG.warning(
                "time ended after %g s: weight %g found, at least %g proven",
                found.seconds,
                found.weight,
                found.bound,
            )
        return found.kept
