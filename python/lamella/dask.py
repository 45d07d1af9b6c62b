"""Lazy matrices as dask arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import UnsupportedError

if TYPE_CHECKING:
    import dask.array as da

    from .matrix import Matrix


def _read_block(matrix: "Matrix", rows: slice, columns: slice) -> Any:
    return matrix[rows, columns]


def matrix_to_dask(matrix: "Matrix", chunks: Any) -> "da.Array":
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
    name = f"lamella-{tokenize(matrix.__reduce__(), normal)}"
    starts = [np.cumsum([0, *lengths]) for lengths in normal]
    graph = {
        (name, i, j): (
            _read_block,
            matrix,
            slice(int(starts[0][i]), int(starts[0][i + 1])),
            slice(int(starts[1][j]), int(starts[1][j + 1])),
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
