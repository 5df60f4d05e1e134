"""What recipes gain: the usual way and the recipe's, side by side in one process.

python -m benchmarks.gains [SLUG...]

It prints each ratio and writes verified/gains/<device>.json, of which pages show a line
below the answer. Ratios are samples of one machine; what did not run keeps its old one.
A function here is given the device and returns the usual way, the recipe's way and the
numbers that its words name.
"""

import runpy
import sys
import tempfile
from copy import deepcopy
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from torch.utils.data import DataLoader, Dataset
from torchao.quantization import Int8WeightOnlyConfig, quantize_

from benchmarks.measuring import ROOT, first_call, gain, main, memory, speed


def snippet(path: str) -> dict:
    """What a recipe's file defines."""
    return runpy.run_path(str(ROOT / f"snippets/{path}.py"), run_name="snippet")


def step(model: nn.Module, *inputs: torch.Tensor) -> None:
    """Forward and backward."""
    model(*inputs).float().square().mean().backward()
    model.zero_grad()


def layer(device: torch.device) -> tuple[nn.Module, torch.Tensor, int]:
    """A transformer's layer and a batch of 256 tokens each."""
    size = 32 if device.type == "cuda" else 2
    model = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    return model.to(device), torch.randn(size, 256, 512, device=device), size


def convolutions(device: torch.device) -> tuple[nn.Module, torch.Tensor, int]:
    """Six convolutions with BatchNorm and ReLU, and a batch of images."""
    size, layers = (64 if device.type == "cuda" else 2), []
    for n in range(6):
        layers += [nn.Conv2d(64 if n else 3, 64, 3, padding=1)]
        layers += [nn.BatchNorm2d(64), nn.ReLU()]
    images = torch.randn(size, 3, 112, 112, device=device)
    return nn.Sequential(*layers).to(device), images, size


def blocks(device: torch.device) -> tuple[list[nn.Module], torch.Tensor]:
    """Eight feed-forward blocks, and their input."""
    rows = 16384 if device.type == "cuda" else 256
    made = [
        nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(device)
        for _ in range(8)
    ]
    return made, torch.randn(rows, 512, device=device)


def autocast(dtype: torch.dtype, model: nn.Module, x: torch.Tensor) -> None:
    """A step of which the forward is in this dtype."""
    with torch.autocast(x.device.type, dtype, enabled=dtype != torch.float32):
        y = model(x)
    y.float().square().mean().backward()
    model.zero_grad()


@gain(
    "avoid-gpu-sync",
    {speed: "cuda"},
    "50 training steps of a small network, without `.item()` in each",
    "小网络训练 50 步，循环里不再每步 `.item()`",
)
def _(device):
    model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(8)]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x = torch.randn(8192, 256, device=device)

    def train(note):
        for _ in range(50):
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            note(loss)

    total = torch.zeros((), device=device)
    return (
        lambda: train(lambda loss: loss.item()),
        lambda: train(lambda loss: total.add_(loss.detach())),
        {},
    )


LAYER_EN = "a training step of a transformer layer, {size} × 256 tokens, "
LAYER_ZH = "一层 Transformer 的一个训练步，{size} × 256 个 token，"


@gain(
    "mixed-precision",
    {speed: "cpu cuda", memory: "cuda"},
    LAYER_EN + "bfloat16 instead of float32",
    LAYER_ZH + "float32 换成 bfloat16",
)
def _(device):
    model, x, size = layer(device)
    half = partial(autocast, torch.bfloat16, model, x)
    return partial(step, model, x), half, {"size": size}


@gain(
    "bf16-vs-fp16",
    {speed: "cuda"},
    LAYER_EN + "bfloat16 instead of float16",
    LAYER_ZH + "float16 换成 bfloat16",
)
def _(device):
    model, x, size = layer(device)
    ways = [partial(autocast, t, model, x) for t in (torch.float16, torch.bfloat16)]
    return *ways, {"size": size}


@gain(
    "channels-last",
    {speed: "cpu cuda"},
    "a training step of six convolutions, {size} images of 112×112, {dtype}",
    "六层卷积的一个训练步，{size} 张 112×112 的图，{dtype}",
)
def _(device):
    model, x, size = convolutions(device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    other = deepcopy(model).to(memory_format=torch.channels_last)
    before = partial(autocast, dtype, model, x)
    after = partial(autocast, dtype, other, x.to(memory_format=torch.channels_last))
    return before, after, {"size": size, "dtype": str(dtype).removeprefix("torch.")}


@gain(
    "compile-basics",
    {speed: "cpu cuda"},
    "a chain of small operations over {rows} × 1024 numbers, forward and backward",
    "一串小运算，{rows} × 1024 个数，前向加反向",
)
def _(device):
    rows = 16384 if device.type == "cuda" else 1024

    def chain(x):
        y = F.gelu(x * 1.5 + 0.5) * torch.sigmoid(x)
        return F.layer_norm(y + x, (1024,)).square().mean()

    x = torch.randn(rows, 1024, device=device, requires_grad=True)
    ways = [
        lambda f=f: torch.autograd.grad(f(x), x) for f in (chain, torch.compile(chain))
    ]
    return *ways, {"rows": rows}


@gain(
    "compile-basics",
    {speed: "cpu cuda"},
    "a training step of a transformer layer, {size} × 256 tokens",
    "一层 Transformer 的一个训练步，{size} × 256 个 token",
)
def _(device):
    model, x, size = layer(device)
    compiled = torch.compile(deepcopy(model))
    return partial(step, model, x), partial(step, compiled, x), {"size": size}


@gain(
    "compile-cold-start",
    {first_call: "cpu cuda"},
    "the first call of 12 equal blocks, compiled one by one instead of as a whole",
    "12 个相同的块，首次调用的耗时：逐块编译，而不是整体编译",
)
def _(device):
    model = snippet("performance/compile_cold_start")["Model"]().to(device).eval()
    x = torch.randn(2, 16, device=device)

    def call(compile_it):
        torch.compiler.reset()
        with torch._inductor.config.patch(force_disable_caches=True), torch.no_grad():
            fresh = deepcopy(model)
            compile_it(fresh)
            fresh(x)

    torch.compile(nn.Linear(16, 16).to(device))(x)  # the compiler itself is loaded
    return (
        lambda: call(lambda m: m.compile()),
        lambda: call(lambda m: [block.compile() for block in m.blocks]),
        {},
    )


@gain(
    "compile-graph-breaks",
    {speed: "cpu cuda"},
    "20 small operations in one graph instead of five",
    "20 个小运算放在一张图里，而不是断成五段",
)
def _(device):
    x = torch.randn(512, 512, device=device)

    def whole(x, cut=lambda: None):
        for n in range(20):
            x = torch.relu(x * 1.01 - 0.01)
            if n % 5 == 4 and n < 19:
                cut()
        return x

    def broken(x):
        return whole(x, torch._dynamo.graph_break)

    ways = [torch.compile(f) for f in (broken, whole)]
    return lambda: ways[0](x), lambda: ways[1](x), {}


@gain(
    "cpu-inference-tuning",
    {speed: "cpu"},
    "20 layers of 64 × 64, one row, float32, under `inference_mode()`",
    "20 个 64×64 的线性层，1 行输入，float32，放进 `inference_mode()`",
)
def _(device):
    model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(20)]).eval()
    x = torch.randn(1, 64)

    def call():
        with torch.inference_mode():
            model(x)

    return lambda: model(x), call, {}


@gain(
    "compile-dynamic-recompile",
    {first_call: "cpu cuda"},
    "calls with two batch sizes, the size marked as dynamic, so compiled once",
    "两种 batch 大小各调用一次，标记为动态，只编译一次",
)
def _(device):
    def chain(x):
        return F.layer_norm(torch.relu(x * 1.01 - 0.01), (256,))

    a, b = (torch.randn(rows, 256, device=device) for rows in (32, 48))
    torch.compile(torch.sin)(a)  # the compiler itself is loaded

    def call(mark):
        torch.compiler.reset()
        with torch._inductor.config.patch(force_disable_caches=True):
            compiled = torch.compile(chain)
            first = a.clone()
            mark(first)
            compiled(first)
            compiled(b)

    return (
        lambda: call(lambda x: None),
        lambda: call(lambda x: torch._dynamo.mark_dynamic(x, 0)),
        {},
    )


@gain(
    "cpu-threads",
    {speed: "cpu"},
    "a product of 1024 × 1024 with {threads} threads instead of one",
    "1024 × 1024 的矩阵乘法，1 个线程换成 {threads} 个",
)
def _(device):
    a, threads = torch.randn(1024, 1024), torch.get_num_threads()

    def product(number):
        torch.set_num_threads(number)
        torch.mm(a, a)

    return partial(product, 1), partial(product, threads), {"threads": threads}


@gain(
    "int8-quantization",
    {speed: "cpu"},
    "two layers of 1024, 4 rows, int8 weights instead of float32",
    "两层 1024 宽的全连接，4 行输入，float32 权重换成 int8",
)
def _(device):
    model = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 1024))
    int8, x = deepcopy(model), torch.randn(4, 1024)
    quantize_(int8, Int8WeightOnlyConfig())
    return *(torch.inference_mode()(partial(m, x)) for m in (model, int8)), {}


@gain(
    "cuda-graphs",
    {speed: "cuda"},
    "50 layers of 16, a batch of 8, replayed",
    "50 层、每层宽 16，batch 为 8，用图重放",
)
def _(device):
    model = nn.Sequential(*[nn.Linear(16, 16) for _ in range(50)]).to(device)
    x, graph = torch.zeros(8, 16, device=device), torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    with torch.no_grad(), torch.cuda.graph(graph):
        model(x)
    return torch.no_grad()(lambda: model(x)), graph.replay, {}


@gain(
    "fused-foreach-optimizer",
    {speed: "cpu cuda"},
    "a step of AdamW over 200 layers of 256 × 256, `fused=True` instead of the default",
    "AdamW 更新 200 层 256 × 256 的权重，默认方式换成 `fused=True`",
)
def _(device):
    ways = []
    for fused in (None, True):
        model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(200)]).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        ways.append(optimizer.step)
    return *ways, {}


@gain(
    "save-on-cpu-hooks",
    {memory: "cuda", speed: "cuda"},
    "a training step of eight feed-forward blocks",
    "八个前馈块的一个训练步",
)
def _(device):
    made, x = blocks(device)
    model = nn.Sequential(*made)

    def offloaded():
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            loss = model(x).square().mean()
        loss.backward()
        model.zero_grad()

    return partial(step, model, x), offloaded, {}


@gain(
    "tf32-precision",
    {speed: "cuda"},
    "a float32 product of 4096 × 4096, `high` instead of `highest`",
    "4096 × 4096 的 float32 矩阵乘法，`highest` 换成 `high`",
)
def _(device):
    a = torch.randn(4096, 4096, device=device)

    def product(precision):
        torch.set_float32_matmul_precision(precision)
        torch.mm(a, a)
        torch.set_float32_matmul_precision("highest")

    return partial(product, "highest"), partial(product, "high"), {}


@gain(
    "vectorize-loops",
    {speed: "cpu cuda"},
    "30 × 20 distances in one call instead of a loop",
    "30 × 20 个距离，循环换成一次调用",
)
def _(device):
    a, b = torch.randn(30, 8, device=device), torch.randn(20, 8, device=device)
    return (
        lambda: torch.stack([(p - q).norm() for p in a for q in b]),
        lambda: (a[:, None] - b).norm(dim=2),
        {},
    )


FEED_EN, FEED_ZH = "a training step of eight blocks, ", "八个块的一个训练步，"


@gain(
    "activation-checkpointing",
    {speed: "cpu cuda", memory: "cuda"},
    FEED_EN + "all of them recomputed",
    FEED_ZH + "全部重算",
)
def _(device):
    made, x = blocks(device)
    net = snippet("models/activation_checkpointing")["Net"](made)
    x.requires_grad_()
    return partial(step, nn.Sequential(*made), x), partial(step, net, x), {}


@gain(
    "selective-checkpointing",
    {speed: "cpu cuda", memory: "cuda"},
    FEED_EN + "recomputed but for the matrix products, instead of wholly",
    FEED_ZH + "除矩阵乘法外重算，而不是全部重算",
)
def _(device):
    made, x = blocks(device)
    keep = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]
    context_fn = partial(create_selective_checkpoint_contexts, keep)

    def run(**options):
        y = x
        for block in made:
            y = checkpoint(block, y, use_reentrant=False, **options)
        y.square().mean().backward()
        nn.ModuleList(made).zero_grad()

    return run, partial(run, context_fn=context_fn), {}


@gain(
    "chunked-cross-entropy",
    {memory: "cuda", speed: "cuda"},
    "loss and gradients of 8192 tokens over a vocabulary of 50,000",
    "8192 个 token、词表 50,000 的损失和梯度",
)
def _(device):
    chunked = snippet("llm/chunked_cross_entropy")["chunked_cross_entropy"]
    h = torch.randn(8192, 512, device=device, requires_grad=True)
    weight = torch.randn(50_000, 512, device=device, requires_grad=True)
    target = torch.randint(50_000, (8192,), device=device)

    def grads(loss):
        torch.autograd.grad(loss, (h, weight))

    return (
        lambda: grads(F.cross_entropy(h @ weight.T, target)),
        lambda: grads(chunked(h, weight, target)),
        {},
    )


@gain(
    "kv-cache",
    {speed: "cpu"},
    "a layer of attention, 256 wide, generates 256 tokens after a prompt of 256",
    "一层注意力，宽 256，提示 256 个 token，再生成 256 个",
)
def _(device):
    attention = snippet("llm/kv_cache")["CausalSelfAttention"]
    attend = attention(C=256, nh=8).to(device).eval()
    x = torch.randn(1, 512, 256, device=device)

    @torch.no_grad()
    def again():
        for t in range(256, 512):
            attend(x[:, : t + 1])

    @torch.no_grad()
    def cached():
        _, cache = attend(x[:, :256])
        for t in range(256, 512):
            _, cache = attend(x[:, t : t + 1], cache)

    return again, cached, {}


def queries(device: torch.device, tokens: int) -> torch.Tensor:
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    return torch.randn(3, 2, 8, tokens, 64, device=device, dtype=dtype)


def softmax_attention(q, k, v, mask):
    scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


@gain(
    "sdpa",
    {speed: "cpu cuda", memory: "cuda"},
    "causal attention over {tokens} tokens, instead of product, softmax, product",
    "{tokens} 个 token 的因果注意力，对比手写的乘法、softmax、乘法",
)
def _(device):
    tokens = 4096 if device.type == "cuda" else 1024
    q, k, v = queries(device, tokens)
    mask = torch.ones(tokens, tokens, dtype=torch.bool, device=device).tril()
    return (
        lambda: softmax_attention(q, k, v, mask),
        lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        {"tokens": tokens},
    )


@gain(
    "flex-attention",
    {speed: "cuda"},
    "8192 tokens, each sees the 256 before it; instead of "
    "`scaled_dot_product_attention` with a mask",
    "8192 个 token，每个只看前 256 个；对比带掩码的 `scaled_dot_product_attention`",
)
def _(device):
    q, k, v = queries(device, 8192)

    def window(b, h, q_idx, kv_idx):
        return (q_idx >= kv_idx) & (q_idx - kv_idx < 256)

    at = torch.arange(8192, device=device)
    dense = window(0, 0, at[:, None], at)
    mask = create_block_mask(window, None, None, 8192, 8192, device=device.type)
    flex = torch.compile(flex_attention)
    return (
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=dense),
        lambda: flex(q, k, v, block_mask=mask),
        {},
    )


class Busy(Dataset):
    """Each sample takes 10 to 20 ms of Python, as decoding does."""

    def __len__(self):
        return 256

    def __getitem__(self, index):
        return sum(n * n for n in range(200_000)) + index


@gain(
    "dataloader-performance",
    {first_call: "cpu"},
    "256 samples that each take 10 to 20 ms of Python, two workers instead of none",
    "256 个样本，每个要在 Python 里处理 10 到 20 毫秒，0 个 worker 换成 2 个",
)
def _(device):
    return (
        lambda: list(DataLoader(Busy(), 16)),
        lambda: list(DataLoader(Busy(), 16, num_workers=2)),
        {},
    )


@gain(
    "dataloader-performance",
    {speed: "cuda"},
    "a batch of 64 MiB to the GPU, from pinned memory",
    "把 64 MiB 的 batch 搬到 GPU，用锁页内存",
)
def _(device):
    batch = torch.randn(2**24)
    pinned = batch.pin_memory()
    return (
        lambda: batch.to(device),
        lambda: pinned.to(device, non_blocking=True),
        {},
    )


@gain(
    "no-grad-vs-eval",
    {memory: "cuda"},
    "the forward of eight blocks under `torch.no_grad()`",
    "八个块的前向，放在 `torch.no_grad()` 里",
)
def _(device):
    made, x = blocks(device)
    model = nn.Sequential(*made)
    return lambda: model(x), torch.no_grad()(lambda: model(x)), {}


@gain(
    "gradient-accumulation",
    {memory: "cuda"},
    "eight batches of 2048 rows instead of one of 16384, eight blocks",
    "八个块，一个 16384 行的 batch 换成八个 2048 行的",
)
def _(device):
    made, x = blocks(device)
    model = nn.Sequential(*made)

    def accumulated():
        for part in x.split(2048):
            (model(part).square().mean() / 8).backward()
        model.zero_grad()

    return partial(step, model, x), accumulated, {}


@gain(
    "fuse-conv-bn",
    {speed: "cpu cuda"},
    "inference by six convolutions, {size} images of 112×112",
    "六层卷积的推理，{size} 张 112×112 的图",
)
def _(device):
    model, x, size = convolutions(device)
    fused = snippet("models/fuse_conv_bn")["fuse"](model.eval())
    ways = [torch.no_grad()(partial(m, x)) for m in (model, fused)]
    return *ways, {"size": size}


@gain(
    "per-sample-gradients",
    {speed: "cpu cuda"},
    "64 samples through two layers, instead of a loop of backwards",
    "64 个样本、两层网络，对比逐个样本 backward 的循环",
)
def _(device):
    found = snippet("autograd/per_sample_gradients")["per_sample_gradients"]
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    x = torch.randn(64, 64, device=device)
    y = torch.randint(10, (64,), device=device)
    own = list(model.parameters())

    def loop():
        for one, label in zip(x, y, strict=True):
            torch.autograd.grad(F.cross_entropy(model(one[None]), label[None]), own)

    return loop, lambda: found(model, x, y), {}


@gain(
    "mmap-meta-assign",
    {speed: "cpu"},
    "loading a file of 200 MB into a new model",
    "把 200 MB 的权重文件读进新模型",
)
def _(device):
    def build():
        return nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(48)])

    folder = tempfile.TemporaryDirectory()  # it goes with the functions
    torch.save(build().state_dict(), f"{folder.name}/model.pth")

    def saved(**options):
        return torch.load(f"{folder.name}/model.pth", weights_only=True, **options)

    def usual():
        build().load_state_dict(saved())

    def mapped():
        with torch.device("meta"):
            model = build()
        model.load_state_dict(saved(mmap=True), assign=True)

    return usual, mapped, {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
