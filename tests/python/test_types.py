"""The package and a user's program under `mypy --strict`; the stubs say what the extension has."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_strict():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_stubs_of_the_extension(tmp_path):
    stub = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "lamella._core", "-o", stub], check=True)
    assert stub.read_text().split() == (ROOT / "python/lamella/_core.pyi").read_text().split(), (
        "write them anew: python -m nanobind.stubgen -m lamella._core -o python/lamella/_core.pyi"
    )
