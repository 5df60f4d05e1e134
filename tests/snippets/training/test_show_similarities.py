"""show-similarities: cosines, bright where the pairs are."""

import numpy as np
import pytest

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/show_similarities.py")


def test_cosines_of_pairs_on_the_diagonal(drawn):
    before, after = (ax.images[0].get_array().data for ax in drawn.axes)
    assert [ax.get_title() for ax in drawn.axes] == ["before", "after"]
    others = ~np.eye(12, dtype=bool)
    for cells in (before, after):
        assert cells.shape == (12, 12)
        assert np.abs(cells).max() <= 1 + 1e-5
    assert (after.argmax(1) == np.arange(12)).all()
    assert (after.argmax(0) == np.arange(12)).all()
    assert after[others].max() < 0.5 < np.diag(after).min()
    assert before[others].clip(0).mean() > 3 * after[others].clip(0).mean()


def test_the_last_one_by_numpy(drawn):
    a, b = (view.detach().double().numpy() for view in drawn.views)
    dots = np.einsum("id,jd->ij", a, b)
    norms = np.sqrt((a**2).sum(1))[:, None] * np.sqrt((b**2).sum(1))
    shown = drawn.axes[1].images[0].get_array().data
    np.testing.assert_allclose(shown, dots / norms, atol=1e-5)


def test_its_loss_is_half_of_the_recipe_s(drawn):
    recipe = load_snippet("training/contrastive_infonce.py")
    a, b = (view.detach() for view in drawn.views)
    one = recipe.F.cross_entropy(drawn.similarity.T / 0.1, recipe.torch.arange(12))
    expected = 2 * recipe.info_nce(a, b) - one
    recipe.torch.testing.assert_close(drawn.loss, expected)
