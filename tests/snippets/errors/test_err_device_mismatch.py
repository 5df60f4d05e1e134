"""err-device-mismatch: the meta device stands for a GPU; libraries hold the rest."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torchmetrics import Accuracy

from tests.helpers import (
    ROOT,
    TORCH_CPU,
    lacking,
    load_snippet,
    quotes,
    raises_as_documented,
    recipes,
)

PAGE = "errors/err-device-mismatch"
ANSWER = recipes()["err-device-mismatch"].answer
snippet = load_snippet("errors/err_device_mismatch_list.py")


def test_the_model_takes_all_it_holds_along():
    model = snippet.Net(torch.arange(4.0)).to("meta")
    assert model.mean.is_meta
    assert sorted(model.state_dict()) == ["layers.0.bias", "layers.0.weight", "mean"]
    assert all(p.is_meta for p in model.parameters())
    assert model(torch.ones(2, 4, device="meta")).is_meta


def test_the_model_computes_what_it_says():
    model, x = snippet.Net(torch.arange(4.0)), torch.randn(3, 4)
    fc = model.layers[0]
    by_hand = (x - torch.arange(4.0)) @ fc.weight.T + fc.bias
    torch.testing.assert_close(model(x), by_hand)


def test_an_input_left_behind_raises():
    model = snippet.Net(torch.zeros(4)).to("meta")
    with raises_as_documented(PAGE, "RuntimeError: Tensor on device cpu"):
        nn.Linear(4, 4)(torch.ones(2, 4, device="meta"))
    with pytest.raises(RuntimeError, match="is not on the expected device"):
        model(torch.ones(2, 4))


def test_the_answer_moves_the_batch_to_the_model():
    model = nn.Conv2d(3, 8, 1, device="meta", dtype=torch.bfloat16)
    x = torch.ones(2, 3, 4, 4, dtype=torch.bfloat16)
    names = {"model": model, "x": x, "target": torch.zeros(2, 4, 4).long()}
    assert set(ANSWER.yours) == set(names)
    for _ in range(2):  # the second time nothing is left to move
        exec(ANSWER.text, names)
        assert names["x"].is_meta
        assert names["target"].is_meta
    assert names["x"].dtype == torch.bfloat16  # the device alone changes
    loss = nn.functional.cross_entropy(model(names["x"]).float(), names["target"])
    assert loss.is_meta


def test_what_compile_says_around_the_error():
    model = torch.compile(nn.Linear(4, 4, device="meta"), backend="eager")
    expected = (
        r"Tensor device mismatch\n.*Expected all tensors to be on the same device"
    )
    with pytest.raises(RuntimeError, match=expected):
        model(torch.ones(2, 4))


def test_the_snippet_prints_the_error_and_runs_to_its_end():
    file = ROOT / "snippets/errors/err_device_mismatch.py"
    printed = subprocess.check_output([sys.executable, file], text=True)
    (error,) = printed.splitlines()
    assert error.startswith("error: ")
    assert "device" in error


class Careless(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.layers = torch.zeros(4), [nn.Linear(4, 4)]
        self.w = nn.Parameter(torch.ones(3)).to("meta")


def test_plain_tensors_and_lists_stay():
    model = Careless().to("meta")
    assert model.mean.device == model.layers[0].weight.device == torch.device("cpu")
    assert not model.state_dict()
    assert not list(model.parameters())  # a moved parameter is none
    with pytest.raises(RuntimeError, match="not on the expected device"):
        torch.ones(2, 4, device="meta") - model.mean


def test_a_loss_takes_its_weights_along():
    logits = torch.ones(2, 3, device="meta")
    labels = torch.tensor([0, 2]).to("meta")
    losses = {
        nn.CrossEntropyLoss(weight=torch.ones(3)): labels,
        nn.BCEWithLogitsLoss(pos_weight=torch.ones(3)): logits,
    }
    for loss_fn, target in losses.items():
        with pytest.raises(RuntimeError, match="device"):
            loss_fn(logits, target)
        assert loss_fn.to("meta")(logits, target).is_meta
    metric = Accuracy("multiclass", num_classes=3).to("meta")
    assert metric.tp.is_meta


def test_a_layer_made_in_forward_stays():
    x = torch.ones(2, 4, device="meta")
    with pytest.raises(RuntimeError, match="not on the expected device"):
        nn.Linear(4, 4)(x)
    assert torch.zeros_like(x).device == x.device


def test_a_list_of_tensors_is_moved_when_it_is_stacked():
    rows, x = [torch.ones(4), torch.ones(4)], torch.ones(2, 4, device="meta")
    with pytest.raises(RuntimeError, match="not on the expected device"):
        torch.cat([x, torch.stack(rows)])
    assert torch.cat([x, torch.stack(rows).to(x.device)]).shape == (4, 4)


def test_a_tensor_without_dimensions_may_meet_another_device():
    assert (torch.ones(2, device="meta") * torch.tensor(2.0)).is_meta


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU])
def test_recurrent_layers(kind):
    x, state = torch.ones(2, 4), torch.zeros(1, 3, device="meta")
    with raises_as_documented(PAGE, "RuntimeError: Input and hidden"):
        kind(4, 3)(x, state)
    with raises_as_documented(PAGE, "RuntimeError: Input and parameter"):
        kind(4, 3, device="meta")(x)
    kind(4, 3)(x)  # without a state it makes its own


def test_attention():
    q, k = torch.ones(1, 2, 4, device="meta"), torch.ones(1, 2, 4)
    with raises_as_documented(PAGE, "RuntimeError: Expected query, key"):
        nn.functional.scaled_dot_product_attention(q, k, k)


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux libraries")
def test_the_binaries_hold_the_messages_of_two_devices():
    head = "Expected all tensors to be on the same device, but "
    listed = "\n".join(quotes(PAGE))
    texts = (
        f"{head}found at least two devices, ",
        f"{head}got ",
        ", different from other tensors on ",
        "indices should be either on ",
        " or on the same device as the indexed tensor (",
    )
    assert not lacking(TORCH_CPU, *texts)
    assert all(text in listed for text in texts)
