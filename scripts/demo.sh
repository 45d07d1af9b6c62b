#!/usr/bin/env bash
# Converts real files and shows what happened: sizes, time, peak memory, and that nothing was lost. `make demo` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '\033[2m$ lamella %s\033[0m\n' "$*"; "$lamella" "$@"; }
size() { du -sb --apparent-size "$1" | awk '{ printf "%.2f MiB", $1 / 1048576 }'; }

say "Building (the first time takes a few minutes)"
cmake -S . -B build/demo -G Ninja -DLAMELLA_TESTS=OFF --log-level=NOTICE > /dev/null
cmake --build build/demo --target lamella | tail -n 1
lamella=$(find "$PWD/build/demo" -name lamella -type f -perm -u+x | head -n 1)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=tests/data/real/10x_pbmc68k_reduced.h5ad

say "1. What is in an AnnData file: 700 blood cells, written by scanpy ($(size $file))"
run info $file

say "2. The plan of a conversion, before anything is written"
run convert $file "$work/pbmc.zarr" --memory 64MiB --dry-run

say "3. HDF5 to Zarr v3, in at most 64 MiB of memory, the program itself included"
run convert $file "$work/pbmc.zarr" --memory 64MiB --strings keep
echo "   $(size $file) → $(size "$work/pbmc.zarr")"

say "4. And back, to an .h5ad file with gzip"
run convert "$work/pbmc.zarr" "$work/back.h5ad" --codec gzip:4 --memory 64MiB --strings keep
echo "   $(size "$work/pbmc.zarr") → $(size "$work/back.h5ad")"

say "5. One element alone, as CSC instead of CSR"
run convert $file "$work/raw.zarr" --element raw/X --sparse csc --memory 64MiB
run info "$work/raw.zarr"

say "6. Is it still the same? The element trees, without what concerns storage:"
outline() {
  "$lamella" info "$1" --json | python3 -c '
import json, sys
def walk(node):
    print(node["path"], node.get("encoding"), node.get("shape"), node.get("dtype"))
    for child in sorted(node.get("children", []), key=lambda n: n["path"]):
        walk(child)
walk(json.load(sys.stdin))'
}
outline $file > "$work/before"
outline "$work/back.h5ad" > "$work/after"
if diff "$work/before" "$work/after"; then
  echo "   $(wc -l < "$work/before") elements, each with the same encoding, shape and dtype"
fi
for python in build/venv/bin/python python3; do
  if "$python" -c 'import anndata' 2> /dev/null; then
    "$python" - $file "$work/back.h5ad" << 'EOF'
import sys
import warnings
warnings.simplefilter("ignore")
import anndata
from anndata.tests.helpers import assert_equal
before, after = (anndata.read_h5ad(path) for path in sys.argv[1:])
assert_equal(before, after)  # not "exact": that takes NaN for unequal to itself
print(f"   anndata {anndata.__version__} reads both files and finds every value equal")
EOF
    break
  fi
done

say "Done. What you can do next: build/demo has the program; README.md has examples in C++ and Python."
