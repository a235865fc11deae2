"""Training on the paper's setting, beside the interpreted oracle in the same run."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from measurement import Measurement, Taken, least, taken_by
from oracle.environment import train
from oracle.parameters import Parameters
from oracle.xcsf import Xcsf
from twins import world_of
from xcskit.evaluation import against
from xcskit.learner import XCSF, presets
from xcskit.mdp import TabularMdp, frozen_lake, solve

__all__ = ["measure"]

SETTINGS = (("p 0", 0.0, 400_000), ("p 0.1", 0.1, 800_000))
ORACLE_STEPS = 5_000
EVERY = 5_000


def _engine(mdp: TabularMdp, steps: int, seed: int) -> Callable[[], object]:
    measure = against(solve(mdp, gamma=0.95))
    agent = XCSF.on(mdp, presets.bishop2020(), seed=seed)
    return lambda: agent.train(mdp, steps, evaluate=measure, every=EVERY)


def _oracle(mdp: TabularMdp, seed: int) -> Callable[[], object]:
    world = world_of(mdp)
    twin = Xcsf(Parameters(), mdp.space.lower, mdp.space.upper, mdp.n_actions, seed)
    return lambda: train(twin, world, ORACLE_STEPS)


def _at_once(*works: Callable[[], object]) -> Callable[[], object]:
    """Do each work in a thread of its own."""

    def work() -> None:
        with ThreadPoolExecutor(len(works)) as threads:
            for done in [threads.submit(work) for work in works]:
                done.result()

    return work


def measure(rounds: int = 5) -> list[Measurement]:
    """Train engine and oracle in turns, and give the best of each."""
    rows: list[Measurement] = []
    for name, slip, steps in SETTINGS:
        mdp = frozen_lake("8x8", slip=slip)
        _engine(mdp, 1, seed=0)()
        engines: list[Taken] = []
        pairs: list[Taken] = []
        oracles: list[Taken] = []
        for seed in range(1, rounds + 1):
            engines.append(taken_by(_engine(mdp, steps, seed)))
            pairs.append(
                taken_by(_at_once(*(_engine(mdp, steps, k) for k in (seed, rounds + seed))))
            )
            oracles.append(taken_by(_oracle(mdp, seed)))
        engine, pair, oracle = least(engines), least(pairs), least(oracles)
        ratio = (oracle.processor / ORACLE_STEPS) / (engine.processor / steps)
        rows += [
            Measurement(
                f"{name}, {steps:,} steps, evaluated every {EVERY:,}",
                steps / engine.seconds,
                "steps/s",
            ),
            Measurement(
                f"{name}, oracle (interpreted), first {ORACLE_STEPS:,} steps",
                ORACLE_STEPS / oracle.seconds,
                "steps/s",
            ),
            Measurement(f"{name}, engine / oracle", ratio, "x"),
            Measurement(f"{name}, two threads / one", 2 * engine.seconds / pair.seconds, "x"),
        ]
    return rows
