"""Selections of observations and variables: names, positions, slices and masks, brought to positions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InvalidError
from .selection import Picks, pick

if TYPE_CHECKING:
    import pandas as pd


def whole(length: int) -> Picks:
    return (0, 1, length)


def count(picks: Picks) -> int:
    return picks[2] if isinstance(picks, tuple) else len(picks)


def compose(outer: Picks, inner: Picks) -> Picks:
    """`inner` selects from what `outer` selected."""
    if isinstance(outer, tuple) and isinstance(inner, tuple):
        return (outer[0] + inner[0] * outer[1], outer[1] * inner[1], inner[2])
    if isinstance(inner, tuple):
        return np.ascontiguousarray(as_array(outer)[inner[0] + inner[1] * np.arange(inner[2])])
    return np.ascontiguousarray(as_array(outer)[inner])


def as_array(picks: Picks) -> np.ndarray:
    if isinstance(picks, tuple):
        start, step, length = picks
        return start + step * np.arange(length, dtype=np.int64)
    return picks


def resolve(item: Any, length: int, names: "Callable[[], pd.Index]", axis: int) -> Picks:
    """As anndata indexes one axis. `names` gives the index, when names are asked for."""
    if isinstance(item, slice):
        if all(part is None or isinstance(part, (int, np.integer)) for part in (item.start, item.stop, item.step)):
            return pick(item, length, axis)[0]
        start, stop = names().slice_locs(item.start, item.stop)
        return (start, item.step or 1, len(range(start, stop, item.step or 1)))
    if isinstance(item, str):
        return _named([item], names, axis)
    if hasattr(item, "to_numpy"):  # a Series, an Index, a column
        item = item.to_numpy()
    if isinstance(item, (bool, np.bool_)) or item is None:
        raise InvalidError(f"{item!r} selects nothing; use a mask, positions, names or a slice")
    array = np.asarray(item.toarray().ravel() if hasattr(item, "toarray") else item)
    if array.ndim == 2 and 1 in array.shape:  # numpy.matrix, a column of one
        array = array.ravel()
    if array.size and array.dtype.kind in "OUST":
        if array.dtype.kind == "O" and all(isinstance(one, (bool, np.bool_)) for one in array.ravel()):
            array = array.astype(bool)
        else:
            return _named([str(name) for name in array.ravel()], names, axis)
    if array.dtype.kind == "f" and array.size and not np.array_equal(array, array.astype(np.int64)):
        raise IndexError(f"positions along axis {axis} are no whole numbers")
    if array.dtype.kind == "f" or not array.size:
        array = array.astype(bool if array.dtype.kind == "b" else np.int64)
    picks = pick(array if array.ndim else int(array), length, axis)[0]
    return picks


def _named(wanted: list[str], names: "Callable[[], pd.Index]", axis: int) -> np.ndarray:
    index = names()
    if not index.is_unique:
        duplicated = index[index.duplicated()][0]
        if len(set(wanted) & set(index[index.duplicated()])):
            raise KeyError(f"the name {duplicated!r} occurs several times along axis {axis}; select by position")
        positions = {name: at for at, name in enumerate(index)}
        found = np.array([positions.get(name, -1) for name in wanted], dtype=np.int64)
    else:
        found = np.asarray(index.get_indexer(wanted), dtype=np.int64)
    if len(found) and found.min() < 0:
        missing = [name for name, at in zip(wanted, found, strict=True) if at < 0]
        raise KeyError(f"{len(missing)} names are not in the index of axis {axis}: {', '.join(map(repr, missing[:5]))}")
    return np.ascontiguousarray(found)
