"""Plain data survives TOML and JSON as it was; canonical text tells 1 from 1.0 from True."""

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from xcskit.experiments import Specification
from xcskit.experiments.plain import Entry, Plain, canonical, plain_entry, to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = TEXT.filter(bool)
SCALARS = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
VALUES: st.SearchStrategy[Plain] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=10,
)
ENTRIES = st.dictionaries(KEYS, VALUES, max_size=4)


@given(ENTRIES)
def test_toml_gives_back_the_same(entry: Entry) -> None:
    assert canonical(tomllib.loads(to_toml(entry))) == canonical(entry)


@given(ENTRIES)
def test_json_gives_back_the_same(entry: Entry) -> None:
    assert canonical(json.loads(canonical(entry))) == canonical(entry)


@given(ENTRIES)
def test_a_copy_is_equal_and_canonical_text_ignores_order(entry: Entry) -> None:
    copy = plain_entry(entry, "entry")
    assert canonical(copy) == canonical(entry)
    assert canonical(dict(reversed(copy.items()))) == canonical(entry)


@given(ENTRIES, ENTRIES, st.sets(st.integers(0, 2**63 - 1), min_size=1, max_size=5))
def test_a_specification_survives_toml(entry: Entry, measurements: Entry, seeds: set[int]) -> None:
    specification = Specification(
        name="any",
        environments={"a": entry},
        configurations={"b b": entry},
        measurements=measurements,
        seeds=sorted(seeds),
    )
    again = Specification.from_toml(specification.to_toml())
    assert [t.identity("e") for t in again.trials()] == [
        t.identity("e") for t in specification.trials()
    ]
