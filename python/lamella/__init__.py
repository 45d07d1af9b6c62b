"""Lamella: opens and converts AnnData stores and chunked arrays that are larger than memory.

import lamella as lm

store = lm.open("atlas.h5ad")           # HDF5, Zarr directory or Zarr zip; reads metadata only
block = store["X"][[5, 3, 3], 10:20]    # numpy
lm.convert("atlas.h5ad", "atlas.zarr", memory="256MiB")
"""

from importlib.metadata import version

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
from .nodes import Array, Group, open

__version__ = version("lamella")

__all__ = [
    "Array",
    "CorruptError",
    "Error",
    "ExistsError",
    "Group",
    "InvalidError",
    "IoError",
    "NotFoundError",
    "OutOfBudgetError",
    "UnsupportedError",
    "convert",
    "info",
    "open",
]
