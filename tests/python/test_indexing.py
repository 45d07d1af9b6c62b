"""Random selections of random arrays against numpy."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lamella as lm

from conftest import write_hdf5, write_zarr


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """One set of values in several storage layouts: (ours, numpy's)."""
    folder = tmp_path_factory.mktemp("indexing")
    found = []
    for number, (shape, chunks) in enumerate(
        [((23,), (5,)), ((17, 13), (4, 6)), ((7, 6, 5), (3, 6, 2)), ((9, 11), (1, 11))]
    ):
        data = np.random.default_rng(number).integers(-1000, 1000, shape).astype(["f8", "i4", "u2", "f4"][number])
        shards = tuple(2 * chunk for chunk in chunks)
        for name, write, options in [
            ("plain.h5", write_hdf5, {}),
            ("gzip.h5", write_hdf5, {"chunks": chunks, "compression": "gzip", "shuffle": True}),
            ("v3.zarr", write_zarr, {"chunks": chunks}),
            ("sharded.zarr", write_zarr, {"chunks": chunks, "shards": shards}),
            ("v2.zarr", write_zarr, {"chunks": chunks, "version": 2}),
        ]:
            found.append((lm.open(write(folder / f"{number}-{name}", data, **options), "a"), data))
    return found


def axis_keys(length: int):
    bound = st.none() | st.integers(-length - 2, length + 2)
    step = st.none() | st.integers(-4, 4).filter(bool)
    position = st.integers(-length, length - 1)
    return st.one_of(
        st.builds(slice, bound, bound, step),
        position,
        st.lists(position, max_size=12).map(lambda items: np.array(items, dtype=np.int64)),
        st.lists(st.booleans(), min_size=length, max_size=length).map(lambda items: np.array(items, dtype=bool)),
    )


def outer(data: np.ndarray, key: tuple) -> np.ndarray:
    """What the selection means: each axis on its own, integers last."""
    for axis, item in enumerate(key):
        item = slice(item, item + 1 or None) if isinstance(item, int) else item
        data = data[(slice(None),) * axis + (item,)]
    return data[tuple(0 if isinstance(item, int) else slice(None) for item in key)]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.data())
def test_any_selection_equals_numpy(arrays, choice):
    ours, data = arrays[choice.draw(st.integers(0, len(arrays) - 1))]
    key = tuple(choice.draw(axis_keys(length)) for length in data.shape)
    expected = outer(data, key)
    got = ours[key]
    assert np.shape(got) == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    if sum(isinstance(item, np.ndarray) for item in key) == 0:
        np.testing.assert_array_equal(got, data[key])
    if expected.shape:
        out = np.full(expected.shape[::-1], 7, data.dtype).T
        assert ours.read(key, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_shorthands(arrays):
    for ours, data in arrays:
        np.testing.assert_array_equal(ours[...], data)
        np.testing.assert_array_equal(ours[()], data)
        np.testing.assert_array_equal(ours[2], data[2])
        np.testing.assert_array_equal(ours[-1, ...], data[-1])
        np.testing.assert_array_equal(ours[..., 1:4], data[..., 1:4])
        np.testing.assert_array_equal(ours[[3, 3, -2]], data[[3, 3, -2]])
        np.testing.assert_array_equal(np.asarray(ours), data)
        np.testing.assert_array_equal(np.asarray(ours, dtype="f8"), data.astype("f8"))
        assert [np.asarray(row).tolist() for row in ours][1] == data[1].tolist()
        assert ours.read(0).shape == data[0].shape


def test_what_is_refused(arrays):
    ours, data = next((ours, data) for ours, data in arrays if data.ndim == 2)
    for key in [
        17,
        (0, 13),
        [17],
        [-18],
        (0, 0, 0),
        (..., ...),
        [0.5],
        np.zeros(5, bool),
        True,
        np.zeros((2, 2), int),
        "x",
    ]:
        with pytest.raises((IndexError, TypeError)):
            ours[key]
    with pytest.raises(ValueError):
        ours[None]
    with pytest.raises(ValueError):
        ours[data > 0]
    with pytest.raises(ValueError):
        ours.read(slice(0, 3), out=np.empty((2, 13), data.dtype))
    with pytest.raises(ValueError):
        ours.read(slice(0, 2), out=np.empty((2, 13), "f2"))
    with pytest.raises(ValueError):
        np.array(ours, copy=False)
