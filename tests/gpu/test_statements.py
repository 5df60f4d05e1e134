"""What pages say of a GPU, proved on one: make test-gpu runs it, all else skips it."""

import json
import re
import time
from copy import deepcopy

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.autograd.graph import save_on_cpu
from torch.profiler import profile

from tests.helpers import load_snippet, run_python

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a GPU: run make test-gpu"
)
MIB = 2**20
LONG = 2_000_000_000  # cycles, about a second


def kernels(call) -> int:
    """How many kernels a call starts."""
    call()
    torch.cuda.synchronize()
    with profile(acc_events=True) as prof:  # else it warns
        call()
        torch.cuda.synchronize()
    on_gpu = torch.autograd.DeviceType.CUDA
    return sum(e.count for e in prof.key_averages() if e.device_type == on_gpu)


def peak(call) -> int:
    """The most memory that a call takes beside what is held before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated()
    call()
    return torch.cuda.max_memory_allocated() - held


def seconds_behind_a_long_kernel(call) -> float:
    """How long a call takes while the GPU is busy for a second: does it wait?"""
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)
    started = time.perf_counter()
    call()
    took = time.perf_counter() - started
    torch.cuda.synchronize()
    return took


WAITS = {  # docs/en/performance/avoid-gpu-sync.md, its table
    "item": lambda x: x.sum().item(),
    "float": lambda x: float(x.sum()),
    "print": lambda x: str(x.sum()),
    "if": lambda x: bool(x.sum() > 5),
    "assert": lambda x: bool(x.isfinite().all()),
    "mask": lambda x: x[x > 0],
    "nonzero": lambda x: x.nonzero(),
    "cpu": lambda x: x.cpu(),
    "tolist": lambda x: x.tolist(),
    "zeros.to": lambda x: torch.zeros(5).to("cuda"),
}
FREE = {
    "masked_fill": lambda x: x.masked_fill(x <= 0, 0),
    "where": lambda x: torch.where(x > 0, x, 0),
    "zeros": lambda x: torch.zeros(5, device="cuda"),
    "detach": lambda x: x.detach() + x.detach(),
}


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("name", [*WAITS, *FREE])
def test_what_waits_for_the_gpu(name):
    x = torch.randn(1000, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        if name in WAITS:
            with pytest.raises(RuntimeError, match="called a synchronizing CUDA"):
                WAITS[name](x)
        else:
            FREE[name](x)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_copy_runs_beside_the_rest_only_from_pinned_memory():
    batch = torch.randn(16 * MIB)
    pinned = batch.pin_memory()
    copy = {"non_blocking": True}
    assert seconds_behind_a_long_kernel(lambda: batch.to("cuda", **copy)) > 0.2
    assert seconds_behind_a_long_kernel(lambda: pinned.to("cuda", **copy)) < 0.1


def test_a_copy_to_the_cpu_that_does_not_wait_has_wrong_numbers():
    x = torch.randn(16 * MIB, device="cuda")
    (x * 3).to("cpu", non_blocking=True)  # the first one waits for pinned memory
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)
    early = (x * 2).to("cpu", non_blocking=True).clone()
    torch.cuda.synchronize()
    assert not torch.equal(early, (x * 2).cpu())


def test_timer_waits_for_the_gpu_and_a_clock_does_not():
    from torch.utils.benchmark import Timer

    torch.cuda._sleep(1)  # the first call of all sets up much
    torch.cuda.synchronize()
    started = time.perf_counter()
    torch.cuda._sleep(LONG // 100)
    alone = time.perf_counter() - started
    timer = Timer("torch.cuda._sleep(20_000_000)", "import torch")
    assert timer.timeit(10).median > 5 * alone


def test_half_weights_and_a_scaler():
    model = nn.Linear(4, 4).cuda().half()
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(model(torch.ones(2, 4, device="cuda").half()).sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)


def test_a_convolution_keeps_channels_last():
    form = {"memory_format": torch.channels_last}
    x = torch.randn(2, 8, 16, 16, device="cuda")
    conv = nn.Conv2d(8, 8, 3).cuda()
    assert conv(x.to(**form)).is_contiguous(**form)
    assert conv.to(**form)(x).is_contiguous(**form)
    rest = nn.Sequential(nn.ReLU(), nn.BatchNorm2d(8), nn.MaxPool2d(2)).cuda()
    assert rest(x.to(**form)).is_contiguous(**form)


def milliseconds(call) -> float:
    """How long a call keeps the GPU, to the end of all its streams; the best of 3."""
    best = float("inf")
    for _ in range(3):
        torch.cuda.synchronize()
        started = time.perf_counter()
        call()
        torch.cuda.synchronize()
        best = min(best, 1000 * (time.perf_counter() - started))
    return best


def test_prefetch_copies_while_the_gpu_computes():
    """docs/en/performance/cuda-streams.md: copies and computations of equal length."""
    prefetch = load_snippet("performance/cuda_streams.py").prefetch
    loader = [(torch.ones(64 * MIB).pin_memory(),)] * 8
    copies = milliseconds(lambda: [t.to("cuda", non_blocking=True) for (t,) in loader])
    second = milliseconds(lambda: torch.cuda._sleep(LONG // 100)) * 100
    cycles = int(LONG * copies / len(loader) / second)

    def plain():
        for (x,) in loader:
            x.to("cuda", non_blocking=True)
            torch.cuda._sleep(cycles)

    def ahead():
        for _ in prefetch(loader):
            torch.cuda._sleep(cycles)

    usual, found = milliseconds(plain), milliseconds(ahead)
    assert found < 0.8 * usual, f"{found:.1f} ms, without prefetch {usual:.1f} ms"


@pytest.mark.parametrize("waits", [False, True])
def test_another_stream_has_to_be_waited_for(waits):
    x, side = torch.randn(MIB).pin_memory(), torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        copied = x.to("cuda", non_blocking=True)
    if waits:
        torch.cuda.current_stream().wait_stream(side)
    read = copied.clone()
    torch.cuda.synchronize()
    assert torch.equal(read.cpu(), x) == waits


@pytest.mark.parametrize("recorded", [False, True])
def test_memory_is_given_away_unless_its_use_is_recorded(recorded):
    side, size = torch.cuda.Stream(), 48 * MIB  # of no other test
    with torch.cuda.stream(side):
        x = torch.ones(size, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda._sleep(LONG)
    x.sum()  # reads a second later
    place = x.data_ptr()
    if recorded:
        x.record_stream(torch.cuda.current_stream())
    del x
    with torch.cuda.stream(side):
        other = torch.ones(size, device="cuda")
    torch.cuda.synchronize()
    assert (other.data_ptr() == place) == (not recorded)


def test_two_large_computations_gain_nothing_in_two_streams():
    a, side = torch.randn(8192, 8192, device="cuda"), torch.cuda.Stream()

    def one_after_the_other():
        return a @ a, a @ a

    def two_streams():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            other = a @ a
        return a @ a, other

    one_after_the_other(), two_streams()  # libraries start
    assert milliseconds(two_streams) > 0.85 * milliseconds(one_after_the_other)


NOT_CAPTURED = {  # docs/en/performance/cuda-graphs.md, its table and messages
    "x.sum().item()": "operation not permitted when stream is capturing",
    "print(x)": "operation not permitted when stream is capturing",
    "bool(x.sum() > 0)": "operation not permitted when stream is capturing",
    "x.cpu()": "Cannot copy between CPU and CUDA tensors during CUDA graph capture",
    "torch.ones(16).to('cuda')": "Cannot copy between CPU and CUDA tensors during",
}


@pytest.mark.parametrize("line", NOT_CAPTURED)
def test_what_a_graph_cannot_capture(line, tmp_path):
    script = tmp_path / "capture.py"
    script.write_text(
        "import torch\n"
        "x = torch.ones(16, device='cuda')\n"
        "torch.cuda.synchronize()\n"
        "with torch.cuda.graph(torch.cuda.CUDAGraph()):\n"
        f"    {line}\n"
    )
    result = run_python(script.name, folder=tmp_path)
    assert NOT_CAPTURED[line] in result.stderr


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node")
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")
@pytest.mark.parametrize("cloned", [False, True])
def test_graphed_callables_accumulate_only_cloned_gradients(cloned):
    """docs/en/performance/cuda-graphs.md, its pitfall."""
    usual = nn.Linear(4, 2).cuda()
    batches = torch.randn(2, 8, 4, device="cuda")
    graphed = torch.cuda.make_graphed_callables(deepcopy(usual), (batches[0].clone(),))
    for p in graphed.parameters() if cloned else ():
        p.register_hook(torch.clone)
    grads = []
    for batch in batches:
        for model in (usual, graphed):
            model(batch).square().mean().backward()
        grads.append(torch.allclose(graphed.weight.grad, usual.weight.grad))
    assert grads == [True, cloned]


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores")
@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_an_output_of_reduce_overhead_is_overwritten(own_process):
    compiled = torch.compile(nn.Linear(16, 16).cuda(), mode="reduce-overhead")
    with torch.no_grad():
        kept = [compiled(torch.randn(8, 16, device="cuda")) for _ in range(4)]
        with pytest.raises(RuntimeError, match="CUDAGraphs that has been overwritten"):
            kept[1].sum().item()


def test_a_fused_optimizer_starts_few_kernels_and_takes_no_memory():
    def of(**options):
        model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(100)]).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), **options)
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        optimizer.step()
        size = sum(4 * p.numel() for p in model.parameters())
        return kernels(optimizer.step), peak(optimizer.step) / size

    fused, foreach, loop = of(fused=True), of(foreach=True), of(foreach=False)
    assert fused[0] < foreach[0] < loop[0] / 10
    assert fused[1] < 0.1 < 0.8 < foreach[1] < 1.2
    assert of() == pytest.approx(foreach, rel=0.3)  # the default


def test_a_snapshot_names_the_line_that_allocated(tmp_path):
    script = tmp_path / "allocates.py"  # apart: the snapshot leaves processes
    script.write_text(
        "import pickle, torch\n"
        "torch.cuda.memory._record_memory_history(max_entries=1000)\n"
        "kept = torch.ones(2**20, device='cuda')\n"
        "torch.cuda.memory._dump_snapshot('memory.pickle')\n"
        "traces = pickle.load(open('memory.pickle', 'rb'))['device_traces']\n"
        "frames = [f for t in traces for e in t for f in e['frames']]\n"
        "print({f['line'] for f in frames if f['filename'] == __file__})\n"
    )
    result = run_python(str(script), folder=tmp_path, PYTHONWARNINGS="default")
    assert result.stdout == "{3}\n", result.stderr


def test_more_is_used_than_reserved():
    torch.ones(1, device="cuda")
    free, total = torch.cuda.mem_get_info()
    assert total - free > torch.cuda.memory_reserved()


def test_the_trace_has_the_kernels(tmp_path):
    x = torch.randn(512, 512, device="cuda")
    with profile(acc_events=True) as prof:  # else it warns
        (x @ x).sum().item()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(event.get("cat") == "kernel" for event in events)
    assert "mm" in prof.key_averages().table(sort_by="self_device_time_total")


def test_activations_wait_in_main_memory():
    layers = [m for _ in range(8) for m in (nn.Linear(256, 256), nn.GELU())]
    model, x = nn.Sequential(*layers).cuda(), torch.randn(4096, 256, device="cuda")

    def offloaded():
        with save_on_cpu(pin_memory=True):
            loss = model(x).square().mean()
        loss.backward()

    model(x).square().mean().backward()  # the gradients are there
    usual = peak(lambda: model(x).square().mean().backward())
    assert peak(offloaded) < usual / 2


def test_tf32_is_less_exact_and_medium_is_the_same():
    if torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("TF32 came with Ampere")
    a, b = torch.randn(2, 4096, 4096, device="cuda")
    exact, products = a.double() @ b.double(), {}
    for precision in ("high", "medium", "highest"):  # the default, last
        torch.set_float32_matmul_precision(precision)
        products[precision] = a @ b
    error = {p: (y - exact).abs().max() for p, y in products.items()}
    assert error["high"] > 20 * error["highest"]
    assert torch.equal(products["medium"], products["high"])


def test_a_loop_starts_a_kernel_for_each_number():
    x = torch.randn(100, device="cuda")
    assert kernels(lambda: torch.stack([0.1 * one for one in x])) >= 100
    assert kernels(lambda: 0.1 * x) == 1


def test_a_new_thread_uses_the_same_stream():
    from threading import Thread

    found = []

    def note():
        found.append(torch.cuda.current_stream().cuda_stream)

    thread = Thread(target=note)
    thread.start()
    thread.join()
    assert found == [torch.cuda.current_stream().cuda_stream]


def test_a_program_moves_to_the_gpu():
    from torch.export.passes import move_to_device_pass

    sizes = ({0: torch.export.Dim("batch")},)
    model, x = nn.Linear(8, 3).eval(), torch.randn(2, 8)
    program = torch.export.export(model, (x,), dynamic_shapes=sizes)
    moved = move_to_device_pass(program, "cuda").module()
    y = moved(torch.ones(5, 8, device="cuda"))
    torch.testing.assert_close(y.cpu(), model(torch.ones(5, 8)))


@pytest.fixture
def nccl(own_process):
    """A process group of one process that has the GPU."""
    device = torch.device("cuda", 0)
    store = dist.HashStore()
    dist.init_process_group("nccl", store=store, rank=0, world_size=1, device_id=device)
    yield device
    dist.destroy_process_group()


def test_nccl_takes_no_tensor_of_the_cpu(nccl):
    message = "No backend type associated with device type cpu"
    with pytest.raises(RuntimeError, match=message):
        dist.all_reduce(torch.ones(1))


def test_gathered_objects_are_on_the_gpu(nccl):
    parts = [None]
    dist.all_gather_object(parts, torch.ones(3, device=nccl))
    assert parts[0].device == nccl


def test_sync_batchnorm_of_one_process_is_batchnorm(nccl):
    x, own = torch.randn(4, 4, 8, 8, device=nccl), nn.BatchNorm2d(4)
    sync = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2d(4)).cuda()
    torch.testing.assert_close(sync(x), own.cuda()(x))


def test_fsdp2_moves_casts_and_offloads(nccl):
    from torch.distributed.fsdp import (
        CPUOffloadPolicy,
        MixedPrecisionPolicy,
        fully_shard,
    )

    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    policy = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    assert {p.device for p in model.parameters()} == {nccl}
    y = model(torch.ones(2, 8, device=nccl))
    assert y.dtype == torch.bfloat16
    y.float().sum().backward()
    assert {p.grad.dtype for p in model.parameters()} == {torch.float32}
    off = nn.Linear(8, 8)
    fully_shard(off, offload_policy=CPUOffloadPolicy())
    off(torch.ones(2, 8, device=nccl)).sum().backward()
    assert off.weight.device.type == "cpu"


def test_two_processes_on_one_gpu(tmp_path):
    """What NCCL says of it; without the trailing text, which differs by release."""
    script = tmp_path / "two.py"
    script.write_text(
        "import torch, torch.distributed as dist\n"
        "torch.cuda.set_device(0)\n"
        "dist.init_process_group('nccl')\n"
        "dist.all_reduce(torch.ones(1, device='cuda'))\n"
        "torch.cuda.synchronize()\n"
    )
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    start += [script.name]
    result = run_python(*start, folder=tmp_path, PYTHONWARNINGS="default")
    assert result.returncode
    assert re.search("Duplicate GPU detected|Multiple Ranks", result.stderr)
