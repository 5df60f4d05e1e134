"""lora: against the formula in float64, what trains, and in which dtype and where."""

import copy

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

snippet = load_snippet("llm/lora.py")
LoRALinear = snippet.LoRALinear
ANSWER = recipes()["lora"].answer


class Block(nn.Module):
    """Attention's layers by the names of Hugging Face, at some depth."""

    def __init__(self):
        super().__init__()
        self.attn = nn.ModuleDict(
            {name: nn.Linear(6, 6) for name in ("q_proj", "k_proj", "v_proj")}
        )

    def forward(self, x):
        for layer in self.attn.values():
            x = layer(x).tanh()
        return x


def layer(r: int = 3, alpha: float = 6.0) -> LoRALinear:
    torch.manual_seed(0)
    made = LoRALinear(nn.Linear(10, 7), r=r, alpha=alpha)
    nn.init.normal_(made.B.weight)
    return made


def adapted(model: nn.Module) -> dict:
    """The names that the answer leaves, pasted below this model."""
    names = {"model": model, "__name__": "pasted"}
    exec(ANSWER.text, names)
    return names


def test_a_reader_brings_a_model_alone():
    assert set(ANSWER.yours) == {"model"}


def test_nothing_changes_at_first():
    linear, x = nn.Linear(10, 7), torch.randn(4, 10)
    torch.testing.assert_close(LoRALinear(linear)(x), linear(x))


def test_the_formula_in_float64():
    lora, x = layer(), torch.randn(4, 10)
    W, b = lora.linear.weight.double(), lora.linear.bias.double()
    W = W + 6.0 / 3 * lora.B.weight.double() @ lora.A.weight.double()
    torch.testing.assert_close(lora(x), (x.double() @ W.T + b).float())


def test_the_answer_adapts_the_named_layers_of_any_depth():
    model = nn.Sequential(Block(), nn.Linear(6, 2))
    names = adapted(model)
    trained = [n for n, p in model.named_parameters() if p.requires_grad]
    ends = [
        f"0.attn.{one}.{thin}.weight" for one in ("q_proj", "v_proj") for thin in "AB"
    ]
    assert trained == ends
    frozen = {n: p.clone() for n, p in model.named_parameters() if n not in ends}
    for _ in range(2):  # the first step moves B alone
        model(torch.randn(5, 6)).square().sum().backward()
        names["optimizer"].step()
    after = dict(model.named_parameters())
    assert all(torch.equal(p, after[n]) for n, p in frozen.items())
    assert all(after[n].grad.any() for n in ends)


def test_merging_keeps_the_output_and_may_come_twice():
    model, x = Block(), torch.randn(4, 6)
    plain = copy.deepcopy(model)
    adapted(model)
    for one in ("q_proj", "v_proj"):
        nn.init.normal_(model.attn[one].B.weight)
    expected = model(x)
    assert not torch.allclose(expected, plain(x))
    names = {"nn": nn, "torch": torch, "LoRALinear": type(model.attn["q_proj"])}
    source = (ROOT / "snippets/llm/lora.py").read_text(encoding="utf-8")
    merge = source[source.index("@torch.no_grad()") : source.index("if __name__")]
    exec(merge, names)  # the class is that of the pasted answer
    for _ in range(2):
        names["merge_lora"](model)
        torch.testing.assert_close(model(x), expected)
    assert model.state_dict().keys() == plain.state_dict().keys()
    plain.load_state_dict(model.state_dict())


def test_bfloat16_weights_and_small_updates():
    """The update is float32, so that steps of 1e-5 are not rounded away."""
    linear = nn.Linear(10, 7).bfloat16()
    lora, x = LoRALinear(linear), torch.randn(4, 10).bfloat16()
    assert lora(x).dtype == torch.bfloat16
    torch.testing.assert_close(lora(x), linear(x))
    assert {lora.A.weight.dtype, lora.B.weight.dtype} == {torch.float32}
    optimizer = torch.optim.AdamW(lora.A.parameters(), lr=1e-5)
    nn.init.normal_(lora.B.weight)
    before = lora.A.weight.clone()
    lora(x).float().square().sum().backward()
    optimizer.step()
    assert (lora.A.weight != before).all()
    everything = lora.bfloat16()  # as model.bfloat16() does
    assert everything(x).dtype == torch.bfloat16


def test_under_autocast():
    lora, x = layer(), torch.randn(4, 10)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = lora(x)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), lora(x), rtol=0.05, atol=0.1)


def test_on_another_device():
    lora = LoRALinear(nn.Linear(10, 7, device="meta"))
    assert {p.device.type for p in lora.parameters()} == {"meta"}
    assert lora(torch.randn(4, 10, device="meta")).shape == (4, 7)


def test_no_layer_of_that_name():
    with raises_as_documented("llm/lora", "ValueError: optimizer got an empty"):
        adapted(nn.Sequential(nn.Linear(2, 2)))


def test_what_reads_the_weight_itself():
    message = "AttributeError: 'LoRALinear' object has no attribute"
    model = nn.Sequential(Block())
    adapted(model)
    with raises_as_documented("llm/lora", message):
        adapted(model)  # a second time
    x, attention = torch.randn(2, 3, 6), nn.MultiheadAttention(6, 2)
    attention.out_proj = LoRALinear(attention.out_proj)
    with raises_as_documented("llm/lora", message):
        attention(x, x, x)
    block = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True).eval()
    expected = block(x)
    block.linear1, block.linear2 = LoRALinear(block.linear1), LoRALinear(block.linear2)
    with torch.no_grad(), raises_as_documented("llm/lora", message):
        block(x)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        torch.testing.assert_close(block(x), expected)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_only_the_thin_matrices_train():
    lora = layer()
    trained = {name: p.shape for name, p in lora.named_parameters() if p.requires_grad}
    assert trained == {"A.weight": (3, 10), "B.weight": (7, 3)}
    lora(torch.randn(4, 10)).sum().backward()
    assert lora.linear.weight.grad is None


def test_the_first_step_moves_b_alone():
    lora = LoRALinear(nn.Linear(10, 7))
    lora(torch.randn(4, 10)).square().sum().backward()
    assert lora.B.weight.grad.abs().max() > 0
    assert lora.A.weight.grad.abs().max() == 0
    nn.init.zeros_(lora.A.weight)
    lora.zero_grad()
    lora(torch.randn(4, 10)).square().sum().backward()
    assert lora.B.weight.grad.abs().max() == 0  # both zero: nothing is learnt


def test_a_starts_as_in_the_authors_code():
    A = LoRALinear(nn.Linear(400, 7), r=64).A.weight
    assert A.abs().max().item() == pytest.approx(1 / 20, rel=0.01)  # U(±1/√in)
    assert A.mean().item() == pytest.approx(0, abs=1e-3)


def test_defaults():
    assert LoRALinear(nn.Linear(10, 7)).scale == 16 / 8
    assert LoRALinear(nn.Linear(10, 7)).A.weight.shape == (8, 10)
