"""mc-dropout: moments against a hand-made mask, entropy against SciPy, fast path."""

import pytest
import torch
from scipy.stats import entropy
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet

snippet = load_snippet("evaluation/mc_dropout.py")


def only_dropout(model):
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.train()
    return model


def spread(model, x, passes=5):
    with torch.no_grad():
        return torch.stack([model(x) for _ in range(passes)]).std(0).max().item()


def test_mean_and_deviation():
    probs = snippet.probs.double().numpy()
    assert probs.shape == (50, 1497, 10)
    torch.testing.assert_close(snippet.mean.numpy(), probs.mean(0), check_dtype=False)
    expected = probs.std(0, ddof=1)
    torch.testing.assert_close(snippet.std.numpy(), expected, check_dtype=False)


def test_entropies_of_scipy():
    probs = snippet.probs.double().numpy()
    total, noise = entropy(probs.mean(0), axis=1), entropy(probs, axis=2).mean(0)
    close = {"check_dtype": False, "rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(snippet.entropy.numpy(), total, **close)
    torch.testing.assert_close(snippet.epistemic.numpy(), total - noise, **close)


def test_the_snippet_ends_in_eval_mode():
    assert not any(module.training for module in snippet.model.modules())
    assert not snippet.probs.requires_grad


def test_the_uncertain_are_wrong_more_often():
    uncertain = snippet.epistemic > snippet.epistemic.median()
    assert snippet.right[uncertain].float().mean() < snippet.right.float().mean() - 0.02


@pytest.mark.parametrize(
    "kind", [nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout]
)
def test_every_kind_of_dropout_is_found(kind):
    torch.manual_seed(0)
    x = torch.ones(2, 4, 3, 3, 3)[
        (..., *[0] * {nn.Dropout1d: 2, nn.Dropout2d: 1}.get(kind, 0))
    ]
    model = nn.Sequential(nn.BatchNorm1d(4) if x.dim() == 3 else nn.Identity(), kind())
    assert spread(only_dropout(model), x) > 0
    assert not model[0].training


def test_the_passes_have_the_moments_of_dropout():
    torch.manual_seed(0)
    weight = torch.arange(1.0, 5.0)
    model = nn.Sequential(nn.Dropout(0.2), nn.Linear(4, 1, bias=False))
    model[1].weight.data = weight[None]
    with torch.no_grad():
        out = only_dropout(model)(torch.ones(40000, 4))
    assert out.mean().item() == pytest.approx(10, abs=0.05)
    variance = weight.square().sum().item() * 0.2 / 0.8  # p / (1 - p) each
    assert out.var().item() == pytest.approx(variance, rel=0.05)


def test_one_call():
    torch.manual_seed(0)
    model, x = only_dropout(snippet.model), snippet.x[:8]
    with torch.no_grad():
        probs = model(x.repeat(50, 1)).softmax(1).unflatten(0, (50, -1))
    model.eval()
    assert probs.shape == (50, 8, 10)
    torch.testing.assert_close(probs.mean(0), snippet.mean[:8], atol=0.1, rtol=0)
    assert probs.std(0).amax(1).min() > 0


def test_train_on_the_whole_model_moves_batch_norm():
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout()).train()
    with torch.no_grad():
        model(torch.randn(4, 3) + 5)
    assert model[0].running_mean.min() > 0
    before = model[0].running_mean.clone()
    with torch.no_grad():
        only_dropout(model)(torch.randn(4, 3))
    assert torch.equal(model[0].running_mean, before)


def test_the_fast_path_skips_dropout():
    torch.manual_seed(0)
    model = only_dropout(nn.TransformerEncoderLayer(16, 2, batch_first=True))
    x = torch.randn(3, 5, 16)
    before = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(True)
        assert spread(model, x) == 0
        torch.backends.mha.set_fastpath_enabled(False)
        assert spread(model, x) > 0.01
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class Functional(nn.Module):
    """A block that holds a BatchNorm, and a dropout that is no module."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return nn.functional.dropout(self.norm(x), 0.5, training=self.training)


def test_the_answer_refuses_a_model_whose_dropout_stays_off():
    code, names = answer("mc-dropout"), {"x": torch.randn(6, 4)}
    with pytest.raises(AssertionError, match="no dropout was on"):
        exec(code, names | {"model": Functional()})
    exec(code, names | {"model": nn.Sequential(Functional(), nn.Dropout())})


def test_the_block_is_switched_without_its_batch_norm():
    block, x = Functional().eval(), torch.randn(6, 4)
    block.training = True
    assert not block.norm.training
    assert spread(block, x) > 0
    assert block.train().norm.training


def test_dropout_that_is_no_module():
    class LSTM(nn.LSTM):
        def forward(self, x):
            return super().forward(x)[0]

    class Attention(nn.MultiheadAttention):
        def forward(self, x):
            return super().forward(x, x, x)[0]

    x = torch.randn(6, 8, 16)
    for model in (LSTM(16, 16, 2, dropout=0.5), Attention(16, 2, dropout=0.5)):
        assert spread(only_dropout(model), x) == 0
        model.training = True
        assert spread(model, x) > 0
