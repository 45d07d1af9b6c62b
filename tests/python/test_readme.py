"""The examples of the README run as they stand."""

import re
import subprocess

from conftest import ROOT


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(found) == 1
    assert 10 <= len(found[0].splitlines()) <= 16
    return found[0]


def test_command_line(program, tmp_path):
    script = f'set -eu\nlamella() {{ "{program}" "$@"; }}\n{block("sh")}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, env={"OUT": str(tmp_path), "PATH": "/usr/bin:/bin"}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"tree.json", "pbmc.zarr", "back.h5ad", "pbmc.zarr.zip", "csc.zarr", "sharded.zarr", "both.zarr"}


def test_python(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(block("python"), {"out": tmp_path})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Lazy AnnData, 700 obs × 765 vars")
    assert printed[-1].startswith("(4, 765) ")


def test_cpp(tmp_path, installed):
    (tmp_path / "main.cc").write_text(block("cpp"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(readme LANGUAGES CXX)\nfind_package(lamella REQUIRED)\n"
        "add_executable(readme main.cc)\ntarget_link_libraries(readme PRIVATE lamella::lamella)\n"
    )
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: E731
    run("cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", str(tmp_path / "build"))
    assert "(700, 765) <f4" in run(str(tmp_path / "build/readme")).stdout


def test_example_project(tmp_path, installed):
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: E731
    run("cmake", "-S", "examples/cpp", "-B", str(tmp_path), "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", str(tmp_path))
    printed = run(str(tmp_path / "tree"), "tests/data/real/10x_pbmc68k_reduced.h5ad", "X").stdout
    assert "obs/  dataframe" in printed
    assert "[0:2, 0:2]:" in printed
