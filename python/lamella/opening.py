"""`open`: a path, or a handle of h5py or zarr, to what lies there."""

import os
from typing import Any

from . import _core
from .errors import InvalidError, UnsupportedError
from .lazy import AnnData, open_anndata
from .nodes import Array, Group, open_node


def open(path: Any, element: str = "") -> AnnData | Group | Array:
    """Opens what lies at `path`: an HDF5 file, a Zarr directory or a Zarr zip. Only metadata are read.

    An AnnData of any age is a lazy `AnnData`, everything else a `Group` or an `Array`. `element` opens one part:
    `open("a.h5ad", "obs/age")`. In place of a path there may be an `h5py.File`, `Group` or `Dataset`, or a
    `zarr.Group` or `Array` of a local store: its location is taken, the handle is not kept.
    """
    if isinstance(path, (str, os.PathLike)):
        location = os.fspath(path)
    else:
        location, inside = _locate(path)
        element = "/".join(part for part in (inside, element.strip("/")) if part)
    if isinstance(location, bytes):
        location = os.fsdecode(location)
    location = os.path.abspath(location)
    node = open_node(location, element)
    if isinstance(node, Group) and _core.is_anndata(node._core):
        return open_anndata(location, element.strip("/"))
    return node


def _locate(handle: Any) -> tuple[str, str]:
    """Location and element of a handle."""
    module = type(handle).__module__.split(".")[0]
    if module == "h5py":
        if handle.file.mode != "r":
            handle.file.flush()
        if handle.file.driver not in ("sec2", "stdio", "mpio", "direct"):
            raise UnsupportedError(f"an h5py file of the driver {handle.file.driver!r} has no place on disk")
        return handle.file.filename, handle.name.strip("/")
    if module == "zarr":
        store = handle.store
        root = getattr(store, "root", None) or getattr(store, "path", None)
        if root is None or not os.path.exists(root):
            raise UnsupportedError(f"a zarr store of type {type(store).__name__} has no place on disk")
        return os.fspath(root), handle.path.strip("/")
    raise InvalidError(f"a path, or a handle of h5py or zarr, is needed, not {type(handle).__name__}")
