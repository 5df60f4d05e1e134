"""beam-search: against all texts of a tiny vocabulary, and transformers."""

from itertools import product

import pytest
import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from tests.helpers import load_snippet

beam_search = load_snippet("llm/beam_search.py").beam_search
V, EOS = 4, 3


class Tiny(nn.Module):
    """Logits of the next token that depend on the last two."""

    def __init__(self, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.table = 2 * torch.randn(V, V, V, generator=generator)

    def forward(self, ids):
        before = torch.cat([ids[:, :1], ids[:, :-1]], dim=1)
        return self.table[before, ids]


def exhaustive(model, prompt, steps, alpha):
    """Every text that ends with EOS or after `steps` tokens; one token at a time."""
    found = []
    for n in range(1, steps + 1):
        for new in product(range(V), repeat=n):
            if EOS in new[:-1] or (n < steps and new[-1] != EOS):
                continue
            ids, total = list(prompt), 0.0
            for token in new:
                logits = model(torch.tensor([ids]))[0, -1].double()
                total += (logits[token] - logits.exp().sum().log()).item()
                ids.append(token)
            found.append((total / n**alpha, ids))
    return max(found)


@pytest.mark.parametrize("alpha", [0, 0.6, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_with_enough_beams_it_finds_the_best_text(seed, alpha):
    model = Tiny(seed)
    score, ids = beam_search(model, torch.tensor([0, 1]), EOS, 300, 4, alpha)
    expected, best = exhaustive(model, [0, 1], 4, alpha)
    assert ids == best
    assert score == pytest.approx(expected, abs=1e-4)


def greedy(model, ids, steps):
    while steps and ids[-1] != EOS:
        ids = [*ids, model(torch.tensor([ids]))[0, -1].argmax().item()]
        steps -= 1
    return ids


@pytest.mark.parametrize("seed", range(12))
def test_one_beam_is_greedy(seed):
    model = Tiny(seed)
    _, ids = beam_search(model, torch.tensor([0]), EOS, beams=1, steps=6)
    assert ids == greedy(model, [0], 6)


def test_each_step_keeps_as_many_beams_as_told():
    seen, model = [], Tiny(0)
    model.table[..., EOS] = -50
    for beams in (1, 2, 3, 9):
        seen.clear()
        model.register_forward_pre_hook(lambda _, args: seen.append(len(args[0])))
        beam_search(model, torch.tensor([0]), EOS, beams, steps=4)
        assert max(seen) == beams
        model._forward_pre_hooks.clear()


def test_the_defaults():
    model = Tiny(3)
    model.table[..., EOS] = -50
    score, ids = beam_search(model, torch.tensor([0]), EOS)
    assert len(ids) == 21
    assert (score, ids) == beam_search(model, torch.tensor([0]), EOS, 4, 20, 1.0)


def test_a_finished_text_is_not_continued_and_the_search_ends():
    model, calls = Tiny(0), []
    model.table[...] = 0
    model.table[..., EOS] = 9
    model.register_forward_pre_hook(lambda *_: calls.append(1))
    _, ids = beam_search(model, torch.tensor([0]), EOS, beams=3, steps=50)
    assert ids == [0, EOS]
    assert len(calls) < 10
    assert len(beam_search(model, torch.tensor([EOS]), EOS, steps=1)[1]) == 2


@pytest.fixture(scope="module")
def gpt2():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=20, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    config.bos_token_id = config.eos_token_id = config.pad_token_id = None
    model = GPT2LMHeadModel(config).eval()
    nn.init.normal_(model.transformer.wte.weight)  # so that it has preferences
    return model


@pytest.mark.parametrize("beams", [1, 2, 4])
def test_generate_of_transformers(gpt2, beams):
    prompt = torch.tensor([[3, 1, 4]])
    mask = torch.ones_like(prompt)
    options = {"num_beams": beams, "do_sample": False, "max_new_tokens": 6}
    expected = gpt2.generate(prompt, attention_mask=mask, **options)
    score, ids = beam_search(lambda i: gpt2(i).logits, prompt[0], -1, beams, 6)
    assert ids == expected[0].tolist()
    with torch.no_grad():
        log_p = gpt2(expected).logits[0, 2:-1].log_softmax(-1)
    by_hand = log_p.gather(1, expected[0, 3:, None]).mean()
    assert score == pytest.approx(by_hand.item(), abs=1e-4)
