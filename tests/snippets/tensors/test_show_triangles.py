"""show-triangles: each panel, against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_triangles.py")


def test_each_panel_is_that_of_numpy(drawn):
    A, B = np.ones((3, 3)), np.full((2, 2), 2)
    C, D = np.array([[1, 2], [2, 1]]), np.eye(2)
    expected = {
        "M.tril()": np.tril(A),
        "M.triu(1)": np.triu(A, 1),
        "block_diag(M, N)": block_diag(A, B),
        "kron(C, D)": np.kron(C, D),
    }
    for ax, (title, matrix) in zip(drawn.axes, expected.items(), strict=True):
        assert ax.get_title() == title
        np.testing.assert_array_equal(cells(ax), matrix + 1)
        assert ax.images[0].get_clim() == (0, 3)
