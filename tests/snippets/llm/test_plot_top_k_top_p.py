"""plot-top-k-top-p: the kept tokens by a loop; those that the recipe draws."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("llm/plot_top_k_top_p.py")


BLUE = (59 / 255, 130 / 255, 214 / 255)


def bars(ax):
    shares = [bar.get_height() for bar in ax.patches]
    return shares, [
        bar.get_facecolor()[:3] == pytest.approx(BLUE) for bar in ax.patches
    ]


def by_hand(shares, p):
    total, kept = 0.0, 0
    while total < p:
        total, kept = total + shares[kept], kept + 1
    return kept


def test_the_blue_bars_are_the_kept_ones(drawn):
    for row in drawn.axes:
        (shares, by_k), (same, by_p) = map(bars, row)
        assert shares == same == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1)
        assert by_k == [True] * 3 + [False] * 5
        kept = by_hand(shares, 0.9)
        assert by_p == [True] * kept + [False] * (8 - kept)
        for ax, marked in zip(row, (by_k, by_p), strict=True):
            assert ax.texts[0].get_text() == f"{sum(marked)} kept"


def test_the_recipe_draws_the_same_tokens(drawn):
    torch.manual_seed(0)
    recipe = load_snippet("llm/sampling_top_k_top_p.py")
    for column, option in zip(
        drawn.axes.T, ({"top_k": 3}, {"top_p": 0.9}), strict=True
    ):
        for ax in column:
            shares, marked = bars(ax)
            logits = torch.tensor(shares).log().expand(4000, 8)
            ids = set(recipe.sample(logits, **option).flatten().tolist())
            assert ids <= {i for i, keep in enumerate(marked) if keep}
            assert len(ids) >= sum(marked) - 1  # the last may be rare
