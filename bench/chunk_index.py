"""Listing 100 000 chunks of an HDF5 dataset: opening the file and walking its index, beside h5py's chunk_iter. Each run
opens the file anew; the page cache is warm.

    build/venv/bin/python bench/chunk_index.py
"""

import statistics
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

import lamella as lm

RUNS = 5
CHUNKS = 100_000


def milliseconds(work) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chunks.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=np.arange(CHUNKS * 256, dtype="i4"), chunks=(256,))

        def ours() -> None:
            assert lm.info(path, "x")["stored_bytes"] == CHUNKS * 1024

        def theirs() -> None:
            seen = []
            with h5py.File(path) as file:
                file["x"].id.chunk_iter(seen.append)
            assert len(seen) == CHUNKS

        times = {work: [] for work in (ours, theirs)}
        for _ in range(RUNS):
            for work in times:
                times[work].append(milliseconds(work))
    a, b = (statistics.median(times[work]) for work in (ours, theirs))
    print("| chunks | lamella ms | h5py chunk_iter ms | ratio |\n| --- | --- | --- | --- |")
    print(f"| {CHUNKS} | {a:.1f} | {b:.1f} | {b / a:.1f}× |")


if __name__ == "__main__":
    main()
