"""seq2seq-transformer: what each mask hides, texts reversed by Python, each pitfall."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.helpers import ROOT, assert_documented, load_snippet, raises_as_documented

PAGE = "models/seq2seq-transformer"
snippet = load_snippet("models/seq2seq_transformer.py")
beam_search = load_snippet("llm/beam_search.py").beam_search
PAD, BOS, EOS = snippet.PAD, snippet.BOS, snippet.EOS


def write(src):
    ids = torch.full((len(src), 1), BOS)
    with torch.no_grad():
        for _ in range(8):
            next_ids = snippet.forward(src, ids)[:, -1:].argmax(-1)
            ids = torch.cat([ids, next_ids], dim=1)
    return ids.tolist()


def reversed_share(pairs) -> float:
    """How many of the written texts are the source from behind, by Python's lists."""
    good = 0
    for source, written in pairs:
        digits = [n for n in source if n != PAD]
        good += written[1 : len(digits) + 2] == [*reversed(digits), EOS]
    return good / len(pairs)


def test_it_has_learnt_to_reverse_texts_of_any_length():
    src, _ = snippet.batch(200)
    assert reversed_share(list(zip(src.tolist(), write(src), strict=True))) > 0.9


def test_targets_are_shifted_and_padded_on_the_right():
    src, tgt = snippet.batch(50)
    for source, target in zip(src.tolist(), tgt.tolist(), strict=True):
        digits = [n for n in source if n != PAD]
        whole = [BOS, *reversed(digits), EOS]
        assert target == whole + [PAD] * (8 - len(whole))


def test_no_place_sees_what_it_should_predict():
    src, tgt = snippet.batch(4)
    other = tgt.clone()
    other[:, 3:] = 7
    same = snippet.forward(src, tgt)[:, :3]
    torch.testing.assert_close(snippet.forward(src, other)[:, :3], same)
    assert not snippet.forward(src, other)[:, 3:].allclose(same[:, :1])


def test_a_text_gets_the_same_logits_alone_and_padded():
    src, tgt = torch.tensor([[5, 3, 0, 0], [4, 8, 6, 9]]), torch.tensor([[1, 3, 5]] * 2)
    alone = snippet.forward(src[:1, :2], tgt[:1])
    torch.testing.assert_close(snippet.forward(src, tgt)[:1], alone)
    embed, padding = snippet.embed, src == PAD
    future = torch.ones(3, 3, dtype=torch.bool).triu(1)
    seen = snippet.transformer(
        embed(src), embed(tgt), tgt_mask=future, src_key_padding_mask=padding
    )  # without memory_key_padding_mask
    assert not snippet.head(seen)[:1].allclose(alone, atol=1e-3)


def test_the_encoder_needs_to_run_only_once():
    src, ids = snippet.batch(5)[0], torch.full((5, 3), BOS)
    embed, transformer, padding = snippet.embed, snippet.transformer, src == PAD
    future = torch.ones(3, 3, dtype=torch.bool).triu(1)
    memory = transformer.encoder(embed(src), src_key_padding_mask=padding)
    y = transformer.decoder(
        embed(ids), memory, tgt_mask=future, memory_key_padding_mask=padding
    )
    torch.testing.assert_close(snippet.head(y), snippet.forward(src, ids))


def test_beam_search_takes_it():
    src = torch.tensor([[5, 3, 9, 7]])
    _, ids = beam_search(
        lambda ids: snippet.forward(src.expand(len(ids), -1), ids),
        torch.tensor([BOS]),
        EOS,
    )
    assert ids == [BOS, 7, 9, 3, 5, EOS]


@pytest.mark.parametrize("masked", [True, False])
def test_without_the_mask_the_loss_falls_and_nothing_is_learnt(masked):
    """Labels that are noise: only who sees them can tell them."""
    decoder = nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    token, place, head = nn.Embedding(13, 32), nn.Embedding(6, 32), nn.Linear(32, 13)
    model = nn.ModuleList([decoder, token, place, head])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    memory = torch.zeros(64, 1, 32)
    future = torch.ones(6, 6, dtype=torch.bool).triu(1) if masked else None
    for _ in range(80):
        tgt = torch.randint(3, 13, (64, 7))
        x = token(tgt[:, :-1]) + place(torch.arange(6))
        logits = head(decoder(x, memory, tgt_mask=future))[:, :-1]
        loss = F.cross_entropy(logits.mT, tgt[:, 1:-1])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert (loss > 2) == masked  # ln 10 = 2.3 is all that noise allows


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_many_layers_learn_with_the_norm_first():
    """The same program with 6 + 6 layers, after 60 steps; 13 tokens: ln 13 = 2.6."""
    source = (ROOT / "snippets/models/seq2seq_transformer.py").read_text("utf-8")
    source = source.split("model.eval()")[0].replace("range(200)", "range(60)")
    deep = source.replace("C, 4, 1, 1,", "C, 4, 6, 6,")
    first = deep.replace("batch_first=True)", "batch_first=True, norm_first=True)")
    losses = []
    for program in (deep, first):
        names = {"__name__": "__main__"}
        exec(program, names)
        losses.append(names["loss"].item())
    assert losses[0] > 1.5
    assert losses[1] < 1.2


def test_messages():
    src, tgt = torch.randn(3, 7, 16), torch.randn(3, 5, 16)
    with pytest.warns(UserWarning, match="batch_first was not True"):
        wrong = nn.Transformer(16, 4, 1, 1, 32)
    with raises_as_documented(PAGE, "RuntimeError: the batch number"):
        wrong(src, tgt)
    right = nn.Transformer(16, 4, 1, 1, 32, batch_first=True)
    floats = right.generate_square_subsequent_mask
    with raises_as_documented(PAGE, "RuntimeError: The shape of the 2D"):
        right(src, tgt, tgt_mask=floats(4))
    with pytest.warns(UserWarning, match="mismatched") as caught:
        right(src, tgt, tgt_mask=floats(5), tgt_key_padding_mask=torch.zeros(3, 5) > 0)
    said = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: Support for mismatched", said)
    with raises_as_documented(PAGE, "IndexError: index out of range"):
        snippet.embed(torch.ones(1, 65, dtype=torch.long))
