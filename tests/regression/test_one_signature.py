"""Each kernel that Python calls is compiled once for a configuration, however it is used."""

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from xcskit import XCSF, XcsfConfig, frozen_lake
from xcskit.kernels.deletion import delete_surplus
from xcskit.kernels.step import act, learn
from xcskit.kernels.training import read_values, train_on_model
from xcskit.spaces import IntegerSpace

lake = frozen_lake("4x4", slip=0.1)
config = XcsfConfig(population_size=4, accuracy_power=5, ga_threshold=50)
settings = [config, config.replace(
    minimum_actions=2, exploration="episode", selection="roulette", crossover="two_point",
    error="plain", ga_subsumption=False, action_set_subsumption=True, deletion_mean="butz_wilson",
    accuracy_power=4.5,
)]
for number, options in enumerate(settings):
    agent = XCSF.on(lake, options, seed=number, n_environments=1 + number)
    agent.train(lake, 100, every=30, snapshot_every=40)
    for observation in [(0, 0), [1, 0], np.array([1, 1]), np.array([[2, 1]], dtype=np.uint8),
                        np.asfortranarray([[2, 2]]), lake.observations[3]]:
        for explore in (None, True, False, np.True_):
            agent.act(observation, explore=explore)
            agent.learn(1, observation, terminated=bool(explore), truncated=explore is None)
            agent.read_values(observation)
    agent.act((3, 2))
    agent.learn(np.float32(0.5), (0, 2), terminated=np.False_)
    for observation in lake.observations:
        agent.act(observation)
        agent.abandon_episode()
    for many in (lake.observations, lake.observations.tolist(), lake.observations[::2],
                 np.asfortranarray(lake.observations), lake.observations.astype(np.int8)):
        agent.read_values(many)
    agent.train(lake, 100)
    path = Path(tempfile.mkdtemp()) / "checkpoint"
    agent.save(path)
    XCSF.load(path).train(frozen_lake("4x4"), 100).read_values([[0, 0]])
kernels = (train_on_model, act, learn, read_values, delete_surplus)
# What train_on_model calls is compiled once more, in its own place, for the constants there.
called = {kernel.__name__: set(kernel.signatures) - kernel._without_door for kernel in kernels}
print(json.dumps({name: [str(s) for s in signatures] for name, signatures in called.items()}))
"""


@pytest.mark.slow
def test_every_kernel_has_one_signature() -> None:
    done = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    signatures: dict[str, list[Any]] = json.loads(done.stdout)
    counts = {name: len(found) for name, found in signatures.items()}
    assert counts == dict.fromkeys(signatures, 1), signatures
