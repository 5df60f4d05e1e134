"""forward-hooks: what is kept, against the layers called by hand; each pitfall."""

import io
import runpy
import warnings
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import (
    ROOT,
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "models/forward-hooks"
SNIPPET = "models/forward_hooks.py"
snippet = load_snippet(SNIPPET)
NOTHING = lambda *_: None  # noqa: E731, a name would let it be pickled


def network(inplace: bool = False) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace), nn.Linear(8, 2))


def test_the_demonstration_keeps_what_the_layers_give():
    run = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    model, x, kept = run["model"], run["x"], run["kept"]
    by_hand = (x @ model[0].weight.T + model[0].bias).clamp(min=0)
    torch.testing.assert_close(kept["output"], by_hand)
    assert not kept["output"].requires_grad
    # The loss is the sum: each output has the gradient 1.
    torch.testing.assert_close(kept["gradient"], model[2].weight.sum(0).expand(3, 8))
    assert not model[1]._forward_hooks, "the forward hook is still there"
    assert not model[1]._backward_hooks, "the backward hook is still there"


def test_what_is_printed(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out == "output (3, 8)\ngradient (3, 8)\n"


def test_an_error_removes_the_hook_too():
    model = network()
    with pytest.raises(RuntimeError), model[1].register_forward_hook(print):
        model(torch.randn(3, 5))
    assert not model[1]._forward_hooks


def test_hooks_pile_up_until_they_are_removed():
    model, calls = network(), []
    hook = lambda module, args, output: calls.append(1)  # noqa: E731
    handles = [model[1].register_forward_hook(hook) for _ in range(3)]
    model(torch.randn(3, 4))
    assert len(calls) == len(model[1]._forward_hooks) == 3
    for handle in handles:
        handle.remove()
    model(torch.randn(3, 4))
    assert len(calls) == 3


def test_functions_and_forward_call_no_hook():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.act = nn.Linear(4, 4), nn.ReLU()

        def forward(self, x):
            return F.relu(self.fc.forward(x))

    net, calls = Net(), []
    for layer in net.children():
        layer.register_forward_hook(lambda *_: calls.append(1))
    net(torch.randn(2, 4))
    assert calls == []
    net.act(net.fc(torch.randn(2, 4)))
    assert len(calls) == 2


def test_a_compiled_model_that_has_run_sees_no_new_hook():
    model, x, calls = network(), torch.randn(3, 4), []
    compiled = torch.compile(model, backend="eager")
    compiled(x)
    with model[1].register_forward_hook(lambda *_: calls.append(1)):
        compiled(x)
        assert calls == []
        model(x)
    assert calls == [1]


def test_the_output_projection_of_attention_is_not_called():
    attention, calls = nn.MultiheadAttention(4, 2, batch_first=True), []
    attention.out_proj.register_forward_hook(lambda *_: calls.append(1))
    x = torch.randn(1, 3, 4)
    attention(x, x, x)
    assert calls == []


def test_what_a_hook_returns_replaces_the_output():
    model, shapes = network(), {}
    keep = lambda module, args, output: shapes.setdefault("0", output.shape)  # noqa: E731
    with (
        model[0].register_forward_hook(keep),
        raises_as_documented(PAGE, "TypeError: relu(): argument 'input'"),
    ):
        model(torch.randn(3, 4))


def test_in_place_changes_what_was_kept():
    model, kept = network(inplace=True), {}
    keep = lambda module, args, output: kept.update(  # noqa: E731
        seen=output.detach(), cloned=output.detach().clone()
    )
    with model[0].register_forward_hook(keep):
        model(torch.randn(30, 4))
    assert kept["seen"].min() == 0 > kept["cloned"].min()


@torch.no_grad()
def test_the_answer_before_an_in_place_relu():
    model, x = network(inplace=True), torch.randn(30, 4)
    names = {"model": model, "layer": model[0], "x": x}
    exec(recipes()["forward-hooks"].answer.text, names)
    torch.testing.assert_close(names["kept"]["output"], model[0](x))
    assert names["kept"]["output"].min() < 0


def test_in_place_after_a_backward_hook():
    model = network(inplace=True)
    model[0].register_full_backward_hook(snippet.keep_gradient)
    with raises_as_documented(PAGE, "RuntimeError: Output 0 of BackwardHookFunction"):
        model(torch.randn(3, 4))


def test_the_signature():
    def keep(module, output):
        pass

    model = network()
    model[0].register_forward_hook(keep)
    with pytest.raises(TypeError) as caught:
        model(torch.randn(3, 4))
    raised = f"TypeError: {caught.value}".replace(keep.__qualname__, "keep")
    assert_documented(PAGE, "TypeError: keep() takes 2 positional", raised)


def test_the_output_of_an_lstm_is_a_tuple():
    lstm, x = nn.LSTM(4, 8), torch.randn(3, 4)
    with (
        lstm.register_forward_hook(snippet.keep_output),
        raises_as_documented(PAGE, "AttributeError: 'tuple' object has no attribute"),
    ):
        lstm(x)


def test_a_lambda_cannot_be_saved_with_the_model():
    model = network()
    handle = model[0].register_forward_hook(NOTHING)
    with raises_as_documented(PAGE, "PicklingError: Can't pickle <function"):
        torch.save(model, io.BytesIO())
    torch.save(model.state_dict(), io.BytesIO())
    handle.remove()
    torch.save(model, io.BytesIO())


def test_the_old_backward_hook_warns():
    model = network()
    model.register_backward_hook(lambda *_: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model(torch.randn(3, 4)).sum().backward()
    text = f"FutureWarning: {caught[0].message}"
    assert_documented(PAGE, "FutureWarning: Using a non-full", text)


def test_the_variants():
    model, shapes = network(), {}

    def keep(name, module, args, output):
        shapes[name] = tuple(output.shape)

    for name, layer in model.named_modules():
        layer.register_forward_hook(partial(keep, name))
    model[0].register_forward_pre_hook(lambda module, args: (args[0] * 0,))
    with model[2].register_forward_hook(lambda module, args, output: output + 1):
        out = model(torch.randn(3, 4))
    assert shapes == {"0": (3, 8), "1": (3, 8), "2": (3, 2), "": (3, 2)}
    by_hand = model[0].bias.relu() @ model[2].weight.T + model[2].bias + 1
    torch.testing.assert_close(out, by_hand.expand(3, 2))


def test_keyword_arguments_need_with_kwargs():
    class Scale(nn.Module):
        def forward(self, x, factor=1):
            return factor * x

    seen = []
    layer = Scale()
    layer.register_forward_hook(lambda module, args, output: seen.append(len(args)))
    layer.register_forward_hook(
        lambda module, args, kwargs, output: seen.append(list(kwargs)),
        with_kwargs=True,
    )
    layer(x=torch.ones(1), factor=2)
    assert seen == [0, ["x", "factor"]]
