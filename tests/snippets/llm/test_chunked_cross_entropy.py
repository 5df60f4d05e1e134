"""chunked-cross-entropy: against a float64 loop, plain logits, and PyTorch's own."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from tests.helpers import load_snippet, raises_as_documented

PAGE = "llm/chunked-cross-entropy"
chunked_cross_entropy = load_snippet(
    "llm/chunked_cross_entropy.py"
).chunked_cross_entropy
builtin = pytest.mark.skipif(
    not hasattr(F, "linear_cross_entropy"), reason="PyTorch 2.12 or older"
)


@pytest.fixture
def data():
    torch.manual_seed(0)
    h, weight = torch.randn(10, 4), torch.randn(30, 4)
    target = torch.randint(30, (10,))
    target[[1, 2, 9]] = -100
    return h.requires_grad_(), weight.requires_grad_(), target


def results(loss, *inputs):
    return loss.detach(), *torch.autograd.grad(loss, inputs)


def plain(h, weight, target):
    return F.cross_entropy(h @ weight.T, target)


@pytest.mark.parametrize("rows", [1, 3, 5, 10, 1024])
def test_the_loss_is_that_of_a_float64_loop(data, rows):
    h, weight, target = data
    losses = []
    for row, label in zip(h.detach().double(), target.tolist(), strict=True):
        if label != -100:
            logits = weight.detach().double() @ row
            losses.append(logits.exp().sum().log() - logits[label])
    loss = chunked_cross_entropy(h, weight, target, rows=rows)
    torch.testing.assert_close(loss.double(), sum(losses) / 7, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(
        results(loss, h, weight), results(plain(*data), h, weight)
    )


def test_the_mean_of_means_is_another_number(data):
    h, weight, target = data
    parts = zip(h.split(5), target.split(5), strict=True)
    mean = sum(plain(a, weight, b) for a, b in parts) / 2
    assert not torch.allclose(mean, plain(*data), rtol=1e-3)


def test_a_bfloat16_h_needs_autocast(data):
    h, weight, target = data
    half = h.detach().bfloat16()
    with raises_as_documented(PAGE, "RuntimeError: expected m1 and m2"):
        chunked_cross_entropy(half, weight, target)
    with torch.autocast("cpu", torch.bfloat16):
        loss = chunked_cross_entropy(half, weight, target, rows=3)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, plain(*data), rtol=0.02, atol=0)


def test_only_h_is_kept(data):
    h, weight, target = data

    def kept(loss):
        found = {}

        def note(tensor):
            storage = tensor.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
            return tensor

        with saved_tensors_hooks(note, lambda tensor: tensor):
            loss()
        return sum(found.values())

    # h and target; the weight comes through the closure
    limit = h.nbytes + target.nbytes + 8
    assert kept(lambda: chunked_cross_entropy(h, weight, target, 3)) <= limit
    assert kept(lambda: plain(*data)) > 10 * 30 * 4


def test_no_part_has_more_rows(data, monkeypatch):
    h, weight, target = data
    shapes = []

    def noted(logits, *args, **kwargs):
        shapes.append(tuple(logits.shape))
        return real(logits, *args, **kwargs)

    real = F.cross_entropy
    monkeypatch.setattr(F, "cross_entropy", noted)
    chunked_cross_entropy(h, weight, target, 4).backward()
    parts = [(4, 30), (4, 30), (2, 30)]
    assert sorted(shapes) == sorted(2 * parts)  # forward, and again in backward
    shapes.clear()
    h, target = torch.randn(1025, 4), torch.zeros(1025, dtype=torch.long)
    chunked_cross_entropy(h, weight, target)
    assert shapes == [(1024, 30), (1, 30)]


def test_bfloat16_is_computed_in_float32(data):
    h, weight, target = (data[0].bfloat16(), data[1].bfloat16(), data[2])
    loss = chunked_cross_entropy(h, weight, target)
    assert loss.dtype == torch.float32
    assert loss == F.cross_entropy((h @ weight.T).float(), target)


def test_all_ignored(data):
    ignored = torch.full((10,), -100)
    assert chunked_cross_entropy(*data[:2], ignored).isnan()
    assert plain(*data[:2], ignored).isnan()


def test_lengths_that_differ(data):
    with pytest.raises(ValueError, match="zip"):
        chunked_cross_entropy(*data[:2], data[2][:4], rows=4)


@torch.no_grad()
def both(model):
    """The loss of a language model in chunks, and by the model itself."""
    ids = torch.randint(50, (2, 7))
    expected = model.eval()(ids, labels=ids).loss
    h = model.model(ids).last_hidden_state
    h, target = h[:, :-1].flatten(0, 1), ids[:, 1:].flatten()
    return chunked_cross_entropy(h, model.lm_head.weight, target, rows=5), expected


def test_without_the_head_of_a_hugging_face_model():
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    config = transformers.LlamaConfig(vocab_size=50, num_attention_heads=2, **sizes)
    torch.testing.assert_close(*both(transformers.LlamaForCausalLM(config)))


@pytest.mark.parametrize("name", ["Gemma2", "Granite", "Cohere"])
def test_models_that_change_the_logits_after_the_head(name):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "pad_token_id": 0}
    change = {"final_logit_softcapping": 1.0, "logits_scaling": 8.0}
    change["logit_scale"] = 0.1
    config = getattr(transformers, f"{name}Config")(vocab_size=50, **sizes, **heads)
    known = [key for key in change if hasattr(config, key)]
    assert len(known) == 1
    for key in known:
        setattr(config, key, change[key])
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(config)
    model.lm_head.weight.data.normal_()
    loss, expected = both(model)
    assert abs(loss - expected) > 0.1


def test_the_size_on_the_page():
    assert f"{8192 * 128_256 * 4 / 2**30:.1f}" == "3.9"


@builtin
@pytest.mark.parametrize("method", ["auto", "aspect_ratio:4"])
def test_the_builtin(data, method):
    h, weight, target = data
    options = nn.LinearCrossEntropyOptions(chunking_method=method)
    loss = F.linear_cross_entropy(h, weight, target, options=options)
    torch.testing.assert_close(
        results(loss, h, weight), results(plain(*data), h, weight)
    )
    bias = torch.randn(30)
    torch.testing.assert_close(
        F.linear_cross_entropy(h, weight, target, linear_bias=bias, options=options),
        F.cross_entropy(F.linear(h, weight, bias), target),
    )


@builtin
def test_the_builtin_in_bfloat16(data):
    h, weight = data[0].bfloat16(), data[1].bfloat16()
    options = nn.LinearCrossEntropyOptions()
    loss = F.linear_cross_entropy(h, weight, data[2], options=options)
    assert loss.dtype == torch.bfloat16
    assert torch.tensor(7.13).bfloat16() == torch.tensor(7.11).bfloat16() == 7.125
    # the gradients are those of float32, to the precision of bfloat16
    found = torch.autograd.grad(loss, data[:2])
    expected = torch.autograd.grad(plain(h.float(), weight.float(), data[2]), data[:2])
    for a, b in zip(found, expected, strict=True):
        assert (a - b).norm() < 0.02 * b.norm()


@builtin
def test_messages_of_the_builtin(data):
    h, weight, target = data
    options = nn.LinearCrossEntropyOptions()
    with raises_as_documented(PAGE, "RuntimeError: expected input with"):
        F.linear_cross_entropy(h[None], weight, target[None], options=options)
    with raises_as_documented(PAGE, "UserWarning: linear_cross_entropy:"):
        F.linear_cross_entropy(h, weight, target, label_smoothing=0.1, options=options)
    for again in (False, True):
        options = nn.LinearCrossEntropyOptions(allow_retain_graph=again)
        loss = F.linear_cross_entropy(h, weight, target, options=options)
        loss.backward(retain_graph=True)
        if again:
            loss.backward()
        else:
            with raises_as_documented(PAGE, "RuntimeError: linear_cross_entropy"):
                loss.backward()
