"""A lazy AnnData as `anndata.AnnData`, in memory or over dask."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import in_memory, read_frame
from .errors import UnsupportedError
from .lazy import AnnData
from .matrix import Matrix

if TYPE_CHECKING:
    import anndata


def _anndata() -> Any:
    try:
        import anndata
    except ImportError:
        raise UnsupportedError("to_memory() needs the package anndata; elements can be read without it") from None
    return anndata


def _mapping(lazy: AnnData, name: str, read: Callable[[Any], Any]) -> dict[str, Any]:
    tree = lazy._store.root.child(name)
    if tree is None or tree.is_null:
        return {}
    return {key: read(tree.child(key)) for key in tree.children()}


def _build(lazy: AnnData, matrix: Callable[[Any], Any]) -> "anndata.AnnData":
    root = lazy._store.root
    parts: dict[str, Any] = {name: _mapping(lazy, name, matrix) for name in ("layers", "obsm", "varm", "obsp", "varp")}
    parts["obs"], parts["var"] = read_frame(root.child("obs")), read_frame(root.child("var"))
    parts["uns"] = in_memory(root.child("uns")) if lazy._has("uns") else {}
    if lazy._cut is not None:
        _drop_unused_categories(lazy._cut[0], parts)
    if lazy._has("X"):
        parts["X"] = matrix(root.child("X"))
    else:
        parts["shape"] = None
    if lazy._has("raw"):
        raw = root.child("raw")
        varm = raw.child("varm")
        parts["raw"] = {
            "X": matrix(raw.child("X")),
            "var": read_frame(raw.child("var")),
            "varm": {key: matrix(varm.child(key)) for key in varm.children()} if varm is not None else {},
        }
    return _anndata().AnnData(**{key: value for key, value in parts.items() if value is not None})


def to_memory(lazy: AnnData) -> "anndata.AnnData":
    return _build(lazy, in_memory)


def to_dask_anndata(lazy: AnnData, chunks: Any, backend: Any) -> "anndata.AnnData":
    from .lazy import _Place

    paths = {id(tree): path for path, tree in _matrices(lazy)}

    def matrix(tree: Any) -> Any:
        path = paths.get(id(tree)) or next((p for p, t in _matrices(lazy) if t.name == tree.name), None)
        if not tree.is_matrix or path is None:
            return in_memory(tree)
        return Matrix(tree.matrix, _Place(lazy, path)).to_dask(chunks, backend)

    return _build(lazy, matrix)


def _matrices(lazy: AnnData) -> list[tuple[tuple[str, ...], Any]]:
    root = lazy._store.root
    out: list[tuple[tuple[str, ...], Any]] = [((name,), root.child(name)) for name in ("X",) if lazy._has(name)]
    for name in ("layers", "obsm", "varm", "obsp", "varp"):
        part = root.child(name)
        out += [((name, key), part.child(key)) for key in part.children()] if part is not None else []
    if lazy._has("raw"):
        out.append((("raw", "X"), root.child("raw").child("X")))
    return out


# What anndata does to a view: categories that no row has any more go, and the colours of them with them.
def _drop_unused_categories(base: AnnData, parts: dict[str, Any]) -> None:
    import pandas as pd

    uns = parts["uns"]
    for name in ("obsm", "varm"):
        for frame in parts[name].values():
            if not isinstance(frame, pd.DataFrame):
                continue
            for key in frame.columns:
                if isinstance(frame[key].dtype, pd.CategoricalDtype):
                    frame[key] = frame[key].cat.remove_unused_categories()
    for name in ("obs", "var"):
        frame, whole = parts[name], base._store.root.child(name)
        for key in frame.columns:
            column = frame[key]
            if not isinstance(column.dtype, pd.CategoricalDtype):
                continue
            before = column.cat.categories
            frame[key] = column.cat.remove_unused_categories()
            colors = f"{key}_colors"
            if colors in uns and len(uns[colors]) == len(before) and whole is not None:
                kept = np.isin(before, frame[key].cat.categories)
                uns[colors] = np.array(uns[colors])[np.where(kept)[0]]
