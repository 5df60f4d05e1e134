"""mixup-pairs: each panel is the blend that its title says."""

import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("training/mixup_pairs.py")


def test_panels_go_from_one_image_to_the_other(drawn):
    panels = [torch.from_numpy(ax.images[0].get_array().data) for ax in drawn.axes]
    torch.testing.assert_close(panels[0], drawn.disc)
    torch.testing.assert_close(panels[4], drawn.bars)
    torch.testing.assert_close(panels[2], (drawn.disc + drawn.bars) / 2)
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["λ = 1.0", "λ = 0.8", "λ = 0.5", "λ = 0.2", "λ = 0.0"]
    assert drawn.axes[1].get_xlabel() == "0.8 disc\n0.2 bars"


def test_the_images_are_a_disc_and_bars(drawn):
    assert drawn.disc[20, 20] == 1
    assert drawn.disc[0, 0] == 0
    area = torch.pi * 0.5 / 4  # radius² = 0.5 in a square of side 2
    assert drawn.disc.mean().item() == pytest.approx(area, abs=0.02)
    assert torch.equal(drawn.bars, drawn.bars[:1].expand(40, 40))
