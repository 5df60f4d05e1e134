"""ema-weights: the average by hand, its buffers, its state, and a coarse dtype."""

import io

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/ema-weights"


def averaged(model, decay=0.75, **options):
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay), **options)


def test_the_average_of_the_snippet_by_hand(capsys, monkeypatch):
    weights, modes, update = [], [], AveragedModel.update_parameters

    def note(self, model):
        weights.append(model.weight.detach().double().clone())
        modes.append(model.training)
        update(self, model)

    monkeypatch.setattr(AveragedModel, "update_parameters", note)
    torch.manual_seed(1)
    snippet = load_snippet("training/ema_weights.py")
    assert len(weights) == 300
    assert not torch.equal(weights[0], weights[1])  # it was trained in between
    expected = weights[0]
    for weight in weights[1:]:
        expected = 0.98 * expected + 0.02 * weight
    torch.testing.assert_close(
        snippet.ema.module.weight.detach().double(), expected, rtol=0, atol=1e-5
    )
    distances = [(w - 1).norm().item() for w in (weights[-1], expected)]
    assert distances[1] < distances[0] / 2
    lines = capsys.readouterr().out.splitlines()
    names = ["model", "average"]
    assert lines == [
        f"{name}: {d:.2f} from the true weights"
        for name, d in zip(names, distances, strict=True)
    ]
    assert modes == [True] * 300
    assert not snippet.ema.training
    saved = snippet.checkpoint["ema_state_dict"]
    assert list(saved) == list(snippet.ema.state_dict())
    first = snippet.model.weight
    torch.manual_seed(2)  # the snippet seeds itself
    assert torch.equal(load_snippet("training/ema_weights.py").model.weight, first)


def test_a_run_that_resumes_goes_on_with_the_average():
    model = nn.Linear(2, 1)
    ema, resumed, forgot = averaged(model), averaged(model), averaged(model)
    for each in (0.0, 1.0):
        nn.init.constant_(model.weight, each)
        ema.update_parameters(model)
    file = io.BytesIO()
    torch.save(ema.state_dict(), file)
    file.seek(0)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    for each in (ema, resumed, forgot):
        each.update_parameters(model)
    # 0, then 0.25, then 0.75 * 0.25 + 0.25; forgotten, the last weights.
    assert ema.module.weight.tolist() == resumed.module.weight.tolist()
    assert ema.module.weight.tolist() == [[0.4375, 0.4375]]
    assert forgot.module.weight.tolist() == [[1.0, 1.0]]
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in"):
        nn.Linear(2, 1).load_state_dict(ema.state_dict())
    nn.Linear(2, 1).load_state_dict(ema.module.state_dict())


def test_the_statistics_of_batch_norm():
    model = nn.BatchNorm1d(1, momentum=1.0)  # the mean of the last batch
    plain, both = averaged(model), averaged(model, use_buffers=True)
    for mean in (0.0, 4.0):
        model(torch.tensor([[mean - 1], [mean + 1]]))
        plain.update_parameters(model)
        both.update_parameters(model)
    assert plain.module.running_mean.item() == 4  # the model's
    assert both.module.running_mean.item() == 1  # a quarter of 4
    plain.eval()
    update_bn([torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])], plain)
    assert plain.module.running_mean.item() == pytest.approx(4.0)
    assert plain.module.running_var.item() == pytest.approx(2.0)
    assert not plain.training


def test_the_answer_with_batch_norm_and_without_a_large_last_batch():
    """Its statistics are averaged, and their counter does not stop it."""
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    names = {"model": model, "loss_fn": nn.MSELoss(), "decay": 0.5}
    names["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    names["loader"] = [(torch.randn(n, 2) + n, torch.randn(n, 1)) for n in (8, 8, 2)]
    exec(recipes()["ema-weights"].answer.text, names)
    norm = names["ema"].module[1]
    assert not norm.training
    assert not torch.equal(norm.running_mean, model[1].running_mean)
    assert norm.num_batches_tracked.dtype == torch.int64


@pytest.mark.parametrize("decay", [0.5, 0.9995, 0.9999])
def test_buffers_of_integers_stay_as_they_are(decay):
    """The library's function for all tensors at once rounds them down."""
    model = nn.Linear(2, 1)
    model.register_buffer("position_ids", torch.arange(512))
    names = {"model": model, "loss_fn": nn.MSELoss(), "decay": decay}
    names["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    names["loader"] = [(torch.randn(4, 2), torch.randn(4, 1))] * 20
    exec(recipes()["ema-weights"].answer.text, names)
    assert torch.equal(names["ema"].module.position_ids, torch.arange(512))
    both = averaged(model, decay, use_buffers=True)
    for _ in range(20):
        both.update_parameters(model)
    wrong = not torch.equal(both.module.position_ids, torch.arange(512))
    assert wrong is (decay > 0.9)


def test_eval_does_not_reach_the_average():
    model = nn.Dropout()
    ema = averaged(model)
    model.eval()
    assert ema.module.training


def test_bfloat16_is_too_coarse():
    for dtype, moved in [(torch.bfloat16, False), (torch.float32, True)]:
        model = nn.Linear(1, 1, dtype=dtype)
        ema = averaged(model, decay=0.999)
        nn.init.ones_(model.weight)
        ema.update_parameters(model)
        nn.init.constant_(model.weight, 2.0)
        for _ in range(100):
            ema.update_parameters(model)
        assert (ema.module.weight.item() > 1) is moved


def test_without_a_function_it_is_the_plain_mean():
    model = nn.Linear(1, 1)
    swa = AveragedModel(model)
    for each in (1.0, 2.0, 6.0):
        nn.init.constant_(model.weight, each)
        swa.update_parameters(model)
    assert swa.module.weight.item() == pytest.approx(3.0)
