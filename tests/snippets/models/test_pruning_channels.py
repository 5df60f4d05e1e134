"""pruning: the smaller model is the large one without some channels."""

import copy

import numpy as np
import torch

from tests.helpers import load_snippet

snippet = load_snippet("models/pruning_channels.py")


def test_the_smaller_model_is_the_large_one_without_these_channels():
    large, small, x = (
        copy.deepcopy(snippet.model),
        snippet.small,
        torch.rand(2, 3, 9, 9),
    )
    norms = np.linalg.norm(large[0].weight.detach().numpy().reshape(64, -1), axis=1)
    best = np.argsort(norms)[-16:]
    assert sorted(snippet.keep.tolist()) == sorted(best.tolist())
    gone = [c for c in range(64) if c not in best]
    with torch.no_grad():
        large[3].weight[:, gone] = 0  # the next layer does not see them
    torch.testing.assert_close(small(x), large(x))
    count = 3 * 16 * 9 + 16 + 2 * 16 + 16 * 10 * 9 + 10
    assert sum(p.numel() for p in small.parameters()) == count


def test_statistics_are_copied():
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        old, new = (getattr(m.bn1, name) for m in (snippet.model, snippet.small))
        assert torch.equal(old[snippet.keep] if old.ndim else old, new)


def test_what_is_printed(capsys):
    load_snippet("models/pruning_channels.py")
    assert capsys.readouterr().out == "7,690 parameters\n1,930 parameters\n"
