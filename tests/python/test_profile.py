"""Where the time goes: --profile and LAMELLA_PROFILE."""

import json
import os
import re
import subprocess
import sys

import numpy as np

from conftest import write_hdf5
from lamella_run import done, tree_bytes

STAGES = ["read", "decode", "transform", "encode", "write", "sync", "wait"]


def source(folder):
    data = np.random.default_rng(0).integers(0, 99, (400, 300)).astype("i4")
    return write_hdf5(folder / "in.h5", data, chunks=(100, 300), compression="gzip"), data.nbytes


def stages(table: str) -> list[str]:
    return [found for found in re.findall(r"^(\w+) +[\d.]+ +[\d.]+ +\d+ ", table, re.MULTILINE) if found in STAGES]


def test_the_table_names_every_stage(program, tmp_path):
    path, _ = source(tmp_path)
    result = done(program, "convert", path, tmp_path / "out.zarr", "--profile")
    assert stages(result.err) == STAGES
    assert stages(done(program, "info", path, "--profile").err) == STAGES
    assert done(program, "info", path).err == ""


def test_json_has_the_bytes_of_every_stage(program, tmp_path):
    path, size = source(tmp_path)
    result = done(program, "convert", path, tmp_path / "out.zarr", "--json", "--profile", "--codec", "zstd:1")
    assert result.err == ""
    profile = json.loads(result.out)["profile"]
    found = {stage.pop("stage"): stage for stage in profile["stages"]}
    assert list(found) == STAGES
    # What is encoded are the chunks, and the index of the shard.
    assert found["decode"]["bytes"] == size <= found["encode"]["bytes"] < size + 1000
    assert found["decode"]["calls"] == 4
    assert 2 * path.stat().st_size > found["read"]["bytes"] > size / 5  # metadata are read ahead
    assert found["write"]["bytes"] == sum(map(len, tree_bytes(tmp_path / "out.zarr").values()))
    # Every stage is a part of the wall time of at most so many threads.
    total = sum(stage["seconds"] for stage in found.values())
    assert 0 < total <= profile["seconds"] * (profile["threads"] + 1)
    assert "profile" not in json.loads(done(program, "info", path, "--json").out)


def test_chunks_that_pass_through_are_not_decoded(program, tmp_path):
    path, _ = source(tmp_path)
    result = done(program, "convert", path, tmp_path / "out.h5", "--json", "--profile")
    found = {stage["stage"]: stage for stage in json.loads(result.out)["profile"]["stages"]}
    assert found["decode"]["calls"] == found["encode"]["calls"] == 0
    assert found["read"]["bytes"] > 0 and found["write"]["bytes"] > 0 and found["sync"]["calls"] > 0


def test_the_environment_serves_python(tmp_path):
    path, _ = source(tmp_path)
    code = f"import lamella; print(lamella.open({str(path)!r})['a'][...].sum())"
    for value, expected in [("1", STAGES), ("0", [])]:
        child = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"LAMELLA_PROFILE": value},
        )
        assert stages(child.stderr) == expected
