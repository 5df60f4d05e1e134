"""fsdp2: two processes that share a model, against one process without shards."""

import functools
import os

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint import state_dict as dcp_state
from torch.distributed.fsdp import (
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from torch.distributed.tensor import DTensor

from tests.chains.pasted import answer
from tests.helpers import in_two_processes, load_snippet, raises_as_documented

SNIPPET = "distributed/fsdp2.py"
PAGE = "distributed/fsdp2"
snippet = load_snippet(SNIPPET)
SHARD = answer("fsdp2").partition("device_id=gpu)\n")[2]  # once the group is there


def sharded(model=snippet.Model):
    """The model and its optimizer, by the lines of the answer."""
    names = {"torch": torch, "fully_shard": fully_shard, "Model": model}
    exec(SHARD, names)
    return names["model"], names["optimizer"]


def trained(steps=5):
    model, optimizer = sharded()
    return model, snippet.train(model, optimizer, "cpu", steps)


DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import *
run = runpy.run_path(sys.argv[1])
fully_shard = run["fully_shard"]
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None

def train(steps=5):
    exec(sys.argv[2], run)
    return run["model"], run["train"](run["model"], run["optimizer"], "cpu", steps)

def work(rank):
    runpy.run_path(sys.argv[1], run_name="__main__")  # writes model.pt
    model, loss = train()
    full = StateDictOptions(full_state_dict=True, cpu_offload=True)
    state = get_model_state_dict(model, options=full)
    held = sum(p.to_local().numel() for p in model.parameters())
    shapes = [list(p.to_local().shape) for p in model.parameters()]

    other, _ = train(steps=1)
    given = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(other, dict(state), options=given)  # it fills the dict
    loaded = get_model_state_dict(other, options=full)

    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1).full_tensor()

    torch.manual_seed(rank)  # nothing is sent when a model is sharded
    plain = nn.Linear(2, 2, bias=False)
    own = plain.weight.detach()[rank].tolist()
    mixed = fully_shard(plain).weight.full_tensor()[rank].tolist()
    torch.save([loss, state, held, shapes, loaded, norm, own, mixed], f"{rank}.pt")
    leave()
"""


def unsharded(steps: int):
    """The model, its last loss on each half, and the gradients of the last step."""
    torch.manual_seed(0)
    model = snippet.Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    x = torch.randn(64, 8)
    y = (x[:, 0] > 0).long()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y, reduction="none")
        loss.mean().backward()
        optimizer.step()
    return model, [loss[rank::2].mean().item() for rank in range(2)]


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Folder, and what each of two processes saved."""
    folder = tmp_path_factory.mktemp("fsdp2")
    printed = in_two_processes(folder, DRIVER, snippet.__file__, SHARD)
    return folder, [torch.load(folder / f"{rank}.pt") for rank in range(2)], printed


@pytest.mark.usefixtures("group")
def test_one_process_trains_as_without_shards():
    model, loss = trained()
    expected, (even, odd) = unsharded(5)
    assert loss == pytest.approx((even + odd) / 2, rel=1e-5)
    for own, p in zip(model.parameters(), expected.parameters(), strict=True):
        assert isinstance(own, DTensor)
        torch.testing.assert_close(own.full_tensor(), p)


@pytest.mark.usefixtures("group")
def test_bfloat16_computes_and_float32_is_kept():
    policy = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
    model = fully_shard(snippet.Model(), mp_policy=policy)
    out = model(torch.ones(1, 8))
    out.sum().backward()
    assert out.dtype == torch.bfloat16
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert {p.grad.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.usefixtures("group")
def test_each_block_is_sharded_by_itself():
    """So that it is gathered by itself."""
    model, _ = trained(steps=1)
    names = [type(module).__name__ for module in (model, *model.blocks, model.head)]
    assert names == ["FSDPModel", "FSDPLinear", "FSDPLinear", "Linear"]


def test_two_processes_train_as_one_without_shards(processes):
    expected, losses = unsharded(5)
    _, (first, second), _ = processes
    assert [first[0], second[0]] == pytest.approx(losses, rel=1e-5)
    torch.testing.assert_close(first[1], dict(expected.state_dict()))
    assert second[1] == {}  # the whole is on rank 0
    gradients = [p.grad for p in expected.parameters()]
    norm = torch.stack([g.norm() for g in gradients]).norm()
    torch.testing.assert_close(first[5], norm)
    torch.testing.assert_close(second[5], norm)


def test_each_process_holds_half(processes):
    total = sum(p.numel() for p in snippet.Model().parameters())
    for _, _, held, shapes, *_ in processes[1]:
        assert held == total / 2
        assert shapes[0] == [4, 8]


def test_rank_0_writes_a_file_for_a_plain_model(processes):
    folder, _, printed = processes
    total = sum(p.numel() for p in snippet.Model().parameters())
    assert printed.splitlines() == [f"saved {total} weights"]
    state = torch.load(folder / "model.pt", weights_only=True)
    model = snippet.Model()
    model.load_state_dict(state)
    expected = unsharded(5)[0].state_dict()
    torch.testing.assert_close(state, dict(expected))


def test_the_whole_is_loaded_from_rank_0(processes):
    (first, _) = processes[1]
    torch.testing.assert_close(first[4], first[1], rtol=0, atol=0)


def test_nothing_is_sent_when_a_model_is_sharded(processes):
    """Each process keeps its part of its own weights."""
    for *_, own, mixed in processes[1]:
        assert own == mixed


@pytest.mark.usefixtures("group")
def test_an_optimizer_built_before_does_not_train():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fully_shard(model)
    before = model.weight.full_tensor().clone()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert model.weight.full_tensor().equal(before)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.encode(x)

    def encode(self, x):
        return x @ self.layer.weight


class Mine(nn.Module):
    """Other people's blocks: attention, a normalization, a tied weight."""

    def __init__(self):
        super().__init__()
        block = {"nhead": 2, "dim_feedforward": 8, "batch_first": True}
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(4, **block) for _ in range(2)
        )
        self.embed, self.head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.mark.usefixtures("own_process")
def test_the_answer_alone_with_a_transformer_in_bfloat16(monkeypatch):
    one = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    one |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    monkeypatch.setattr(os, "environ", os.environ | one)
    names = {"Model": lambda: Mine().bfloat16()}
    exec(answer("fsdp2"), names)
    model, x = names["model"], torch.tensor([[1, 2, 3, 4]] * 3)
    losses = []
    for _ in range(20):
        names["optimizer"].zero_grad()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        names["optimizer"].step()
        losses.append(loss.item())
    dist.destroy_process_group()
    assert losses[-1] < losses[0]
    assert isinstance(model.blocks[1].self_attn.in_proj_weight, DTensor)
    assert model.head.weight is model.embed.weight


@pytest.mark.usefixtures("group")
def test_another_method_than_forward():
    model = fully_shard(Encoder())
    with raises_as_documented(PAGE, "RuntimeError: aten.mm.default got mixed"):
        model.encode(torch.ones(1, 2))
    register_fsdp_forward_method(model, "encode")
    assert model.encode(torch.ones(1, 2)).shape == (1, 2)


@pytest.mark.usefixtures("group")
def test_there_is_no_wrapper():
    model = trained(steps=1)[0]
    with raises_as_documented(PAGE, "AttributeError: 'FSDPModel' object"):
        model.module  # noqa: B018


@pytest.mark.usefixtures("group")
def test_a_plain_state_dict_does_not_fit():
    model = trained(steps=1)[0]
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        model.load_state_dict(snippet.Model().state_dict())
    assert "aten.copy_.default got mixed torch.Tensor and DTensor" in str(caught.value)


@pytest.mark.usefixtures("group")
def test_gradients_are_kept_back_while_they_accumulate():
    model = fully_shard(nn.Linear(2, 1, bias=False))
    model.set_requires_gradient_sync(False)
    model(torch.ones(1, 2)).sum().backward()
    assert model.weight.grad is None
    model.set_requires_gradient_sync(True)
    model(torch.ones(1, 2)).sum().backward()
    assert model.weight.grad.full_tensor().tolist() == [[2, 2]]


@pytest.mark.usefixtures("group")
def test_a_model_on_the_meta_device_has_to_be_made_first():
    with torch.device("meta"):
        early, model = (fully_shard(nn.Linear(2, 2)) for _ in range(2))
    with raises_as_documented(PAGE, "RuntimeError: FSDP parameters should be"):
        early(torch.ones(1, 2))
    model.to_empty(device="cpu")
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    assert model(torch.ones(1, 2)).tolist() == [[2, 2]]


@pytest.mark.usefixtures("group")
def test_a_buffer_that_is_not_in_the_file_is_not_loaded():
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        model.register_buffer("frequencies", torch.ones(2), persistent=False)
    fully_shard(model).to_empty(device="cpu")
    model.frequencies.fill_(torch.nan)  # what was in memory
    options = dcp_state.StateDictOptions(full_state_dict=True, strict=True)
    weights = {"weight": torch.eye(2), "bias": torch.ones(2)}
    dcp_state.set_model_state_dict(model, weights, options=options)
    assert model(torch.ones(1, 2)).tolist() == [[2, 2]]
    assert model.frequencies.isnan().all()


@pytest.mark.usefixtures("group")
def test_the_weights_to_train_have_one_dtype():
    layers = nn.Sequential(nn.Linear(2, 2).bfloat16(), nn.LayerNorm(2))
    with raises_as_documented(PAGE, "AssertionError: FSDP expects uniform"):
        fully_shard(layers)(torch.ones(1, 2))
    model = nn.Sequential(nn.Linear(2, 2).bfloat16(), nn.LayerNorm(2)).float()
    assert fully_shard(model)(torch.ones(1, 2)).dtype == torch.float32


class Adapted(nn.Module):
    """Frozen weights in bfloat16, and an adapter in float32, as of LoRA."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(2, 2).bfloat16().requires_grad_(False)
        self.adapter = nn.Linear(2, 2)

    def forward(self, x):
        return self.base(x.bfloat16()) + self.adapter(x)


@pytest.mark.usefixtures("group")
@pytest.mark.filterwarnings("ignore")
def test_fsdp1_takes_one_dtype_and_fsdp2_an_adapter_of_another():
    cpu = torch.device("cpu")
    with raises_as_documented(PAGE, "ValueError: Must flatten tensors"):
        FullyShardedDataParallel(Adapted(), device_id=cpu, use_orig_params=True)
    same = Adapted().to(torch.bfloat16)
    FullyShardedDataParallel(same, device_id=cpu, use_orig_params=True)
    model = fully_shard(Adapted())
    model(torch.ones(1, 2)).sum().backward()
    assert model.adapter.weight.grad.dtype == torch.float32


@pytest.mark.usefixtures("group")
@pytest.mark.filterwarnings("ignore")
def test_the_whole_model_runs_before_a_part_of_it():
    x = torch.ones(1, 2)
    wrap = functools.partial(FullyShardedDataParallel, device_id=torch.device("cpu"))
    old = wrap(nn.Sequential(wrap(nn.Linear(2, 2)), nn.Linear(2, 2)))
    old.module[0](x)
    with raises_as_documented(PAGE, "AssertionError: Non-root FSDP"):
        old(x)
    new = fully_shard(nn.Sequential(fully_shard(nn.Linear(2, 2)), nn.Linear(2, 2)))
    new[0](x)
    with pytest.raises(RuntimeError, match="has already been lazily initialized"):
        new(x)
