"""Lazy matrices as dask arrays."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .errors import InvalidError, UnsupportedError

if TYPE_CHECKING:
    import dask.array as da

    from .matrix import Matrix


Backend = Literal["numpy", "cupy"]


def _read_block(matrix: "Matrix", rows: slice, columns: slice, backend: Backend) -> Any:
    return _put(matrix[rows, columns], matrix.format, backend)


def _put(block: Any, form: str, backend: Backend) -> Any:
    """Where the backend has its memory."""
    if backend == "numpy":
        return block
    if form == "dense":
        import cupy

        return cupy.asarray(block)
    import cupyx.scipy.sparse as on_device

    return (on_device.csr_matrix if form == "csr" else on_device.csc_matrix)(block)


def matrix_to_dask(matrix: "Matrix", chunks: Any, backend: Backend) -> "da.Array":
    if backend not in ("numpy", "cupy"):
        raise InvalidError(f"backend is 'numpy' or 'cupy', not {backend!r}")
    if backend == "cupy" and find_spec("cupy") is None:
        raise UnsupportedError("blocks on a device need the package cupy")
    try:
        import dask.array as da
        from dask.base import tokenize
    except ImportError:
        raise UnsupportedError("to_dask() needs the package dask") from None
    normal = da.core.normalize_chunks(
        chunks, shape=matrix.shape, dtype=matrix.dtype, previous_chunks=_previous(matrix.chunks, matrix.shape)
    )
    if matrix.format == "dense":
        meta: Any = np.empty((0, 0), dtype=matrix.dtype)
    else:
        import scipy.sparse as sp

        meta = (sp.csr_matrix if matrix.format == "csr" else sp.csc_matrix)((0, 0), dtype=matrix.dtype)
    meta = _put(meta, matrix.format, backend)
    name = f"lamella-{tokenize(matrix.__reduce__(), normal, backend)}"
    starts = [np.cumsum([0, *lengths]) for lengths in normal]
    graph = {
        (name, i, j): (
            _read_block,
            matrix,
            slice(int(starts[0][i]), int(starts[0][i + 1])),
            slice(int(starts[1][j]), int(starts[1][j + 1])),
            backend,
        )
        for i in range(len(normal[0]))
        for j in range(len(normal[1]))
    }
    return da.Array(graph, name, normal, meta=meta, dtype=matrix.dtype)


def _previous(chunks: tuple[int, ...] | None, shape: tuple[int, int]) -> Any:
    if chunks is None:
        return None
    return tuple(
        tuple(min(chunk, length - start) for start in range(0, length, chunk)) or (0,)
        for chunk, length in zip(chunks, shape, strict=True)
    )
