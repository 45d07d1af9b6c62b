"""What stands between the brackets of `array[…]`, brought to one selection an axis."""

import operator
from typing import Any, NamedTuple

import numpy as np

from .errors import InvalidError

# Of one axis: (start, step, count), or positions as an int64 array.
Picks = tuple[int, int, int] | np.ndarray


class Selection(NamedTuple):
    """`picks` has an entry an axis; `kept` says whether the axis stays in the result (an integer drops it)."""

    picks: list[Picks]
    kept: list[bool]

    @property
    def counts(self) -> list[int]:
        return [pick[2] if isinstance(pick, tuple) else len(pick) for pick in self.picks]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(count for count, keep in zip(self.counts, self.kept, strict=True) if keep)


def _positions(array: np.ndarray, length: int, axis: int) -> np.ndarray:
    if array.dtype == bool:
        if array.shape != (length,):
            raise IndexError(f"a mask of shape {array.shape} does not fit axis {axis} of length {length}")
        return np.flatnonzero(array).astype(np.int64)
    if array.ndim != 1:
        raise IndexError("index arrays must have one dimension; several of them select rows, columns, … independently")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise IndexError(f"arrays used as indices must be of integer or boolean type, not {array.dtype}")
    if int(array.min()) < -length or int(array.max()) >= length:
        raise IndexError(f"index out of bounds for axis {axis} of length {length}")
    array = array.astype(np.int64)
    return np.ascontiguousarray(np.where(array < 0, array + length, array))


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def pick(item: Any, length: int, axis: int) -> tuple[Picks, bool]:
    if isinstance(item, slice):
        start, stop, step = item.indices(length)
        return (start, step, len(range(start, stop, step))), True
    if isinstance(item, (bool, np.bool_)):
        raise IndexError("a single bool is no index")
    try:
        position = operator.index(item)
    except TypeError:
        return _positions(np.asarray(item), length, axis), True
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of bounds for axis {axis} of length {length}")
    return (position % length, 1, 1), False


def parse(key: Any, shape: tuple[int, ...]) -> Selection:
    """As numpy, save that several index arrays select along their axes independently (the outer product)."""
    items = list(key) if isinstance(key, tuple) else [key]
    if any(item is None for item in items):
        raise InvalidError("None (a new axis) is not supported between the brackets; use numpy on the result")
    if len(shape) > 1 and len(items) == 1 and _is_mask(items[0]) and items[0].ndim > 1:
        raise InvalidError("a mask covers one axis; give one mask an axis, or use numpy on the result")
    dots = [number for number, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    given = len(items) - len(dots)
    if given > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, but {given} were indexed")
    at = dots[0] if dots else len(items)
    items[at : at + 1] = [slice(None)] * (len(shape) - given)
    picked = [pick(item, length, axis) for axis, (item, length) in enumerate(zip(items, shape, strict=True))]
    return Selection([pick for pick, _ in picked], [keep for _, keep in picked])
