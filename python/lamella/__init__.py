"""Lamella: opens and converts AnnData stores and chunked arrays that are larger than memory.

import lamella as lm

store = lm.open("atlas.h5ad")           # HDF5, Zarr directory or Zarr zip; reads metadata only
block = store["X"][[5, 3, 3], 10:20]    # numpy
lm.convert("atlas.h5ad", "atlas.zarr", memory="256MiB")
"""

from importlib.metadata import version

from .concatenation import concat
from .conversion import convert, info
from .errors import (
    CorruptError,
    Error,
    ExistsError,
    InvalidError,
    IoError,
    NotFoundError,
    OutOfBudgetError,
    UnsupportedError,
)
from .lazy import AnnData, LazyArray, Mapping, Raw
from .matrix import Matrix
from .nodes import Array, Group
from .opening import open
from .table import Column, Table

__version__ = version("lamella")

__all__ = [
    "AnnData",
    "Array",
    "Column",
    "CorruptError",
    "Error",
    "ExistsError",
    "Group",
    "InvalidError",
    "IoError",
    "LazyArray",
    "Mapping",
    "Matrix",
    "NotFoundError",
    "OutOfBudgetError",
    "Raw",
    "Table",
    "UnsupportedError",
    "concat",
    "convert",
    "info",
    "open",
]
