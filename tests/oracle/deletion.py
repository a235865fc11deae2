"""Which rule loses a microclassifier: a roulette wheel on deletion votes.

The population has to be summed and walked in blocks of 64 slots and superblocks of 64 blocks, since
that is the order of additions which the engine can do fast. But for rounding it is the plain wheel.
"""

from collections.abc import Sequence

from oracle.arithmetic import FLOOR, first_beyond, ordered_sum
from oracle.parameters import Parameters
from oracle.rule import Rule
from oracle.streams import Stream

GROUP = 64
LANES = 8


def groups(values: Sequence[float]) -> list[Sequence[float]]:
    """Cut values into runs of 64; the last may be shorter, as if it were filled up with 0.0."""
    return [values[start : start + GROUP] for start in range(0, len(values), GROUP)]


def lane_sum(values: Sequence[float]) -> float:
    """Add up: eight lanes of every eighth value, then the lanes in pairs."""
    lanes = [ordered_sum(values[lane::LANES]) for lane in range(LANES)]
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + (
        (lanes[4] + lanes[5]) + (lanes[6] + lanes[7])
    )


def group_sums(values: Sequence[float]) -> list[float]:
    """Add up each block of slots, or each superblock of blocks."""
    return [lane_sum(group) for group in groups(values)]


def mean_fitness(parameters: Parameters, slots: Sequence[Rule | None]) -> float:
    """Give Fbar, the mean fitness of a microclassifier."""
    by_numerosity = parameters.deletion_mean == "numerosity"
    mass = [
        0.0 if rule is None else rule.fitness * (rule.numerosity if by_numerosity else 1)
        for rule in slots
    ]
    n_microclassifiers = sum(rule.numerosity for rule in slots if rule is not None)
    return lane_sum(group_sums(group_sums(mass))) / n_microclassifiers


def choose_victim(parameters: Parameters, slots: Sequence[Rule | None], stream: Stream) -> Rule:
    """Spin the wheel once."""
    f_bar = mean_fitness(parameters, slots)

    plain = [0.0] * len(slots)
    penalised = [0.0] * len(slots)
    for slot, rule in enumerate(slots):
        if rule is None:
            continue
        vote = rule.action_set_size * rule.numerosity
        worth = max(rule.fitness / rule.numerosity, FLOOR)
        is_poor = rule.experience > parameters.theta_del and worth < parameters.delta * f_bar
        if is_poor:
            penalised[slot] = vote / worth
        else:
            plain[slot] = vote

    def votes(plain: Sequence[float], penalised: Sequence[float]) -> list[float]:
        return [a + f_bar * b for a, b in zip(plain, penalised, strict=True)]

    slot_votes = votes(plain, penalised)
    plain_blocks, penalised_blocks = group_sums(plain), group_sums(penalised)
    block_votes = votes(plain_blocks, penalised_blocks)
    superblock_votes = votes(group_sums(plain_blocks), group_sums(penalised_blocks))

    target = stream.random() * lane_sum(superblock_votes)
    superblock, before = first_beyond(superblock_votes, target)
    block_in_superblock, before = first_beyond(groups(block_votes)[superblock], target, before)
    block = superblock * GROUP + block_in_superblock
    slot_in_block, _ = first_beyond(groups(slot_votes)[block], target, before)
    victim = slots[block * GROUP + slot_in_block]
    if victim is None:
        raise RuntimeError("the wheel stopped at an empty slot")
    return victim
