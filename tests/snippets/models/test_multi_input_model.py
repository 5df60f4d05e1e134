"""multi-input-model: the output by NumPy, both gradients, and the messages."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/multi-input-model"
snippet = load_snippet("models/multi_input_model.py")


def make(cnn=None):
    torch.manual_seed(0)
    cnn = cnn or nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return snippet.ImageAndTable(cnn, cnn_features=3, columns=4, classes=2)


def test_equals_numpy():
    model = make()
    image, table = torch.randn(5, 3, 7, 6), torch.randn(5, 4)
    weights = {k: v.numpy() for k, v in model.state_dict().items()}
    left = image.numpy().mean((2, 3))
    right = table.numpy() @ weights["mlp.0.weight"].T + weights["mlp.0.bias"]
    features = np.concatenate([left, right.clip(min=0)], axis=1)
    expected = features @ weights["head.weight"].T + weights["head.bias"]
    got = model(image, table).detach().numpy()
    assert got.shape == (5, 2)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_both_inputs_and_all_parameters_get_gradients():
    conv = nn.Sequential(nn.Conv2d(3, 3, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = make(conv)
    image = torch.randn(2, 3, 5, 5, requires_grad=True)
    table = torch.randn(2, 4, requires_grad=True)
    model(image, table).square().sum().backward()
    for tensor in (image, table, *model.parameters()):
        assert tensor.grad.abs().sum() > 0


def test_the_loader_stacks_each_entry():
    first, last = DataLoader(snippet.ImageTableDataset(), batch_size=4)
    assert list(first) == ["image", "table", "label"]
    assert first["image"].shape == (4, 3, 8, 8)
    assert last["table"].shape == (2, 4)
    assert first["label"].tolist() == [0, 1, 0, 1]
    assert first["label"].dtype == torch.int64
    torch.testing.assert_close(last["image"][:, 0, 0, 0], torch.tensor([4 / 6, 5 / 6]))


def test_messages():
    image, table = torch.ones(2, 3, 4, 4), torch.ones(2, 4)
    with raises_as_documented(PAGE, "RuntimeError: Tensors must have"):
        make(nn.ReLU())(image, table)
    with raises_as_documented(PAGE, "TypeError: Sequential.forward()"):
        nn.Sequential(nn.Linear(4, 2))(table, table)
    with raises_as_documented(PAGE, "AttributeError: 'dict'"):
        {"image": image}.to("cpu")
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2"):
        make()(image, table.double())


def test_one_sample_another_dtype_and_device():
    model = make().bfloat16()
    image, table = torch.ones(1, 3, 4, 4), torch.ones(1, 4)
    logits = model(image.bfloat16(), table.bfloat16())
    assert (logits.dtype, logits.shape) == (torch.bfloat16, (1, 2))
    assert model.float().to("meta")(image.to("meta"), table.to("meta")).is_meta
