"""err-numpy-not-available: a Python whose NumPy is blocked, and NumPy's own text."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import (
    assert_documented,
    lacking,
    load_snippet,
    raises_as_documented,
)

SNIPPET, PAGE = "errors/err_numpy_not_available.py", "errors/err-numpy-not-available"


@pytest.fixture(scope="module")
def snippet():
    return load_snippet(SNIPPET)


def test_the_child_raises_what_the_page_quotes_and_goes_on(snippet):
    error, works = snippet.child.stdout.splitlines()
    with raises_as_documented(PAGE, "RuntimeError: Numpy"):
        raise RuntimeError(error.removeprefix("error: "))  # the child's own text
    assert error.startswith("error: ")
    assert works == "without NumPy: [1.0, 1.0]"


def test_here_torch_finds_numpy(snippet):
    assert isinstance(snippet.torch.ones(2).numpy(), np.ndarray)


def test_a_missing_numpy_is_only_a_warning_at_import(tmp_path):
    """The package is hidden from a child; sys.path has torch, but no NumPy."""
    hide = (
        "import sys, importlib.abc\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'numpy':\n"
        "            raise ModuleNotFoundError(\n"
        "                \"No module named 'numpy'\", name='numpy')\n"
        "sys.meta_path.insert(0, Hide())\n"
        "import torch\n"
        "print(torch.tensor([1, 2]).tolist())\n"
    )
    child = subprocess.run(
        [sys.executable, "-W", "always", "-c", hide],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ,
    )
    assert child.stdout == "[1, 2]\n", child.stderr
    at = child.stderr.index("UserWarning: Failed to initialize NumPy")
    assert_documented(
        PAGE, "UserWarning: Failed to initialize NumPy: No", child.stderr[at:]
    )


def test_the_names_that_numpy_has_removed():
    with raises_as_documented(PAGE, "AttributeError: module 'numpy' has no"):
        print(np.float)
    for name in ("int", "object"):
        assert name not in vars(np)
    assert ("bool" in vars(np)) == (int(np.__version__[0]) >= 2)


@pytest.mark.skipif(int(np.__version__[0]) < 2, reason="NumPy 2 has the message")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_numpy_2_refuses_what_was_built_for_numpy_1(capsys):
    with pytest.raises(ImportError) as caught:
        from numpy.core._multiarray_umath import _ARRAY_API  # noqa: F401
    assert_documented(PAGE, "A module that was", str(caught.value).lstrip())
    assert "NumPy 1.x cannot be run in" in capsys.readouterr().err


@pytest.mark.skipif(int(np.__version__[0]) < 2, reason="of NumPy 2's size")
def test_a_package_of_numpy_1_expects_a_larger_dtype():
    """Cython's check: the size that was compiled in, and that of this NumPy."""
    template = (
        "%.200s.%.200s size changed, may indicate binary incompatibility. "
        "Expected %zd from C header, got %zd from PyObject"
    )
    library = next(Path(pd.__file__).parent.glob("_libs/lib.*.so"))
    assert not lacking(library, template)
    found = np.dtype.__basicsize__
    text = template.replace("zd", "d") % ("numpy", "dtype", 96, found)
    assert_documented(PAGE, "ValueError: numpy.dtype size", f"ValueError: {text}")
