"""add-tokens-train: old rows stay bit for bit, tied or not; decay would move them."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.helpers import ROOT, load_snippet


@pytest.mark.parametrize("tied", [True, False])
def test_only_new_rows_train(tied):
    code = (ROOT / "snippets/llm/add_tokens_train.py").read_text("utf-8")
    start, end = code.index("model.requires_grad_"), code.index("\nbefore =")
    config = LlamaConfig(
        vocab_size=10,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        tie_word_embeddings=tied,
    )
    model = LlamaForCausalLM(config)
    names = {"torch": torch, "model": model, "known": 8}
    exec(code[start:end], names)
    assert len(names["weights"]) == (1 if tied else 2)
    before = {n: p.clone() for n, p in model.named_parameters()}
    ids = torch.tensor([[8, 0, 9, 1]])
    for _ in range(3):
        model(ids, labels=ids).loss.backward()
        names["optimizer"].step()
        names["optimizer"].zero_grad()
    tables = {"model.embed_tokens.weight", "lm_head.weight"}
    for name, now in model.named_parameters():
        if name in tables:
            assert torch.equal(now[:8], before[name][:8])
            assert (now[8:] != before[name][8:]).any(1).all()
        else:
            assert torch.equal(now, before[name])


def test_weight_decay_would_move_old_rows():
    snippet = load_snippet("llm/add_tokens_train.py")
    weight = snippet.model.get_input_embeddings().weight
    optimizer = torch.optim.AdamW([weight], lr=0.1)  # with its weight decay
    before = weight.detach().clone()
    snippet.model(snippet.ids, labels=snippet.ids).loss.backward()
    optimizer.step()
    assert not torch.equal(weight[:8], before[:8])
