"""What all compaction methods share: one interface, and the check of what they are given."""

from dataclasses import fields
from typing import Any, ClassVar, Protocol

import numpy as np

from xcskit.compaction.masses import mass_name
from xcskit.errors import CompactionError
from xcskit.mdp import Solution, TabularMdp
from xcskit.rules import Niches, RuleSet
from xcskit.typing import Bools, Floats, Ints

__all__ = ["Method", "check_fit", "check_task", "compact", "describe", "model_niches", "states_of"]


class Method(Protocol):
    """A way to choose the rules to keep: a frozen dataclass with the method's parameters."""

    name: ClassVar[str]

    def select(self, rules: RuleSet, niches: Niches, solution: Solution | None) -> Bools:
        """Give a mask of the rules to keep, shape (n_rules,).

        Parameters
        ----------
        rules
            The rule set, not empty.
        niches
            Its niches, without a hole.
        solution
            The optimum of the model; some methods need it.
        """
        ...


def compact(
    rules: RuleSet, niches: Niches, method: Method, solution: Solution | None = None
) -> RuleSet:
    """Give the rules that a method keeps, in rule order.

    Parameters
    ----------
    rules
        The rule set.
    niches
        Its niches on the states that count (``model_niches``).
    method
        Such as ``Gnmc(mass="fitness", rho=0.99)``; see ``METHODS``.
    solution
        The optimum of the model, for methods whose loss needs it.

    Raises
    ------
    CompactionError
        The rule set is empty, or does not fit the niches or the solution.
    HoleError
        No rule matches some state-action pair.
    """
    check_task(rules, niches)
    if isinstance(method, str | type) or not hasattr(method, "select"):
        msg = f"a method is such as Gnmc(rho=0.99), with its settings: got {method!r}"
        raise CompactionError(msg)
    kept = niches.check_mask("what the method selects", method.select(rules, niches, solution))
    return rules[kept].with_metadata(compaction=describe(method))


def describe(method: Method) -> dict[str, Any]:
    """Give a method's name and parameters as plain values."""
    parameters: Any = method
    values = {field.name: getattr(method, field.name) for field in fields(parameters)}
    plain = {
        name: value.tolist()
        if isinstance(value, np.ndarray)
        else mass_name(value)
        if callable(value)
        else value
        for name, value in values.items()
    }
    return {"method": method.name, **plain}


def check_task(rules: RuleSet, niches: Niches) -> None:
    """Refuse an empty rule set, niches of another one, and holes."""
    if len(rules) == 0:
        msg = "an empty rule set cannot be compacted; train first"
        raise CompactionError(msg)
    if niches.n_rules != len(rules) or niches.action_names != rules.action_names:
        msg = (
            f"these niches belong to a rule set of {niches.n_rules} rules and actions "
            f"{niches.action_names}, not to this one of {len(rules)} and {rules.action_names}; "
            "make them with model_niches(rules, mdp)"
        )
        raise CompactionError(msg)
    niches.check_no_hole()


def check_fit(rules: RuleSet, mdp: TabularMdp) -> None:
    """Refuse a rule set whose space or actions are not the model's."""
    for what, ours, theirs in (
        ("space", rules.space, mdp.space),
        ("actions", rules.action_names, mdp.action_names),
    ):
        if ours != theirs:
            msg = (
                f"the rule set does not fit {mdp.name!r}: {what} {ours} of the rules, "
                f"{theirs} of the model"
            )
            raise CompactionError(msg)


def model_niches(rules: RuleSet, mdp: TabularMdp, states: Ints | None = None) -> Niches:
    """Find the niches of a rule set on a model's states; none given means S.

    S are the non-terminal states that training can visit: what metrics and compaction run over.
    """
    check_fit(rules, mdp)
    return Niches.of(rules, mdp.observations[mdp.select_states(states)])


def states_of(niches: Niches, mdp: TabularMdp) -> Ints:
    """Give the model's state of each observation that niches were found on.

    Raises
    ------
    CompactionError
        An observation belongs to no state of the model, or to more than one.
    """
    if np.array_equal(mdp.observations[mdp.states], niches.observations):
        return mdp.states
    seen: dict[tuple[int, ...], list[int]] = {}
    for state, observation in enumerate(mdp.observations.tolist()):
        seen.setdefault(tuple(observation), []).append(state)
    found = [seen.get(tuple(row), []) for row in niches.observations.tolist()]
    for i, states in enumerate(found):
        if len(states) != 1:
            msg = (
                f"observation {tuple(niches.observations[i].tolist())} is seen in {len(states)} "
                f"states of {mdp.name!r}; a solution can judge rules only where it is one"
            )
            raise CompactionError(msg)
    return np.array([states[0] for states in found])


def optimal_values(niches: Niches, solution: Solution) -> Floats:
    """Give Q* where the niches are, shape (n_observations, n_actions)."""
    return solution.q[states_of(niches, solution.mdp)]
