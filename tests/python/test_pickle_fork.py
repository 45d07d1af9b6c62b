"""Handles travel: pickled by path, used after fork and in spawned processes."""

import multiprocessing
import pickle

import numpy as np
import pytest

import lamella as lm

from conftest import write_zarr


@pytest.fixture
def array(tmp_path):
    data = np.arange(4000.0).reshape(80, 50)
    return lm.open(write_zarr(tmp_path / "a.zarr", data, chunks=(7, 9)), "a"), data


def total(array) -> float:
    return float(array[::-1].sum())


def test_pickles_are_paths(array, monkeypatch, tmp_path_factory):
    ours, data = array
    text = pickle.dumps(ours)
    assert len(text) < 1000
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    again = pickle.loads(text)
    assert again.name == "/a"
    np.testing.assert_array_equal(again[...], data)
    group = pickle.loads(pickle.dumps(lm.open(ours._location)))
    assert list(group) == ["a"]


def test_relative_paths_survive_a_change_of_folder(array, monkeypatch):
    ours, data = array
    monkeypatch.chdir(ours._location + "/..")
    relative = lm.open("a.zarr")["a"]
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(relative))[0], data[0])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes(array, method):
    ours, data = array
    assert total(ours) == data.sum()  # the threads run before the fork
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(total, [ours] * 4) == [data.sum()] * 4
    assert total(ours) == data.sum()
