"""err-must-be-tensor: every type of the table reaches a layer, and is mended."""

import math

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision import models
from torchvision.transforms.v2.functional import to_image
from transformers import BertConfig, BertForSequenceClassification
from transformers.utils import ModelOutput

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-must-be-tensor"
ANSWER = recipes()["err-must-be-tensor"].answer


class Forgets(nn.Module):
    def forward(self, x):
        x.relu()


def named(given) -> str:
    """The type that the layer names when it gets this."""
    with pytest.raises(TypeError, match="must be Tensor, not ") as raised:
        nn.functional.linear(given, torch.ones(2, 8))
    return str(raised.value).rpartition("not ")[2]


@pytest.mark.parametrize(
    "layer",
    [nn.LSTM(8, 16, batch_first=True), nn.GRU(8, 16, batch_first=True)],
)
def test_the_answer_takes_the_output_of_a_recurrent_layer(layer, capsys):
    x = torch.randn(4, 5, 8)
    names = {"layer": layer, "x": x}
    exec(ANSWER.text, names)
    torch.testing.assert_close(names["output"], layer(x)[0])
    assert capsys.readouterr().out == "tuple\n"
    found = load_snippet("errors/err_must_be_tensor.py")
    with raises_as_documented(PAGE, "TypeError: linear(): argument 'input'"):
        found.head(found.layer(found.x))


@pytest.mark.parametrize("kind", [dict, ModelOutput, list])
def test_the_answer_takes_nothing_out_of_another_type(kind, capsys):
    """The first of a model's output with labels would be the loss."""
    given = {"loss": torch.ones(()), "logits": torch.ones(4, 2)}
    result = kind(given)
    names = {"layer": lambda x: result, "x": torch.ones(4, 8)}
    exec(ANSWER.text, names)
    assert capsys.readouterr().out == f"{kind.__name__}\n"
    assert "output" not in names


def test_the_types_of_the_table():
    x = torch.randn(3, 8)
    attention = nn.MultiheadAttention(8, 2)
    assert named(attention(x, x, x)) == "tuple"
    assert named((x,)) == "tuple"
    assert named(Forgets()(x)) == "NoneType"
    assert named([].append(x)) == "NoneType"
    assert named([x, x]) == "list"
    assert named(x.numpy()) == "numpy.ndarray"
    assert named(Image.new("RGB", (8, 8))) == "Image"
    assert named(x.max(dim=1)) == "torch.return_types.max"
    assert named(nn.ReLU(x)) == "ReLU"
    assert named(nn.Linear(8, 8)) == "Linear"
    for call in (lambda: torch.sqrt(64), lambda: torch.exp(1.0)):
        with pytest.raises(TypeError, match=r"must be Tensor, not (int|float)$"):
            call()


def test_the_mends():
    x = torch.randn(3, 8)
    assert nn.functional.linear(torch.stack([x, x]), torch.ones(2, 8)).shape[0] == 2
    assert torch.equal(x.amax(1), x.max(dim=1).values)
    assert torch.equal(nn.ReLU()(x), torch.relu(x))
    assert nn.functional.linear(torch.tensor([1.0] * 8), torch.ones(2, 8))[0] == 8
    assert torch.sqrt(torch.tensor(64.0)) == math.sqrt(64)
    assert torch.from_numpy(np.ones(3)).shape == (3,)
    assert to_image(Image.new("RGB", (4, 2))).shape == (3, 2, 4)


def test_a_model_of_transformers():
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=10, intermediate_size=8, **size)
    result = BertForSequenceClassification(config)(torch.tensor([[1, 2]]))
    assert named(result) == "SequenceClassifierOutput"
    assert named(next(iter(result))) == "str"
    assert result.logits.shape == (1, 2)
    assert result[0] is result.logits


def test_the_other_messages():
    x = torch.ones(1, 3, 4, 4)
    start = "TypeError: conv2d() received an invalid combination of arguments - got (t"
    with raises_as_documented(PAGE, start):
        nn.Conv2d(3, 1, 1)((x, x))
    start = "TypeError: conv2d() received an invalid combination of arguments - got (T"
    for options, types in (
        ({"padding": 3 / 2}, "float, float"),
        ({"stride": 2.0}, "float, float"),
        ({"stride": True}, "bool, bool"),
    ):
        with raises_as_documented(PAGE, start) as caught:
            nn.Conv2d(3, 1, 3, **options)(x)
        assert "invalid types: (Tensor, " in str(caught.value)
        assert f"!tuple of ({types})!" in str(caught.value)
    with raises_as_documented(PAGE, "AttributeError: 'tuple' object has no"):
        print((x, x).shape)
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has no"):
        print(Forgets()(x).shape)
    with raises_as_documented(PAGE, "TypeError: 'Tensor' object is not callable"):
        x(x)


def test_models_of_torchvision():
    x = torch.randn(2, 3, 64, 64)
    net = models.googlenet(weights=None, init_weights=False, num_classes=3)
    result = net.train()(x)
    assert named(result) == "GoogLeNetOutputs"
    assert result.logits.shape == (2, 3)
    assert models.InceptionOutputs._fields == ("logits", "aux_logits")
    size = {"weights": None, "weights_backbone": None, "num_classes": 3}
    result = models.segmentation.lraspp_mobilenet_v3_large(**size)(x)
    assert named(result) == "collections.OrderedDict"
    assert result["out"].shape == (2, 3, 64, 64)


def test_forward_gets_too_few_arguments_or_lacks_self():
    pooled, indices = nn.MaxPool2d(2, return_indices=True)(torch.ones(1, 1, 4, 4))
    start = "TypeError: MaxUnpool2d.forward() missing 1 required"
    with raises_as_documented(PAGE, start):
        nn.Sequential(nn.MaxUnpool2d(2))(pooled)
    assert nn.MaxUnpool2d(2)(pooled, indices).shape == (1, 1, 4, 4)

    class NoSelf(nn.Module):
        def forward(x):
            return x

    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        NoSelf()(pooled)


def test_forward_does_not_know_an_argument():
    with raises_as_documented(PAGE, "TypeError: Linear.forward() got an unexpected"):
        nn.Linear(2, 2)(torch.ones(2), mask=None)
