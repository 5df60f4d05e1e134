"""confusion-matrix: the picture and its counts; absent and ignored classes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from tests.helpers import ROOT, assert_documented, raises_as_documented

PAGE = "evaluation/confusion-matrix"
CODE = (ROOT / "snippets/evaluation/plot_confusion_matrix.py").read_text("utf-8")


@pytest.fixture
def draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(**given):
        head, _, tail = CODE.partition("C = len(names)")
        imports = head[head.index("import") : head.index("\n\nnames")]
        exec(imports if given else head, space := {})
        exec("C = len(names)" + tail, space | given, found := {})
        return found["cm"], plt.gcf()

    yield run
    plt.close("all")


def test_the_run(draw, tmp_path):
    cm, figure = draw()
    assert cm.tolist() == [[38, 11, 1], [7, 42, 1], [2, 3, 45]]
    assert (tmp_path / "plot_confusion_matrix.svg").stat().st_size > 1000
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["cat", "dog", "bird"]
    assert figure.axes[0].get_ylabel() == "True label"


def test_absent_and_ignored_classes(draw):
    target, pred = torch.tensor([0, 2, 2, -100]), torch.tensor([0, 2, 0, 1])
    cm, _ = draw(names=list("abcd"), target=target, pred=pred.to(torch.uint8))
    expected = np.zeros((4, 4), int)
    expected[0, 0] = expected[2, 2] = expected[2, 0] = 1
    np.testing.assert_array_equal(cm, expected)


@pytest.mark.parametrize("kind", [torch.uint8, torch.int64])
@pytest.mark.parametrize("shift", [(1, 1), (1, 0), (0, 1)])
def test_a_class_out_of_range_is_not_left_out_in_silence(draw, shift, kind):
    labels = torch.tensor([0, 1, 2, 2], dtype=kind)
    names = {"names": list("abc"), "target": labels, "pred": labels}
    draw(**names)
    names |= {"target": labels + shift[0], "pred": labels + shift[1]}
    with pytest.raises(AssertionError, match="not in 0 to C - 1"):
        draw(**names)


def test_messages(draw):
    target, pred = torch.tensor([0, 1, 2]), torch.tensor([0, 1, 0])
    with raises_as_documented(PAGE, "ValueError: Classification metrics can't handle"):
        draw(names=list("abc"), target=target, pred=torch.randn(3, 3))
    names = ["\N{CJK UNIFIED IDEOGRAPH-732B}", "b", "c"]
    with pytest.warns(UserWarning, match="Glyph 29483") as caught:
        draw(names=names, target=target, pred=pred)
    glyph = next(w for w in caught if "Glyph" in str(w.message))
    assert_documented(PAGE, "UserWarning: Glyph", f"UserWarning: {glyph.message}")
