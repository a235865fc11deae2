"""The compiled PCG64 is NumPy's, bit for bit; a seed spawns streams as docs/determinism.md says."""

import numpy as np
import pytest

from xcskit.kernels.random import STREAMS, draw, draw_below, new_streams, stream_words

SEEDS = [0, 1, 2, 7, 42, 12345, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 2**100 + 17, 2**128]

# NumPy keeps the raw output of PCG64 stable, and so `random()`, which is (raw >> 11) * 2**-53.
FIRST_OF_SEED_42 = [
    0.7739560485559633,
    0.4388784397520523,
    0.8585979199113825,
    0.6973680290593639,
    0.09417734788764953,
]
FIRST_OF_STREAMS = {
    "environment": [0.6990345474368357, 0.17433552137309583],
    "exploration": [0.4757645185899906, 0.6005884039084781],
    "discovery": [0.23316830360018304, 0.04702160764433405],
    "evaluation": [0.1141246529720964, 0.8533637052303807],
}


def first_draws(words: np.ndarray[tuple[int], np.dtype[np.uint64]], n: int) -> list[float]:
    return [draw(words) for _ in range(n)]


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_numpys(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    words = stream_words(np.random.PCG64(seed))
    assert first_draws(words, 500) == generator.random(500).tolist()
    end = np.random.PCG64(seed)
    end.advance(500)
    assert words.tolist() == stream_words(end).tolist()


def test_carries_and_rotations_at_the_edges_of_words() -> None:
    """States next to overflow of the low word, and each of the 64 rotations."""
    reference = np.random.PCG64(0)
    edges = [0, 1, 2**64 - 1, 2**64, 2**127, 2**128 - 1, 2**128 - 2**64]
    rotations = [(turn << 122) | 0x123456789ABCDEF for turn in range(64)]
    for state in [*edges, *rotations]:
        for increment in (1, 2**64 - 1, 2**128 - 1):
            told = reference.state
            told["state"] = {"state": state, "inc": increment}
            reference.state = told
            words = stream_words(reference)
            expected = np.random.Generator(reference).random(20).tolist()
            assert first_draws(words, 20) == expected


def test_the_first_values_stay_what_they_are() -> None:
    assert first_draws(stream_words(np.random.PCG64(42)), 5) == FIRST_OF_SEED_42


def test_raw_output_gives_the_double() -> None:
    raw = np.random.PCG64(9).random_raw(100)
    expected = ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).tolist()
    assert first_draws(stream_words(np.random.PCG64(9)), 100) == expected


def test_a_seed_spawns_its_streams_in_order() -> None:
    assert STREAMS == ("environment", "exploration", "discovery", "evaluation")
    for seed in SEEDS:
        streams = new_streams(seed)
        assert streams.shape == (4, 4)
        for words, child in zip(streams, np.random.SeedSequence(seed).spawn(4), strict=True):
            expected = np.random.Generator(np.random.PCG64(child)).random(50)
            assert first_draws(words, 50) == expected.tolist()


def test_the_first_values_of_the_streams_stay_what_they_are() -> None:
    found = {
        name: first_draws(words, 2) for name, words in zip(STREAMS, new_streams(1), strict=True)
    }
    assert found == FIRST_OF_STREAMS


def test_a_seed_sequence_may_stand_for_a_seed() -> None:
    sequence = np.random.SeedSequence(5, spawn_key=(3,))
    again = np.random.SeedSequence(5, spawn_key=(3,))
    np.testing.assert_array_equal(new_streams(sequence), new_streams(again))
    assert new_streams(5).tolist() != new_streams(again).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 1000, 2**31, 2**53])
def test_integers_are_floors(n: int) -> None:
    generator = np.random.Generator(np.random.PCG64(8))
    words = stream_words(np.random.PCG64(8))
    drawn = [draw_below(words, n) for _ in range(300)]
    assert drawn == [int(u * n) for u in generator.random(300).tolist()]
    assert all(0 <= value < n for value in drawn)
