"""err-omp-error-15: copies are found by their names, wherever they are."""

import sys

import pytest

from tests.helpers import load_snippet

SNIPPET = "errors/err_omp_error_15.py"


@pytest.mark.parametrize(
    "files",
    [
        [],
        ["Library/bin/libiomp5md.dll", "Lib/site-packages/torch/lib/libiomp5md.dll"],
        ["lib/libomp.dylib", "lib/python3.11/site-packages/torch/lib/libiomp5.dylib"],
        ["lib/libiomp5.so"],
    ],
)
def test_the_copies_are_listed(files, monkeypatch, tmp_path, capsys):
    for name in [*files, "lib/libgomp.so.1", "torch/lib/libcomp.so", "omp.h"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    if files:  # conda's alias of a library, its cache, its other environments
        (tmp_path / "libomp.so").symlink_to(tmp_path / files[0])
        for name in ("pkgs/mkl/lib/libiomp5.so", "envs/other/lib/libiomp5.so"):
            (tmp_path / name).parent.mkdir(parents=True)
            (tmp_path / name).touch()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "prefix", str(tmp_path))
        load_snippet(SNIPPET)
    head, count, *listed = capsys.readouterr().out.splitlines()
    assert head == "copies of OpenMP:"
    assert count == str(len(files))
    assert sorted(listed) == sorted(str(tmp_path / name) for name in files)
