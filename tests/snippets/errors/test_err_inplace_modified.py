"""err-inplace-modified: the line that is shown, a gradient by hand, each cause."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "errors/err-inplace-modified"
MODIFIED = "modified by an inplace operation"
SNIPPET = "errors/err_inplace_modified.py"


@pytest.fixture(autouse=True)
def _anomaly_detection_ends():
    yield
    torch.autograd.set_detect_anomaly(False)


def test_the_warning_shows_the_line_above_the_change():
    answer = recipes()["err-inplace-modified"].answer
    assert answer.yours == {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_snippet(SNIPPET)
    text = "".join(str(warning.message) for warning in caught)
    assert "Traceback of forward call that caused the error" in text
    assert "out = layer(x).sigmoid()" in text
    assert "out += x" not in text


@pytest.mark.filterwarnings("ignore:Anomaly Detection|Error detected in")
def test_the_snippet_raises_and_its_comment_mends(capsys):
    load_snippet(SNIPPET)
    assert MODIFIED in capsys.readouterr().out
    text = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert text.count("    out += x  #") == 1
    names = {}
    exec(text.replace("    out += x  #", "    out = out + x  #"), names)
    assert capsys.readouterr().out == ""
    weight, bias = (p.detach().numpy() for p in names["layer"].parameters())
    x, y = names["x"].numpy(), names["y"].numpy()
    s = 1 / (1 + np.exp(-(x @ weight.T + bias)))
    slope = 2 * (s + x - y) / y.size * s * (1 - s)  # of the loss, worked out by hand
    np.testing.assert_allclose(names["layer"].bias.grad, slope.sum(0), atol=1e-5)


def test_adding_in_place_to_a_saved_result():
    with raises_as_documented(
        PAGE,
        "RuntimeError: one of the variables needed for gradient computation has been "
        "modified by an inplace operation: [torch.FloatTensor [4, 8]]",
    ):
        y = nn.Linear(8, 8)(torch.randn(4, 8)).sigmoid()
        y += 1
        y.sum().backward()


def test_a_step_between_forward_and_backward():
    model = nn.Sequential(nn.Conv2d(3, 3, 1), nn.Conv2d(3, 8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(1, 3, 5, 5)
    with raises_as_documented(
        PAGE,
        "RuntimeError: one of the variables needed for gradient computation has been "
        "modified by an inplace operation: [torch.FloatTensor [8, 3, 3, 3]]",
    ):
        out = model(x)
        out.mean().backward(retain_graph=True)
        optimizer.step()
        out.square().mean().backward()
    out = model(x)  # the fix: every backward, then the step
    out.mean().backward(retain_graph=True)
    out.square().mean().backward()
    optimizer.step()


@pytest.mark.parametrize("layer", [torch.sigmoid, torch.tanh, torch.exp])
def test_inplace_relu_after_a_layer_that_keeps_its_output(layer):
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=MODIFIED):
        F.relu(layer(w), inplace=True).sum().backward()
    F.relu(layer(w)).sum().backward()


def test_inplace_relu_on_a_tensor_used_elsewhere():
    w = torch.ones(3, requires_grad=True)
    x = 2 * w
    with pytest.raises(RuntimeError, match=MODIFIED):
        (x.square() + F.relu(x, inplace=True)).sum().backward()


def test_slices_are_named_by_as_strided_for_a_weight_or_a_slice():
    net, out = nn.Linear(8, 8), torch.zeros(3, 8)
    for i in range(1, 3):
        out[i] = net(out[i - 1])
    with pytest.raises(RuntimeError, match=r"output 0 of AsStrided.* is at version 2"):
        out.sum().backward()
    pair = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))
    score = pair(torch.ones(3, 8))
    with torch.no_grad():
        pair[1].weight.add_(1)
    shape = r"\[4, 2\]\], which is output 0 of AsStrided"  # the weight is (2, 4)
    with pytest.raises(RuntimeError, match=shape):
        score.sum().backward()


def test_a_change_through_detach_and_by_a_mask():
    w, mask = torch.ones(3, requires_grad=True), torch.tensor([True, False, False])
    y = w.exp()
    z = y.detach()
    z += 1
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()
    y = w.softmax(0)
    y[mask] = 0
    with pytest.raises(RuntimeError, match="output 0 of Softmax"):
        y.sum().backward()
    w.softmax(0).masked_fill(mask, 0).sum().backward()  # 1 - p[0]
    torch.testing.assert_close(w.grad, torch.tensor([-2 / 9, 1 / 9, 1 / 9]))


def test_detect_anomaly_names_the_line_that_needs_the_value():
    w = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = w.exp()
        y += 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with raises_as_documented(
                PAGE,
                "RuntimeError: one of the variables needed for gradient computation "
                "has been modified by an inplace operation: [torch.FloatTensor [2]]",
            ):
                y.sum().backward()
    text = "".join(str(warning.message) for warning in caught)
    assert "Traceback of forward call that caused the error" in text
    assert "y = w.exp()" in text
    assert "y += 1" not in text


def test_the_version_counts_the_changes():
    y = torch.ones(2)
    versions = [y._version]
    y += 1
    versions.append(y._version)
    y[0] = 3
    versions.append(y._version)
    y = y + 1
    assert [*versions, y._version] == [0, 1, 2, 0]


def test_data_hides_the_change_and_no_grad_does_not():
    w = torch.ones(1, requires_grad=True)
    y = w.exp()
    y.data += 1
    y.sum().backward()
    assert w.grad.item() == pytest.approx(math.e + 1)  # e would be right
    w.grad, y = None, w.exp()
    y.detach().numpy()[:] = 0
    y.sum().backward()
    assert w.grad.item() == 0  # e would be right
    y = w.exp()
    with torch.no_grad():
        y += 1
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_saved_tensors_may_be_changed_where_it_is_allowed():
    w = torch.ones(1, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = w.exp()
        y += 1
        y.sum().backward()
    assert w.grad.item() == pytest.approx(math.e)


def test_the_neighbouring_messages():
    w = torch.ones(2, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Output 0 of Unbind is a view"):
        for row in 2 * w:
            row += 1
    layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    layers[0].register_full_backward_hook(lambda *_: None)
    with raises_as_documented(PAGE, "RuntimeError: Output 0 of BackwardHook"):
        layers(w)
    for m in layers.modules():
        m.inplace = False
    layers(w).sum().backward()
    y = 2 * w
    with torch.no_grad():
        view = y[0]
    with raises_as_documented(PAGE, "RuntimeError: A view was created in no_grad"):
        view += 1
