"""show-rope: the hands by complex numbers; q as the recipe turns it."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("llm/show_rope.py")


def hands(ax):
    return [complex(*line.get_xydata()[1]) for line in ax.lines]


def test_each_hand_is_a_power_of_the_first(drawn):
    for pair, ax in enumerate(drawn.axes):
        step = complex(torch.polar(torch.tensor(1.0), torch.tensor(100 ** (-pair / 4))))
        for t, hand in enumerate(hands(ax)):
            assert hand == pytest.approx(step**t, abs=1e-4)
        assert all(line.get_xydata()[0].tolist() == [0, 0] for line in ax.lines)


def test_the_recipe_turns_it_so(drawn):
    recipe = load_snippet("llm/rope_rmsnorm_swiglu.py")
    q = torch.cat([torch.ones(4), torch.zeros(4)]).expand(1, 1, 6, 8)
    a, b = recipe.rope(q, torch.arange(6), theta=100.0)[0, 0].chunk(2, dim=-1)
    torch.testing.assert_close(drawn.x, a)
    torch.testing.assert_close(drawn.y, b)


def test_the_labels_stand_at_their_hands(drawn):
    for pair, ax in enumerate(drawn.axes):
        labels = {int(t.get_text()): complex(*t.get_position()) for t in ax.texts}
        assert list(labels) == (list(range(6)) if pair < 2 else [5])
        for t, place in labels.items():
            assert place == pytest.approx(1.3 * hands(ax)[t], abs=1e-4)
