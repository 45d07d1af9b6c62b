"""A lazy matrix: dense, CSR or CSC, on disk or computed from such."""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _core
from .elements import read_sparse
from .errors import InvalidError, UnsupportedError
from .nodes import Readable
from .selection import parse

if TYPE_CHECKING:
    import dask.array as da

# How one came about, for pickles: from what, and the methods that were called on it.
Step = tuple[str, tuple[Any, ...]]


class Matrix:
    """A 2-d matrix of numbers that is read when it is indexed, a block at a time. Immutable and thread-safe.

    `m[rows, columns]` reads: a numpy array if the matrix is dense, a scipy CSR or CSC matrix if it is sparse. Methods
    give lazy matrices again; what they compute is computed in the pass that reads.

    ================================  ======================================================================
    `astype`, `T`                     dense and sparse
    `* number`, `/ number`, `abs()`   dense and sparse, float32 and float64; integers become float64 first
    `log1p`, `expm1`, `sqrt`, `** n`  likewise; of a sparse matrix the stored values
    `scale_rows`, `scale_columns`     likewise
    `normalize_total`                 likewise; one pass reads the sums of the rows when it is called
    `+ number`, `add_rows`,           dense only: a sparse matrix would fill
    `add_columns`
    `todense`, `tocsr`, `tocsc`       by block, when read; a change between CSR and CSC goes through all of it
    ================================  ======================================================================

    For everything else there are `to_dask()` and the matrix in memory, `m[...]`.
    """

    __array_priority__ = 100.0  # numpy asks us first: `array * matrix`
    ndim = 2

    def __init__(self, core: Any, source: Any, steps: tuple[Step, ...] = ()):
        self._core = core
        self._source = source  # has _matrix(); pickles
        self._steps = steps
        self.shape: tuple[int, int] = tuple(core.shape)
        self.dtype = np.dtype(core.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._source, self._steps)

    @property
    def format(self) -> str:
        """ "dense", "csr" or "csc"."""
        return self._core.format

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Pieces in which reading is cheapest; None for a sparse matrix and where any piece costs the same."""
        return tuple(self._core.chunks) or None

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def nbytes_stored(self) -> int:
        """Bytes on disk behind it."""
        return self._core.stored_bytes()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Reads rows and columns as numpy indexes them; several index arrays select independently (outer product).

        A dense matrix drops the axis of an integer, a sparse one keeps both.
        """
        if self.format == "dense":
            return Readable(self._core.dense).read(key)
        selection = parse(key, self.shape)
        if not any(selection.kept):
            return read_sparse(self._core.take(*selection.picks)).toarray()[0, 0]
        return read_sparse(self._core.take(*selection.picks))

    def take(self, rows: Any = slice(None), columns: Any = slice(None)) -> "Matrix":
        """The same selection as `m[rows, columns]`, lazily; both axes stay."""
        picks = parse((rows, columns), self.shape).picks
        return self._then("take", *picks)

    def to_memory(self) -> Any:
        """All of it: a numpy array, or a scipy CSR or CSC matrix."""
        return self[...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a lazy matrix has to be read: copy=False is not possible")
        whole = Readable(self._core.densified().dense).read(...)
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return (1, 0)  # the processor's memory

    def blocks(self, rows: int) -> Iterator[Any]:
        """Reads `rows` rows at a time, in order."""
        for start in range(0, self.shape[0], rows):
            yield self[start : start + rows]

    # What follows is lazy.

    def _then(self, method: str, *args: Any) -> "Matrix":
        return Matrix(_apply(self._core, method, args), self._source, (*self._steps, (method, args)))

    def astype(self, dtype: Any) -> "Matrix":
        return self._then("cast", np.dtype(dtype).str)

    @property
    def T(self) -> "Matrix":
        return self._then("transposed")

    def transpose(self) -> "Matrix":
        return self.T

    def todense(self) -> "Matrix":
        return self._then("densified")

    def tocsr(self) -> "Matrix":
        return self._as_sparse("csr")

    def tocsc(self) -> "Matrix":
        return self._as_sparse("csc")

    def _as_sparse(self, form: str) -> "Matrix":
        if self.format == form:
            return self
        if self.format == "dense":
            raise UnsupportedError("a dense matrix becomes sparse when it is written: convert(…, sparse='csr')")
        return self._then("relaid")

    def _float(self) -> "Matrix":
        native = self.dtype.newbyteorder("=")
        if native in (np.dtype("f4"), np.dtype("f8")):
            return self if self.dtype.isnative else self.astype(native)
        if self.dtype.kind not in "biuf":
            raise UnsupportedError(f"arithmetic on {self.dtype}; use to_dask()")
        return self.astype("f8" if self.dtype != np.dtype("f2") else "f4")

    def _map(self, operation: str, operand: float = 0.0) -> "Matrix":
        return self._float()._then("map", operation, float(operand))

    def log1p(self) -> "Matrix":
        return self._map("log1p")

    def expm1(self) -> "Matrix":
        return self._map("expm1")

    def sqrt(self) -> "Matrix":
        return self._map("sqrt")

    def __abs__(self) -> "Matrix":
        return self._map("abs")

    def __pow__(self, power: float) -> "Matrix":
        return self._map("power", power)

    def __mul__(self, factor: float) -> "Matrix":
        return self._map("multiply", _number(factor, "*", "scale_rows() or scale_columns()"))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Matrix":
        return self._map("multiply", 1.0 / _number(divisor, "/", "scale_rows() or scale_columns()"))

    def __neg__(self) -> "Matrix":
        return self * -1.0

    def __add__(self, term: float) -> "Matrix":
        return self._map("add", _number(term, "+", "add_rows() or add_columns()"))

    __radd__ = __add__

    def __sub__(self, term: float) -> "Matrix":
        return self + -_number(term, "-", "add_rows() or add_columns()")

    def scale_rows(self, factors: Any) -> "Matrix":
        """Row i times factors[i]."""
        return self._float()._then("scale", 0, _vector(factors))

    def scale_columns(self, factors: Any) -> "Matrix":
        """Column i times factors[i]."""
        return self._float()._then("scale", 1, _vector(factors))

    def add_rows(self, terms: Any) -> "Matrix":
        """Row i plus terms[i]; dense matrices only."""
        return self._float()._then("add_along", 0, _vector(terms))

    def add_columns(self, terms: Any) -> "Matrix":
        """Column i plus terms[i]; dense matrices only."""
        return self._float()._then("add_along", 1, _vector(terms))

    def normalize_total(self, target_sum: float | None = None) -> "Matrix":
        """Rows scaled to the same sum: `target_sum`, or the median of the sums that are not zero.

        Reads the matrix once, for the sums. Rows of zeros stay as they are.
        """
        sums = self.sum(axis=1)
        counted = sums[sums > 0]
        target = float(np.median(counted)) if target_sum is None and counted.size else target_sum or 1.0
        return self.scale_rows(np.where(sums > 0, target / np.where(sums > 0, sums, 1.0), 1.0))

    # What follows reads the matrix once, in parallel, whatever its size.

    def _reduce(self, what: str, axis: int | None, memory: int | str | None) -> Any:
        budget = _core.parse_bytes(memory) if isinstance(memory, str) else int(memory or 64 << 20)
        if axis not in (0, 1, -1, -2, None):
            raise InvalidError(f"a matrix has the axes 0 and 1, not {axis!r}")
        return self._core.reduce(what, 0 if axis is None else axis % 2, budget)

    def sum(self, axis: int | None = None, *, memory: int | str | None = None) -> Any:
        """Sums in float64: of the columns (axis=0), the rows (axis=1), or all."""
        sums = self._reduce("sum", axis, memory)
        return sums.sum() if axis is None else sums

    def mean(self, axis: int | None = None, *, memory: int | str | None = None) -> Any:
        length = self.size if axis is None else self.shape[axis]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.divide(self.sum(axis, memory=memory), length)

    def var(self, axis: int, *, ddof: int = 0, memory: int | str | None = None) -> np.ndarray:
        """Variances, from the sums and the sums of squares: two passes."""
        n = self.shape[axis]
        mean = self.mean(axis, memory=memory)
        squares = self._reduce("sum_of_squares", axis, memory)
        return np.maximum(squares / n - mean**2, 0) * (n / (n - ddof))

    def max(self, axis: int | None = None, *, memory: int | str | None = None) -> Any:
        highest = self._reduce("max", axis, memory)
        return highest.max() if axis is None else highest

    def min(self, axis: int | None = None, *, memory: int | str | None = None) -> Any:
        lowest = self._reduce("min", axis, memory)
        return lowest.min() if axis is None else lowest

    def count_nonzero(self, axis: int | None = None, *, memory: int | str | None = None) -> Any:
        """How many elements are not zero, by column (axis=0), by row (axis=1), or in all."""
        counts = self._reduce("count_nonzero", axis, memory).astype(np.int64)
        return counts.sum() if axis is None else counts

    def to_dask(self, chunks: Any = "auto", backend: Literal["numpy", "cupy"] = "numpy") -> "da.Array":
        """A dask array whose blocks are read by Lamella: numpy, or scipy CSR or CSC; or those of cupy on its device.

        `chunks` is what dask takes, of any size along either axis, whatever the chunks on disk.
        """
        from .dask import matrix_to_dask

        return matrix_to_dask(self, chunks, backend)

    def __repr__(self) -> str:
        computed = f", {' → '.join(method for method, _ in self._steps)}" if self._steps else ""
        return f"<lamella.Matrix {self.shape[0]} × {self.shape[1]} {self.dtype} {self.format}{computed}>"


def _number(value: Any, sign: str, instead: str) -> float:
    try:
        return float(operator.index(value) if isinstance(value, (int, np.integer)) else value)
    except (TypeError, ValueError):
        raise TypeError(f"{sign} takes a number; for one number a row or column there is {instead}") from None


def _vector(values: Any) -> list[float]:
    return np.asarray(values, dtype=np.float64).ravel().tolist()


def _apply(core: Any, method: str, args: Sequence[Any]) -> Any:
    call: Callable[..., Any] = getattr(core, method)
    return call(*args)


def _rebuild(source: Any, steps: tuple[Step, ...]) -> Matrix:
    core = source._matrix()
    for method, args in steps:
        core = _apply(core, method, args)
    return Matrix(core, source, steps)
