"""Elements of a lazy store as the objects in memory that anndata makes of them."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import UnsupportedError
from .nodes import Readable

if TYPE_CHECKING:
    import pandas as pd


def in_memory(tree: Any) -> Any:
    """Reads an element: numpy, scipy and awkward arrays, pandas tables and columns, dicts, scalars, str, None."""
    encoding = tree.encoding
    if tree.is_null or encoding == "null":
        return None
    if tree.is_sparse:
        return read_sparse(tree.matrix)
    if tree.values is not None:
        return _array(tree, encoding)
    read: Callable[[Any], Any] = _READERS.get(encoding, _mapping)
    return read(tree)


def read_array(core: Any) -> Any:
    """The whole of a `_core.Expr` as numpy."""
    return Readable(core).read(...)


def read_sparse(core: Any) -> Any:
    """A sparse `_core.Matrix` as scipy.sparse.csr_matrix or csc_matrix."""
    import scipy.sparse as sp

    data, indices, indptr, index_type = core.read_sparse()
    kind = sp.csr_matrix if core.format == "csr" else sp.csc_matrix
    dtype = np.dtype(core.dtype)
    out = kind(tuple(core.shape), dtype=dtype)
    # Set rather than passed: scipy would look through indices that were checked already, and swap foreign byte orders.
    out.data, out.indices, out.indptr = data.view(dtype), indices.view(index_type), indptr.view(index_type)
    return out


def _array(tree: Any, encoding: str) -> Any:
    values = read_array(tree.values)
    if encoding == "numeric-scalar":
        return values.item() if isinstance(values, np.generic) else values
    return values


def _mapping(tree: Any) -> dict[str, Any]:
    return {name: in_memory(tree.child(name)) for name in tree.children()}


def _categorical(tree: Any) -> "pd.Categorical":
    import pandas as pd

    return pd.Categorical.from_codes(
        codes=in_memory(tree.child("codes")),
        categories=in_memory(tree.child("categories")),
        ordered=bool(tree.attributes().get("ordered", False)),
    )


def _nullable(tree: Any) -> Any:
    import pandas as pd

    values, mask = in_memory(tree.child("values")), in_memory(tree.child("mask")).astype(bool)
    if tree.encoding == "nullable-string-array":
        missing = pd.NA if tree.attributes().get("na-value", "NA") == "NA" else np.nan
        out = pd.array(values, dtype=pd.StringDtype(na_value=missing))
        out[mask] = missing
        return out
    kind = {"b": pd.arrays.BooleanArray, "f": pd.arrays.FloatingArray}.get(values.dtype.kind, pd.arrays.IntegerArray)
    return kind(values, mask=mask)


def read_index(tree: Any) -> "pd.Index":
    """The index of a table."""
    import pandas as pd

    name = tree.attributes()["_index"]
    return pd.Index(in_memory(tree.child(name)), name=None if name == "_index" else name)


def read_frame(tree: Any, columns: list[str] | None = None) -> "pd.DataFrame":
    """A table, or some columns of it."""
    import pandas as pd

    columns = column_names(tree) if columns is None else columns
    frame = pd.DataFrame(
        {name: in_memory(tree.child(name)) for name in columns},
        index=in_memory(tree.child(tree.attributes()["_index"])),
        columns=columns or None,
    )
    frame.index.name = read_index_name(tree)
    return frame


def read_index_name(tree: Any) -> str | None:
    name = tree.attributes()["_index"]
    return None if name == "_index" else name


def column_names(tree: Any) -> list[str]:
    return [str(name) for name in tree.attributes().get("column-order", [])]


def _awkward(tree: Any) -> Any:
    try:
        import awkward as ak
    except ImportError:
        raise UnsupportedError(f"{tree.name}: reading an awkward array needs the package awkward") from None
    attributes = tree.attributes()
    form = attributes["form"]
    buffers = {name: in_memory(tree.child(name)) for name in tree.children()}
    return ak.from_buffers(form if isinstance(form, str) else json.dumps(form), int(attributes["length"]), buffers)


_READERS: dict[str, Callable[[Any], Any]] = {
    "dataframe": read_frame,
    "categorical": _categorical,
    "nullable-integer": _nullable,
    "nullable-boolean": _nullable,
    "nullable-float": _nullable,
    "nullable-string-array": _nullable,
    "awkward-array": _awkward,
}
