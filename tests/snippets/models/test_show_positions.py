"""show-positions: the table by the formula of the paper; it is the recipe's."""

import math

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_positions.py")


def pictures(drawn):
    return [ax.images[0].get_array().data for ax in drawn.axes]


def test_the_table_is_the_formula(drawn):
    table, _ = pictures(drawn)
    assert table.shape == (60, 32)
    for p, column in np.ndindex(table.shape):
        angle = p / 10000 ** (column // 2 * 2 / 32)
        expected = math.cos(angle) if column % 2 else math.sin(angle)
        assert table[p, column] == pytest.approx(expected, abs=1e-4)


def test_the_same_product_at_the_same_distance(drawn):
    table, products = pictures(drawn)
    np.testing.assert_allclose(products, table @ table.T, atol=1e-4)
    for distance in range(60):
        along = np.diagonal(products, distance)
        np.testing.assert_allclose(along, along[0], atol=1e-3)
    assert products[0, 0] == pytest.approx(16) == products.max()


def test_it_is_the_recipe_s(drawn):
    recipe = load_snippet("models/positional_encoding.py")
    torch.testing.assert_close(drawn.pe, recipe.PositionalEncoding(32, 60).pe)
