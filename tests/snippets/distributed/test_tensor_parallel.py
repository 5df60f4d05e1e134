"""tensor-parallel: two processes that share every layer, against one without parts."""

import pytest
import torch
import torch.distributed.tensor.parallel as tp
import transformers
from torch import nn
from torch.distributed.checkpoint import state_dict as dcp_state
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor

from tests.helpers import (
    assert_documented,
    in_two_processes,
    load_snippet,
    raises_as_documented,
)

SNIPPET = "distributed/tensor_parallel.py"
PAGE = "distributed/tensor-parallel"
snippet = load_snippet(SNIPPET)

DRIVER = """
import contextlib, runpy, sys, torch, torch.distributed as dist, transformers
import torch.distributed.tensor.parallel as tp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None

class Attention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.ModuleList(nn.Linear(8, 8) for _ in "qkv")
        self.out = nn.Linear(8, 8)

    def forward(self, x):  # (B, T, 8), heads of 2
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, self.heads, 2).transpose(1, 2) for f in self.qkv)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(B, T, -1))

def work(rank):
    with open(f"{rank}.txt", "w") as own, contextlib.redirect_stdout(own):
        run = runpy.run_path(sys.argv[1], run_name="__main__")
    model, MLP, mesh, plan = (run[name] for name in ("model", "MLP", "mesh", "plan"))
    whole = lambda tensors: [t.full_tensor().detach() for t in tensors]
    trained = [whole(p.grad for p in model.parameters()), whole(model.parameters())]

    torch.manual_seed(rank)  # the weights of rank 0 are handed out
    given = whole(tp.parallelize_module(MLP(), mesh, plan).parameters())

    torch.manual_seed(1)
    attention, few, x = Attention(-1), Attention(4), torch.randn(3, 5, 8)
    expected = attention(x)
    heads = {"qkv.*": tp.ColwiseParallel(), "out": tp.RowwiseParallel()}
    close = torch.allclose(
        tp.parallelize_module(attention, mesh, heads)(x), expected, atol=1e-6
    )
    try:
        tp.parallelize_module(few, mesh, heads)(torch.randn(1, 2, 8))
    except RuntimeError as error:
        said = str(error)

    torch.manual_seed(rank)  # a layer that the plan leaves out stays as it was drawn
    alone = MLP()
    drawn = alone.down.weight.detach().clone()
    tp.parallelize_module(alone, mesh, {"up": tp.ColwiseParallel()})
    alone = alone.down.weight.equal(drawn)

    odd = nn.ModuleDict({"up": nn.Linear(8, 33), "down": nn.Linear(33, 8)})
    tp.parallelize_module(odd, mesh, plan)
    try:
        odd["down"](odd["up"](torch.randn(4, 8)))
    except RuntimeError as error:
        uneven = str(error)

    two = init_device_mesh("cpu", (1, 2), mesh_dim_names=("dp", "tp"))
    torch.manual_seed(0)
    both, x = MLP(), torch.randn(4, 8)
    expected = both(x)
    tp.parallelize_module(both, two["tp"], plan)
    fully_shard(both, mesh=two["dp"])
    with torch.no_grad():
        fsdp = torch.allclose(both(x), expected, atol=1e-6)
    dp = two["dp"].size(), two["dp"].get_local_rank()

    auto = transformers.DistributedConfig(tp_plan="auto")
    load = transformers.AutoModelForCausalLM.from_pretrained
    llama, ids = load("llama", distributed_config=auto), torch.arange(5)[None]
    share = llama.model.layers[0].mlp.up_proj.weight.to_local().shape
    llama = share, llama(ids).logits.detach()
    told = said, uneven, alone, dist.get_rank()
    torch.save([*trained, given, close, told, fsdp, dp, llama], f"{rank}.pt")
    leave()
"""


@pytest.fixture
def mesh(group):
    """A mesh of this process alone."""
    return init_device_mesh("cpu", (1,))


PLAN = {"up": tp.ColwiseParallel(), "down": tp.RowwiseParallel()}


class Block(snippet.MLP):
    """With a layer that is not in the plan."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return super().forward(self.norm(x))


def test_two_processes_train_as_one_without_parts(tmp_path):
    sizes = {"hidden_size": 16, "intermediate_size": 32, "vocab_size": 50}
    heads = {"num_attention_heads": 2, "num_hidden_layers": 1}
    config = transformers.LlamaConfig(**sizes, **heads)
    llama = transformers.LlamaForCausalLM(config).eval()
    llama.save_pretrained(tmp_path / "llama")
    in_two_processes(tmp_path, DRIVER, snippet.__file__)
    torch.manual_seed(0)
    model, x = snippet.MLP(), torch.randn(4, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(x).square().mean().backward()
    optimizer.step()
    expected = list(model.parameters())
    torch.manual_seed(0)
    first = list(snippet.MLP().parameters())
    for rank in range(2):
        gradients, weights, given, close, told, fsdp, dp, own_llama = torch.load(
            tmp_path / f"{rank}.pt"
        )
        for own, p in zip(gradients, expected, strict=True):
            torch.testing.assert_close(own, p.grad)
        for own, p in zip(weights, expected, strict=True):
            torch.testing.assert_close(own, p.detach())
        for own, p in zip(given, first, strict=True):
            assert own.equal(p.detach())
        assert close
        assert fsdp
        assert dp == (1, 0)  # what the sampler of this process needs
        assert own_llama[0] == (16, 16)  # by its own plan: half of (32, 16)
        torch.testing.assert_close(own_llama[1], llama(torch.arange(5)[None]).logits)
        said, uneven, alone, own_rank = told
        assert_documented(PAGE, "RuntimeError: shape", f"RuntimeError: {said}")
        if own_rank == 1:  # 16 and 17 features: rank 0 names other sizes
            start = "RuntimeError: a and b must"
            assert_documented(PAGE, start, f"RuntimeError: {uneven}")
        assert alone
        printed = (tmp_path / f"{rank}.txt").read_text()
        # Half of 32 * 8, of 32 and of 8 * 32, and the last bias.
        assert printed == f"rank {rank} holds {128 + 16 + 128 + 8} of 552 weights\n"


def test_the_number_of_all_weights():
    assert sum(p.numel() for p in snippet.MLP().parameters()) == 552


def test_a_name_that_is_not_in_the_model(mesh):
    with pytest.warns(UserWarning, match="could not be resolved") as caught:
        model = tp.parallelize_module(snippet.MLP(), mesh, {"fc1": PLAN["up"]})
    assert_documented(PAGE, "UserWarning: Para", f"UserWarning: {caught[0].message}")
    assert not any(isinstance(p, DTensor) for p in model.parameters())


def test_names_with_a_star(mesh):
    model = nn.Sequential(snippet.MLP(), snippet.MLP())
    tp.parallelize_module(model, mesh, {f"*.{name}": PLAN[name] for name in PLAN})
    assert all(isinstance(p, DTensor) for p in model.parameters())


def test_a_plain_state_dict_does_not_fit(mesh):
    model = tp.parallelize_module(snippet.MLP(), mesh, PLAN)
    state = snippet.MLP().state_dict()
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        model.load_state_dict(state)
    assert "got mixed torch.Tensor and DTensor" in str(caught.value)
    full = dcp_state.StateDictOptions(full_state_dict=True)
    dcp_state.set_model_state_dict(model, dict(state), options=full)
    loaded = dcp_state.get_model_state_dict(model, options=full)
    torch.testing.assert_close(dict(loaded), dict(state), rtol=0, atol=0)


def test_clipping_by_kind(mesh):
    model = tp.parallelize_module(Block(), mesh, PLAN)
    (1e3 * model(torch.randn(4, 8))).square().sum().backward()
    clip = nn.utils.clip_grad_norm_
    with pytest.raises(RuntimeError, match="got mixed"):
        clip(model.parameters(), 1.0)
    split = [p for p in model.parameters() if isinstance(p, DTensor)]
    rest = [p for p in model.parameters() if not isinstance(p, DTensor)]
    for kind in (split, rest):
        clip(kind, 1.0)
        norms = [torch.as_tensor(p.grad.norm().item()) for p in kind]
        assert torch.stack(norms).norm().item() == pytest.approx(1, rel=1e-3)


def test_a_convolution(mesh):
    with raises_as_documented(PAGE, "NotImplementedError: ColwiseParallel"):
        tp.parallelize_module(nn.Conv1d(1, 1, 1), mesh, tp.ColwiseParallel())


@pytest.mark.usefixtures("mesh")
def test_a_mesh_that_is_too_large():
    with raises_as_documented(PAGE, "RuntimeError: Mesh should not be bigger"):
        init_device_mesh("cpu", (3,))
