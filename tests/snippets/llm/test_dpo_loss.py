"""dpo-loss: against gather, Llama in transformers, hand-worked numbers."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("llm/dpo_loss.py")
PAGE = "llm/dpo-loss"


def batch():
    torch.manual_seed(0)
    logits, ids = torch.randn(4, 12, 50), torch.randint(50, (4, 12))
    labels = ids.clone()
    labels[:, :5] = -100
    labels[1, 9:] = -100
    return logits, labels


def by_gather(logits, labels):
    """The other way to write it, which the page names."""
    labels = labels[:, 1:]
    logp = logits[:, :-1].log_softmax(-1)
    taken = logp.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return (taken * (labels != -100)).sum(-1)


def test_log_p_in_float64():
    logits, labels = batch()
    got = snippet.sequence_logp(logits, labels)
    assert got.shape == (4,)
    for b in range(4):
        total = 0.0
        for t in range(11):  # position t predicts token t + 1
            if labels[b, t + 1] != -100:
                z = logits[b, t].double()
                total += float(z[labels[b, t + 1]] - z.exp().sum().log())
        assert got[b].item() == pytest.approx(total, rel=1e-5)
    torch.testing.assert_close(got, by_gather(logits, labels))


def test_logits_in_bfloat16():
    torch.manual_seed(0)
    logits, labels = torch.randn(2, 400, 50).bfloat16(), torch.randint(50, (2, 400))
    got = snippet.sequence_logp(logits, labels)
    assert got.dtype == torch.float32
    exact = by_gather(logits.double(), labels)
    torch.testing.assert_close(got.double(), exact, rtol=0, atol=0.02)
    low = by_gather(logits, labels)
    assert (low.double() - exact).abs().max() > 1


def llama():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=20,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    return LlamaForCausalLM(config)


def test_transformers_checkpoints_in_train_mode_only():
    model, calls = llama(), []
    model.activation_checkpointing_enable()
    model.model.layers[0].mlp.register_forward_pre_hook(lambda *_: calls.append(1))
    for mode, expected in [(True, 2), (False, 1)]:
        calls.clear()
        model.train(mode)(torch.randint(50, (1, 12))).logits.sum().backward()
        assert len(calls) == expected


def test_padding_with_an_attention_mask():
    model, ids = llama().eval(), torch.randint(50, (1, 12))
    labels = ids.clone()
    labels[:, :5] = -100
    alone = snippet.sequence_logp(model(ids).logits, labels)
    pad = torch.zeros(1, 3, dtype=torch.long)
    for side in ([pad, ids], [ids, pad]):
        mask = torch.cat([torch.full_like(t, t is ids) for t in side], 1)
        target = torch.cat([labels if t is ids else pad - 100 for t in side], 1)
        logits = model(torch.cat(side, 1), attention_mask=mask).logits
        torch.testing.assert_close(snippet.sequence_logp(logits, target), alone)


def test_log_p_of_transformers():
    model = llama().eval()
    ids = torch.randint(50, (1, 12))
    labels = ids.clone()
    labels[:, :5] = -100
    out = model(ids, labels=labels)  # the mean of 7 targets
    torch.testing.assert_close(
        snippet.sequence_logp(out.logits, labels), -7 * out.loss[None]
    )


def test_the_loss_by_hand():
    numbers = [-10.0, -14.0], [-12.0, -9.0], [-11.0, -13.0], [-11.5, -10.0]
    chosen, rejected, ref_chosen, ref_rejected = map(torch.tensor, numbers)
    # margins: (1) - (-0.5) = 1.5 and (-1) - (1) = -2
    for beta in (0.1, 0.5):
        expected = (
            math.log1p(math.exp(-beta * 1.5)) + math.log1p(math.exp(beta * 2))
        ) / 2
        got = snippet.dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta)
        assert got.item() == pytest.approx(expected, rel=1e-5)
    by_default = snippet.dpo_loss(chosen, rejected, ref_chosen, ref_rejected)
    same = snippet.dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1)
    assert by_default == same


def test_the_policy_starts_at_log_2():
    torch.manual_seed(0)
    logits, labels = batch()
    logp = snippet.sequence_logp(logits, labels)
    a, b = logp.chunk(2)
    assert snippet.dpo_loss(a, b, a, b).item() == pytest.approx(math.log(2))


def test_dropout_moves_the_start():
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Embedding(50, 16), nn.Dropout(0.5), nn.Linear(16, 50))
    reference = copy.deepcopy(policy).eval()
    ids = torch.randint(50, (8, 12))

    def start():
        a, b = snippet.sequence_logp(policy(ids), ids).chunk(2)
        ref_a, ref_b = snippet.sequence_logp(reference(ids), ids).chunk(2)
        return snippet.dpo_loss(a, b, ref_a, ref_b).item()

    assert start() != pytest.approx(math.log(2), abs=1e-3)
    policy.eval()
    assert start() == pytest.approx(math.log(2), abs=1e-6)


def test_a_shared_prompt_cancels_and_padding_does_not():
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))
    reference = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))
    ids = torch.randint(50, (4, 12))
    ids[2:, :5] = ids[:2, :5]  # the same prompts
    ids[1, 9:] = 0  # padding
    labels = ids.clone()
    labels[1, 9:] = -100

    def loss(labels):
        a, b = snippet.sequence_logp(policy(ids), labels).chunk(2)
        ref_a, ref_b = snippet.sequence_logp(reference(ids), labels).chunk(2)
        return snippet.dpo_loss(a, b, ref_a, ref_b, beta=1.0)

    masked = labels.clone()
    masked[:, :5] = -100
    torch.testing.assert_close(loss(masked), loss(labels))
    assert not torch.isclose(loss(ids), loss(labels), rtol=1e-2)


def test_gather_with_minus_100():
    logits, labels = batch()
    with raises_as_documented(PAGE, "RuntimeError: index -100 is out of bounds"):
        logits.log_softmax(-1).gather(-1, labels[..., None])


def test_the_vocabulary_is_dimension_1():
    logits, labels = batch()
    with raises_as_documented(PAGE, "RuntimeError: Expected target size"):
        F.cross_entropy(logits[:, :-1], labels[:, 1:], reduction="none")


def test_the_log_of_a_sigmoid():
    margin = torch.tensor(-200.0)
    assert torch.log(torch.sigmoid(margin)) == -torch.inf
    assert F.logsigmoid(margin) == -200


def test_both_may_fall():
    """The loss falls although the better answer becomes less likely, too."""
    a, b = torch.tensor([-10.0]), torch.tensor([-10.0])
    start = snippet.dpo_loss(a, b, a, b)
    assert snippet.dpo_loss(a - 5, b - 9, a, b) < start


def test_the_smoothed_loss():
    """The variant: with labels that are wrong in a share eps of the pairs."""
    margin, beta, eps = torch.tensor([1.5]), 0.1, 0.2
    loss = -(1 - eps) * F.logsigmoid(beta * margin) - eps * F.logsigmoid(-beta * margin)
    soft = torch.tensor([1 - eps])
    torch.testing.assert_close(
        loss, F.binary_cross_entropy_with_logits(beta * margin, soft)[None]
    )


def test_the_gradient_reaches_the_policy_alone():
    chosen, rejected = torch.zeros(2, requires_grad=True), torch.zeros(2)
    snippet.dpo_loss(chosen, rejected, torch.zeros(2), torch.zeros(2)).backward()
    torch.testing.assert_close(chosen.grad, torch.full((2,), -0.1 / 2 / 2))
