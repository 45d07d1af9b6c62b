"""What a user writes, for `mypy --strict`: the public names have types, and these are what they say."""

from pathlib import Path
from typing import Any

import numpy as np

import lamella as lm


def shapes(paths: list[Path]) -> list[tuple[int, int]]:
    return [opened.shape for path in paths if isinstance(opened := lm.open(path), lm.AnnData)]


def means(path: Path, genes: list[str]) -> np.ndarray:
    lazy = lm.open(path)
    assert isinstance(lazy, lm.AnnData)
    picked = lazy[:, genes]
    assert picked.X is not None
    total: np.ndarray = picked.X.mean(axis=0)
    return total


def joined(paths: list[Path], target: Path) -> dict[str, Any]:
    both = lm.concat(paths, join="outer", label="batch")
    column = both.obs["batch"]
    print(column.to_pandas(), both.obs_names[:3], both.layers.keys())
    return both.write(target, memory="256MiB", overwrite=True)


def first(path: Path) -> np.ndarray:
    array = lm.open(path, "X")
    assert isinstance(array, lm.Array)
    values: np.ndarray = array[:10]
    return values
