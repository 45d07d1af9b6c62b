"""`convert` and `info`: the command line's two verbs, with its defaults."""

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Literal

from . import _core
from .errors import InvalidError

# done bytes, total bytes, the element that is being written
Progress = Callable[[int, int, str], Any]


def _lengths(value: Sequence[int] | None) -> str:
    return "" if value is None else ",".join(str(int(length)) for length in value)


def convert(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    *,
    element: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    codec: str | None = None,
    chunks: Sequence[int] | None = None,
    shards: Sequence[int] | Literal["none"] | None = None,
    sparse: Literal["keep", "csr", "csc", "dense"] = "keep",
    strings: Literal["nullable", "plain", "keep"] = "nullable",
    overwrite: bool = False,
    resume: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Writes the store `src` as `dst`: HDF5 for .h5ad, .h5 and .hdf5, a Zarr zip for .zip, else a Zarr directory.

    `memory` bounds the resident memory that the work adds to the interpreter and what it has loaded, in bytes or as
    "256MiB". `progress` is called in this thread, some times a second, with (done bytes, total bytes, element); an
    exception that it raises stops the run, as Ctrl-C does. Then, or on any error, nothing is left behind and an old
    target stays as it was. Gives what was done, or with `dry_run` the plan.
    """
    return _write(
        None, os.fspath(src), dst, element=element, zarr_format=zarr_format, codec=codec, chunks=chunks, shards=shards,
        sparse=sparse, strings=strings, overwrite=overwrite, resume=resume, memory=memory, threads=threads,
        progress=progress, dry_run=dry_run,
    )  # fmt: skip


def write(lazy: Any, dst: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Writes a lazy AnnData. Options as of `convert`, but for `element`; `resume` needs the same expression again."""
    unknown = set(options) - set(_DEFAULTS)
    if unknown:
        raise TypeError(f"write() has no option {', '.join(sorted(unknown))}; it has {', '.join(sorted(_DEFAULTS))}")
    digest = hashlib.sha256(pickle.dumps(lazy)).hexdigest()
    return _write(lazy._store, digest, dst, element=None, **{**_DEFAULTS, **options})


_DEFAULTS: dict[str, Any] = {
    "zarr_format": None,
    "codec": None,
    "chunks": None,
    "shards": None,
    "sparse": "keep",
    "strings": "nullable",
    "overwrite": False,
    "resume": False,
    "memory": None,
    "threads": None,
    "progress": None,
    "dry_run": False,
}


def _write(
    store: Any,
    source: str,
    dst: str | os.PathLike[str],
    *,
    element: str | None,
    zarr_format: Literal[2, 3] | None,
    codec: str | None,
    chunks: Sequence[int] | None,
    shards: Sequence[int] | Literal["none"] | None,
    sparse: str,
    strings: str,
    overwrite: bool,
    resume: bool,
    memory: int | str | None,
    threads: int | None,
    progress: Progress | None,
    dry_run: bool,
) -> dict[str, Any]:
    target = os.fspath(dst)
    while len(target) > 1 and target.endswith("/"):
        target = target[:-1]
    hdf5 = target.endswith((".h5ad", ".h5", ".hdf5"))
    if zarr_format not in (None, 2, 3):
        raise InvalidError(f"zarr_format is 2 or 3, not {zarr_format!r}")
    if isinstance(shards, str) and shards != "none":
        raise InvalidError(f"shards are lengths, one an axis, or 'none', not {shards!r}")
    request = _core.Request()
    request.source = source
    request.target = target
    request.element = element or ""
    request.format = "hdf5" if hdf5 else f"zarr{zarr_format or 3}"
    request.zip = target.endswith(".zip")
    request.codec = codec
    request.chunks = None if chunks is None else [int(length) for length in chunks]
    request.no_shards = shards == "none"
    request.shards = None if shards is None or shards == "none" else [int(length) for length in shards]
    request.sparse = sparse
    request.strings = strings
    request.overwrite = overwrite
    request.resume = resume
    request.dry_run = dry_run
    request.memory = _core.parse_bytes(memory) if isinstance(memory, str) else int(memory or 0)
    request.threads = int(threads or 0)
    # As the command line spells it, so that either can go on with what the other began.
    request.command = (
        f"convert {request.source} {request.element} {codec or ''} {_lengths(chunks)} "
        f"{'none' if request.no_shards else _lengths(request.shards)} {sparse} {strings} {zarr_format or 3}"
    )
    result: Any = _core.convert(request, progress, store)
    return result


def info(path: str | os.PathLike[str], element: str | None = None) -> dict[str, Any]:
    """The element tree as `lamella info --json` prints it: encodings, shapes, dtypes, chunks, shards, codecs, sizes."""
    described: Any = _core.info(os.fspath(path), element or "")
    return described
