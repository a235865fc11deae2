"""The report's section beyond the paper: policies made exact, action gaps, minima, relatives."""

from collections.abc import Callable, Mapping
from html import escape

import polars as pl

from xcskit.paper.compacted import MINIMUM_SECONDS
from xcskit.paper.html import number, table_of

__all__ = ["beyond_the_paper"]

_VARIANTS = {"p0": "slip 0", "p0.1": "slip 0.1"}

_ON_POLICIES = (
    "Means over the instances. Sampled: the rollouts of Table 2. Exact: solved on the model, "
    "within 200 steps. Steps are those of successes, over the instances that can reach the goal. "
    "Regret: V* less the policy's value, mean over S "
    "and at the start. A row for each instance: <code>tables/policies.csv</code>."
)
_ON_MINIMA = (
    "The fewest rules that leave no niche farther from Q* than GNMC (fitness, rho 0.99) leaves it, "
    f"by mixed-integer programming with a proof. Each program has {MINIMUM_SECONDS:g} s; where "
    "they end, the bound proven until then stands."
)


def beyond_the_paper(tables: Mapping[str, pl.DataFrame], figures: Callable[[str], str]) -> str:
    """Give the section's HTML.

    Parameters
    ----------
    tables
        As the report has them.
    figures
        Gives the HTML of the figures whose names begin with a text.
    """
    policies = tables["policies-summary"]
    parts = [
        "<h3>Policies, sampled and exact</h3>",
        f'<p class="soft">{_ON_POLICIES}</p>',
        table_of(
            policies,
            {
                "variant": "Variant",
                "group": "Group",
                "policy_accuracy": "Accuracy",
                "n_reaching": "Can reach the goal",
                "sampled_success": "Success, sampled",
                "exact_success": "Success, exact",
                "sampled_steps": "Steps, sampled",
                "expected_steps": "Steps, exact",
                "regret": "Regret, mean",
                "start_regret": "Regret, start",
            },
            "Policies, sampled and exact",
            {"variant": _variant},
        ),
        figures("beyond-accuracy"),
        _examples(tables["examples"]),
        "<h3>Action gaps</h3>",
        f"<p>{_gap_sentence(policies, tables['environments'])}</p>",
        figures("beyond-action"),
        "<h3>GNMC and the certified minimum</h3>",
        f"<p>{_ON_MINIMA}</p>",
        table_of(
            tables["minimum-summary"],
            {
                "variant": "Variant",
                "populations": "Populations",
                "gnmc_rules": "Rules, GNMC",
                "fewest_found": "Fewest found",
                "fewest_proven": "Fewest possible, proven",
                "certified": "Certified",
                "gnmc_is_minimal": "GNMC is minimal",
                "longest_seconds": "Longest, s",
            },
            "GNMC and the certified minimum",
            {"variant": _variant},
        ),
        figures("beyond-minimum"),
        "<h3>GNMC and its relatives</h3>",
        '<p class="soft">Means over the instances; - where some instance has holes.</p>',
        table_of(
            tables["relatives-summary"],
            {
                "method": "Method",
                "variant": "Variant",
                "n_rules": "Rules",
                "n_microclassifiers": "Micros",
                "mean_absolute_error": "Value error",
                "policy_accuracy": "Accuracy",
                "regret": "Regret",
                "greatest_change": "Greatest change of Q̂",
                "n_holes": "Holes",
                "seconds": "Seconds",
            },
            "GNMC and its relatives",
            {
                "variant": _variant,
                "regret": _short,
                "seconds": _short,
                "n_rules": _short,
                "n_microclassifiers": _short,
            },
        ),
    ]
    return "".join(parts)


def _examples(table: pl.DataFrame) -> str:
    note = (
        "Instances at slip 0.1 whose accuracy changes by 0.05 at most between groups A and B, but "
        "whose exact expected steps-to-goal by 5 at least"
    )
    if table.is_empty():
        return f"<p>{note}: none.</p>"
    columns = {
        "seed": "Instance",
        "A_policy_accuracy": "A: accuracy",
        "B_policy_accuracy": "B: accuracy",
        "A_expected_steps": "A: steps",
        "B_expected_steps": "B: steps",
    }
    return f"<p>{note}:</p>{table_of(table, columns, note)}"


def _gap_sentence(policies: pl.DataFrame, environments: pl.DataFrame) -> str:
    facts = environments.filter(variant="p0.1").row(0, named=True)
    row = policies.filter(variant="p0.1", group="A").row(0, named=True)
    small, rest = row["loss_in_small_gaps"], row["loss_elsewhere"]
    total = small + rest
    share = f" ({small / total:.0%} of the loss)" if total else ""
    return (
        f"At slip 0.1, {facts['n_small_gaps']} of the {facts['n_states']} states have an action "
        f"gap below epsilon_0 ({facts['target_error']:g}), the error that XCSF aims at. Of the "
        f"accuracy that it lacks without compaction, {total:.3f} on average, {small:.3f} lies in "
        f"these states{share}, {rest:.3f} in the other {facts['n_states'] - facts['n_small_gaps']}."
    )


def _variant(name: object) -> str:
    return _VARIANTS.get(str(name), escape(str(name)))


def _short(value: object) -> str:
    return number(value, 3)
