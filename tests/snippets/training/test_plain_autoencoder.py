"""plain_autoencoder: the codes alone rebuild the data, better than PCA of fewer."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet

plain = load_snippet("training/plain_autoencoder.py")


def test_the_plain_autoencoder():
    assert [type(m).__name__ for m in plain.compress] == ["Linear", "ReLU", "Linear"]
    assert plain.codes.shape == (len(plain.data), 8)
    assert not plain.codes.requires_grad
    with torch.no_grad():
        error = (plain.rebuild(plain.codes) - plain.data).square().mean()
    assert error < plain.data.var(0).mean() / 2
    assert error.item() == pytest.approx(plain.loss.item(), rel=0.5)


def test_it_is_worth_some_principal_components():
    data = plain.data.double().numpy()
    centred = data - data.mean(0)
    values = np.linalg.svd(centred, compute_uv=False)
    two = (values[2:] ** 2).sum() / data.size  # what two components leave
    with torch.no_grad():
        out = plain.rebuild(plain.codes)
    assert (out - plain.data).square().mean().item() < two
