"""One handle, many threads; and others run while we read."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import lamella as lm

from conftest import write_hdf5


def test_many_threads_read_one_handle(tmp_path):
    data = np.random.default_rng(1).normal(size=(400, 60)).astype("f4")
    ours = lm.open(write_hdf5(tmp_path / "a.h5", data, chunks=(16, 16), compression="gzip"), "a")

    def check(seed: int) -> bool:
        rows = np.random.default_rng(seed).integers(0, 400, 50)
        return bool((ours[rows] == data[rows]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(check, range(100)))


def test_the_interpreter_runs_while_we_read(tmp_path):
    data = np.random.default_rng(1).normal(size=(3000, 1000))
    ours = lm.open(write_hdf5(tmp_path / "a.h5", data, chunks=(100, 100), compression="gzip", compression_opts=1), "a")
    reader = threading.Thread(target=lambda: ours[...])
    reader.start()
    ticks = 0
    while reader.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 5
