"""plot-warmup-cosine: the curve worked by hand; the schedule is the recipe's."""

import math

import pytest

from tests.helpers import ROOT, load_snippet

PEAK, WARMUP, TOTAL = 0.1, 20, 200


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/plot_warmup_cosine.py")


def by_hand(step):
    if step < WARMUP:
        return PEAK * (0.01 + 0.99 * step / WARMUP)
    return PEAK * (1 + math.cos(math.pi * (step - WARMUP) / (TOTAL - WARMUP))) / 2


def test_both_lines_are_the_closed_formula(drawn):
    planned, beyond = (line.get_xydata() for line in drawn.ax.lines)
    assert planned[:, 0].tolist() == list(range(201))
    assert beyond[:, 0].tolist() == list(range(200, 240))
    for x, rate in [*planned, *beyond]:
        assert rate == pytest.approx(by_hand(x), abs=1e-12)


def test_the_ticks_are_where_it_turns(drawn):
    planned, beyond = (line.get_ydata() for line in drawn.ax.lines)
    start, top, end = (int(x) for x in drawn.ax.get_xticks())
    assert start == 0
    assert planned[top] == max(planned) == pytest.approx(PEAK)
    assert planned[end] == min(planned) == pytest.approx(0, abs=1e-12)
    assert sorted(beyond) == list(beyond), "it rises again"


def test_each_label_is_right_of_its_part(drawn):
    axis = drawn.ax.get_xlabel(), drawn.ax.get_ylabel()
    assert axis == ("step", "learning rate")
    labels = {text.get_text(): text.get_position() for text in drawn.ax.texts}
    for name, half in (("warmup", WARMUP / 2), ("cosine", (WARMUP + TOTAL) / 2)):
        x, y = labels.pop(name)
        assert y == PEAK / 2  # there the line is at the step `half`
        assert 5 <= x - half <= 7, "it touches the line, or is far from it"
    ((x, y),) = labels.values()
    assert y > max(drawn.rates[int(x) :]), "a line goes through it"


def test_its_schedule_is_that_of_the_recipe():
    recipe, picture = (
        (ROOT / "snippets/training" / name).read_text("utf-8")
        for name in ("warmup_cosine.py", "plot_warmup_cosine.py")
    )
    start, end = recipe.index("warmup = "), recipe.index("\nfor _")
    assert recipe[start:end] in picture
