"""`concat`: several AnnData as one, lazily."""

import math
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from . import _core
from .errors import InvalidError
from .lazy import AnnData

Merge = Literal["same", "unique", "first", "only"]


def concat(
    adatas: "Iterable[AnnData | str | os.PathLike[str]] | Mapping[str, AnnData | str | os.PathLike[str]]",
    *,
    axis: Literal["obs", 0, "var", 1] = "obs",
    join: Literal["inner", "outer"] = "inner",
    merge: Merge | None = None,
    uns_merge: Merge | None = None,
    label: str | None = None,
    keys: Iterable[Any] | None = None,
    index_unique: str | None = None,
    fill_value: Any | None = None,
    pairwise: bool = False,
    force_lazy: bool = True,
    compat: Literal["anndata", "keep"] = "anndata",
) -> AnnData:
    """Puts AnnData objects (lazy ones, or paths) one behind the other along `axis`, and reads no matrix for it.

    The arguments are those of `anndata.concat`, and so is the result: the same indexes, columns, categories and dtypes.
    (`force_lazy` is taken and changes nothing: everything is lazy.)
    With `compat="keep"` a sparse layer that one of the inputs lacks keeps its dtype; anndata makes it float64. Rows of
    sparse results are sorted. What is missing is not made: it is a fill value until somebody reads it.

    Objects that do not fit each other (a name twice in the index that is joined, a table beside an array) raise an
    error that names the files and the key.
    """
    if isinstance(adatas, Mapping):
        if keys is not None:
            raise TypeError("keys are those of the mapping; giving them again makes no sense")
        keys, adatas = list(adatas), list(adatas.values())
    objects = _opened(list(adatas))
    keys = [] if keys is None else [_key(key) for key in keys]
    if axis not in ("obs", "var", 0, 1):
        raise InvalidError(f"axis is 'obs' (0) or 'var' (1), not {axis!r}")
    if join not in ("inner", "outer"):
        raise InvalidError(f"join is 'inner' or 'outer', not {join!r}")
    if compat not in ("anndata", "keep"):
        raise InvalidError(f"compat is 'anndata' or 'keep', not {compat!r}")
    options = {
        "axis": 0 if axis in ("obs", 0) else 1,
        "outer": join == "outer",
        "merge": merge or "none",
        "uns_merge": uns_merge or "none",
        "label": label or "",
        "keys": keys,
        "index_unique": index_unique,
        "fill_value": _number(fill_value),
        "pairwise": bool(pairwise),
        "keep_types": compat == "keep",
    }
    made = _concat(objects, options)
    for message in made._warnings:
        warnings.warn(message, UserWarning, stacklevel=2)
    return made


def _concat(objects: list[AnnData], options: dict[str, Any]) -> AnnData:
    store, messages = _core.concat([one._store for one in objects], options)
    out = AnnData(store, (_concat, (objects, options)))
    out._warnings = messages
    return out


def _opened(given: list[Any]) -> list[AnnData]:
    from .lazy import open_anndata, opened_many
    from .opening import open as open_any

    if all(isinstance(one, (str, os.PathLike)) for one in given):
        return opened_many([os.path.abspath(os.fspath(one)) for one in given])
    out = []
    for one in given:
        lazy = one if isinstance(one, AnnData) else open_any(one)
        if not isinstance(lazy, AnnData):
            lazy = open_anndata(os.fspath(one))
        out.append(lazy)
    return out


def _key(key: Any) -> str | int:
    if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
        return int(key)
    return str(key)


def _number(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        if value is not value:  # pandas.NA and its like are not equal to themselves
            return math.nan
        raise InvalidError(f"fill_value is a number, not {value!r}") from None
