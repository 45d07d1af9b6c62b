"""What `open` gives: groups and arrays."""

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from .errors import InvalidError, NotFoundError
from .selection import Selection, parse


def open_node(path: str | os.PathLike[str], element: str = "") -> "Group | Array":
    """What lies at `path`, or one element of it, as it is stored. Only metadata are read."""
    location = os.path.abspath(os.fspath(path))
    root, _ = _core.open(os.fspath(path))
    node = _wrap(root, location, "")
    return node[element] if element.strip("/") else node


def _wrap(core: Any, location: str, element: str) -> "Group | Array":
    return (Array if isinstance(core, _core.Array) else Group)(core, location, element)


class _Node:
    """Pickles as (path, element): it is opened again where it lands."""

    def __init__(self, core: Any, location: str, element: str):
        self._core = core
        self._location = location
        self._element = element

    def __reduce__(self) -> tuple[Any, ...]:
        return open_node, (self._location, self._element)

    @property
    def name(self) -> str:
        """The element's path, from the root: "/obs/age"."""
        return "/" + self._element

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes, as a new dict of plain Python values."""
        return self._core.attributes()


class Group(_Node):
    """A group: a read-only mapping of names to groups and arrays. Thread-safe."""

    def keys(self) -> list[str]:
        return self._core.children()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            self[path]
        except (NotFoundError, InvalidError):
            return False
        return True

    def __getitem__(self, path: str) -> "Group | Array":
        if not isinstance(path, str):
            raise TypeError(f"a group is indexed by the name of a child, not by {type(path).__name__}")
        parts = [part for part in path.split("/") if part]
        inner = "/".join(parts)
        element = f"{self._element}/{inner}" if self._element else inner
        return _wrap(self._core.at(inner), self._location, element)

    def values(self) -> "list[Group | Array]":
        return [self[name] for name in self]

    def items(self) -> "list[tuple[str, Group | Array]]":
        return [(name, self[name]) for name in self]

    def __repr__(self) -> str:
        return f"<lamella.Group {self.name} of {self._location}: {', '.join(self)}>"


class Readable:
    """What is read by indexing: an array on disk, or one that is computed on the way. Thread-safe."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def __init__(self, core: Any):
        self._core = core
        self.shape = tuple(core.shape)
        self._stored = np.dtype(core.dtype)
        self._vlen = core.vlen
        #: As numpy sees the elements, byte order kept; variable-length strings and bytes are Python objects.
        self.dtype = with_objects(self._stored, self._vlen)

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Shape of a chunk; None when the array is stored in one piece, or computed."""
        return tuple(self._core.chunks) or None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Decoded bytes; strings count with the 16 bytes of their reference."""
        return self.size * self._stored.itemsize

    def __getitem__(self, key: Any) -> Any:
        """As numpy: integers, slices with any step, `...`, masks, and integer arrays in any order with duplicates.

        Several index arrays select along their axes independently (the outer product), as zarr's `oindex` does.
        """
        return self.read(key)

    def read(self, region: Any = (), out: np.ndarray | None = None) -> Any:
        """Reads what `self[region]` selects, into `out` when it is given: an array of that shape and of this dtype."""
        selection = parse(region, self.shape)
        if out is None:
            out = np.empty(selection.shape, self.dtype)
        elif out.shape != selection.shape or out.dtype != self.dtype:
            raise InvalidError(f"out is {out.dtype} {out.shape}; the region needs {self.dtype} {selection.shape}")
        elif not out.flags.writeable:
            raise InvalidError("out is read-only")
        if self._vlen is None:
            self._read_into(selection, out, _core.Heap())
        else:
            raw = np.empty(selection.shape, self._stored)
            heap = _core.Heap()  # keeps what the references of `raw` point to
            self._read_into(selection, raw, heap)
            fill_objects(out, raw, self._vlen, heap)
        return out[()] if not selection.shape else out

    def _read_into(self, selection: Selection, out: np.ndarray, heap: Any) -> None:
        strides = iter(out.strides)
        all_strides = [next(strides) if kept else 0 for kept in selection.kept]
        self._core.read(selection.picks, out.ctypes.data, all_strides, heap)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on disk has to be read: copy=False is not possible")
        whole = np.asarray(self.read(...))
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))


class Array(_Node, Readable):
    """An array on disk. Nothing is read until it is indexed; then each chunk is decoded once. Thread-safe."""

    def __init__(self, core: Any, location: str, element: str):
        _Node.__init__(self, core, location, element)
        Readable.__init__(self, core)

    def read(self, region: Any = (), out: np.ndarray | None = None) -> Any:
        if self._core.null_space:
            return None
        return super().read(region, out)

    read.__doc__ = Readable.read.__doc__

    @property
    def size(self) -> int:
        return 0 if self._core.null_space else super().size

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of a shard; None when each chunk is stored for itself."""
        return tuple(self._core.shards) or None

    @property
    def codec(self) -> str:
        """As the command line spells it, e.g. "shuffle,gzip:4"; "none" without compression."""
        return self._core.codec

    @property
    def stored_bytes(self) -> int:
        """Bytes on disk, all chunks together."""
        return self._core.stored_bytes()

    def __repr__(self) -> str:
        return f"<lamella.Array {self.name} of {self._location}: {self.shape} {self.dtype}>"


# What `core.vlen` says of a type: None (no variable-length part), "str", "bytes", or a dict of a record's fields.
Vlen = str | dict[str, Any] | None


def with_objects(dtype: np.dtype, vlen: Vlen) -> np.dtype:
    if vlen is None:
        return dtype
    if isinstance(vlen, str):
        return np.dtype(object)
    fields = [(name, _field_with_objects(dtype[name], vlen[name])) for name in dtype.names or ()]
    return np.dtype(fields)


def _field_with_objects(dtype: np.dtype, vlen: Vlen) -> np.dtype:
    if dtype.subdtype is None:
        return with_objects(dtype, vlen)
    base, shape = dtype.subdtype
    return np.dtype((with_objects(base, vlen), shape))


def fill_objects(out: np.ndarray, raw: np.ndarray, vlen: Vlen, heap: Any) -> None:
    if vlen is None:
        out[...] = raw
    elif isinstance(vlen, str):
        flat = np.ascontiguousarray(raw)
        values = np.empty(flat.size, object)
        values[:] = _core.strings(flat.ctypes.data, flat.itemsize, flat.size, vlen == "bytes", heap)
        out[...] = values.reshape(raw.shape)
    else:
        for name in raw.dtype.names or ():
            fill_objects(out[name], raw[name], vlen[name], heap)
