"""muon: which weights go where, the step against an SVD, and each message."""

import inspect

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/muon"
ANSWER = recipes()["muon"].answer
snippet = load_snippet("training/muon.py")


def step(shape, lr=1.0, **options) -> tuple[np.ndarray, np.ndarray]:
    """The gradient, and the first step of Muon without weight decay."""
    torch.manual_seed(0)
    p = nn.Parameter(torch.zeros(shape))
    p.grad = torch.randn(shape)
    gradient = p.grad.double().numpy().copy()
    torch.optim.Muon([p], lr=lr, weight_decay=0.0, **options).step()
    return gradient, p.detach().double().numpy()


def names(parameters) -> list[str]:
    known = {id(p): name for name, p in snippet.model.named_parameters()}
    return [known[id(p)] for p in parameters]


def test_which_weights_go_where():
    assert names(snippet.hidden) == ["body.0.weight", "body.2.weight"]
    assert names(snippet.rest) == [
        "embed.weight",
        "body.0.bias",
        "body.2.bias",
        "head.weight",
        "head.bias",
    ]
    groups = [o.param_groups[0] for o in (snippet.muon, snippet.adamw)]
    assert names(groups[0]["params"]) == names(snippet.hidden)
    assert names(groups[1]["params"]) == names(snippet.rest)
    assert [g["lr"] for g in groups] == [3e-4, 3e-4]


def matrices_in_muon(model) -> list[str]:
    """The names of what the answer gives to Muon."""
    assert set(ANSWER.yours) == {"model"}
    exec(ANSWER.text, names := {"model": model})
    known = {p: name for name, p in model.named_parameters()}
    assert len(names["hidden"]) + len(names["rest"]) == len(known)
    return [known[p] for p in names["hidden"]]


def test_a_sequential_without_names():
    layers = nn.Embedding(9, 4), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 9)
    assert matrices_in_muon(nn.Sequential(*layers)) == ["1.weight"]


def test_the_classifier_of_a_vit():
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=16, image_size=32)
    model = transformers.ViTForImageClassification(config)
    hidden = matrices_in_muon(model)
    assert len(hidden) == 6
    assert "classifier.weight" not in hidden


def test_a_last_layer_that_was_created_first():
    layers = {"head": nn.Linear(4, 9), "body": nn.Linear(4, 4)}
    model = nn.ModuleDict(layers)
    before, _ = ANSWER.text.split("hidden, rest = [], []")
    exec(before + "outer.add(model.head.weight)", names := {"model": model})
    assert names["outer"] == {model.head.weight, model.body.weight}
    assert matrices_in_muon(model) == ["head.weight"]


def test_every_weight_was_moved_once():
    for optimizer in (snippet.muon, snippet.adamw):
        assert len(optimizer.state) == len(optimizer.param_groups[0]["params"])


def test_what_is_printed(capsys):
    load_snippet("training/muon.py")
    printed = dict(line.split()[::-1] for line in capsys.readouterr().out.splitlines())
    assert [name for name, kind in printed.items() if kind == "Muon"] == names(
        snippet.hidden
    )
    assert len(printed) == 7


def small(kind):
    """Models as readers have them, with the names that their authors chose."""
    sizes = {"vocab_size": 11, "num_hidden_layers": 1, "num_attention_heads": 2}
    if kind == "llama":
        options = {"hidden_size": 8, "intermediate_size": 16, "num_key_value_heads": 2}
        config = transformers.LlamaConfig(**sizes, **options)
        return transformers.LlamaForCausalLM(config)
    if kind == "gpt2":
        config = transformers.GPT2Config(vocab_size=11, n_embd=8, n_layer=1, n_head=2)
        return transformers.GPT2LMHeadModel(config)
    return nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 1)


@pytest.mark.parametrize(
    ("kind", "matrices"), [("llama", 7), ("gpt2", 0), ("decoder", 5)]
)
def test_the_answer_with_other_names(kind, matrices):
    model = small(kind)
    hidden = matrices_in_muon(model)
    assert not [n for n in hidden if "emb" in n or "lm_head" in n]
    if kind == "gpt2":  # Conv1D holds matrices, too: all but wte and wpe
        every = [n for n, p in model.named_parameters() if p.ndim == 2]
        assert sorted({*every} - {*hidden}) == [
            "transformer.wpe.weight",
            "transformer.wte.weight",
        ]
    else:
        assert len(hidden) == matrices


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (32, 32)])
def test_the_step_is_nearly_orthogonal(shape):
    gradient, moved = step(shape)
    u, s, v = np.linalg.svd(gradient, full_matrices=False)
    rows, columns = shape
    scale = max(1, rows / columns) ** 0.5
    along = np.diag(u.T @ -moved @ v.T) / scale
    assert 0.5 < along.min() <= along.max() < 1.5  # of 1 in an exact one
    assert s.max() / s.min() > 2  # the gradient is far from it


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (128, 128)])
def test_the_size_that_adamw_has(shape):
    """About 0.2 per weight, whatever the shape."""
    _, moved = step(shape, adjust_lr_fn="match_rms_adamw")
    assert np.sqrt((moved**2).mean()) == pytest.approx(0.2, rel=0.2)


def test_the_names_decide_and_not_the_shape():
    torch.optim.Muon([snippet.model.embed.weight, snippet.model.head.weight])


def test_defaults():
    muon = inspect.signature(torch.optim.Muon).parameters
    assert muon["weight_decay"].default == 0.1
    assert muon["adjust_lr_fn"].default is None
    assert inspect.signature(torch.optim.AdamW).parameters["weight_decay"].default == (
        0.01
    )


def test_both_states_are_saved():
    saved = {"muon": snippet.muon.state_dict(), "adamw": snippet.adamw.state_dict()}
    fresh = torch.optim.Muon(snippet.hidden)
    fresh.load_state_dict(saved["muon"])
    buffer = fresh.state[snippet.hidden[0]]["momentum_buffer"]
    before = snippet.muon.state[snippet.hidden[0]]["momentum_buffer"]
    assert torch.equal(buffer, before)


def test_messages():
    with raises_as_documented(PAGE, "ValueError: Muon only supports 2D"):
        torch.optim.Muon(nn.Linear(16, 64).parameters())
    with pytest.raises(ValueError, match="only supports 2D"):
        torch.optim.Muon(nn.Conv2d(3, 4, 3, bias=False).parameters())
    with raises_as_documented(PAGE, "ValueError: optimizer got an empty"):
        torch.optim.Muon([], lr=0.1)
    with raises_as_documented(PAGE, "TypeError: Muon.__init__() got"):
        torch.optim.Muon(snippet.hidden, fused=True)
