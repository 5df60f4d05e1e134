"""show-psnr: PSNR by the formula, SSIM by its own."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/show_psnr.py")


def pictures(drawn):
    return {ax.get_title(): ax.images[0].get_array().data for ax in drawn.axes}


def test_all_have_the_same_error(drawn):
    target, *others = pictures(drawn).values()
    for image in others:
        mse = ((image.astype(float) - target) ** 2).mean()
        assert 10 * np.log10(1 / mse) == pytest.approx(20, abs=1e-3)


def test_the_titles_say_the_ssim_of_the_formula(drawn):
    g = torch.exp(-((torch.arange(11.0) - 5) ** 2) / (2 * 1.5**2)).double()
    window = (g[:, None] * g / g.sum() ** 2)[None, None]

    def mean(x):
        padded = np.pad(x, 5, mode="reflect")
        return conv2d(torch.tensor(padded)[None, None], window)[0, 0].numpy()

    a = next(iter(pictures(drawn).values())).astype(float)
    for title, image in pictures(drawn).items():
        b, c1, c2 = image.astype(float), 0.01**2, 0.03**2
        ma, mb = mean(a), mean(b)
        va, vb = mean(a * a) - ma**2, mean(b * b) - mb**2
        ssim = (2 * ma * mb + c1) * (2 * (mean(a * b) - ma * mb) + c2)
        ssim /= (ma**2 + mb**2 + c1) * (va + vb + c2)
        said = float(title.split()[-1])
        assert said == pytest.approx(ssim.mean(), abs=0.006)


def test_the_blurred_one_is_the_worst(drawn):
    said = {t.split()[0]: float(t.split()[-1]) for t in pictures(drawn)}
    assert sorted(said, key=said.get) == ["blurred", "noise", "brighter", "target"]
