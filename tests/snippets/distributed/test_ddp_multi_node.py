"""ddp-multi-node: two torchruns of two processes against a NumPy loop."""

import os
import re
import socketserver
import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.elastic.rendezvous import RendezvousParameters
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import create_backend

from tests.helpers import ROOT, documented_errors, load_snippet, raises_as_documented

SNIPPET = "distributed/ddp_multi_node.py"
PAGE = "distributed/ddp-multi-node"
snippet = load_snippet(SNIPPET)

VARIABLES = "RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK"
TORCHRUN = str(Path(sys.executable).parent / "torchrun")
DRIVER = """
import runpy, sys, numpy as np, torch
from torch import nn
run = runpy.run_path(sys.argv[1])
device = run["join"]()
dist = run["dist"]
rank, layout = dist.get_rank(), run["layout"]()
data = torch.tensor(np.load("data.npy"))[rank :: dist.get_world_size()].to(device)
torch.manual_seed(rank)  # DDP has to start from the weights of rank 0
model = nn.Linear(8, 1, bias=False, dtype=torch.float64, device=device)
run["train"](run["DDP"](model), data[:, :8], data[:, 8:])
result = {"weight": model.weight.detach().cpu(), "layout": layout}
torch.save(result, f"{rank}.pt")
dist.barrier()
dist.destroy_process_group()
"""


def free_port() -> int:
    """A port that nobody listens on now."""
    return dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False).port


def run_machines(folder: Path, *commands: list) -> list[tuple[int, str]]:
    """Run a torchrun per command, at once; return exit codes and stderr."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    machines = []
    for number, command in enumerate(commands, start=1):
        argv = [TORCHRUN, f"--local-addr=127.0.0.{number}", *command]
        with (folder / f"{number}.err").open("w") as stderr:
            machines.append(
                subprocess.Popen(argv, cwd=folder, env=environment, stderr=stderr)
            )
    try:
        codes = [machine.wait(timeout=100) for machine in machines]
    finally:
        for machine in machines:
            machine.kill()
            machine.wait()
    errors = [(folder / f"{i + 1}.err").read_text() for i in range(len(machines))]
    return list(zip(codes, errors, strict=True))


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """Results of four processes on two machines, and the whole data."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "driver.py").write_text(DRIVER)
    data = np.random.default_rng(0).normal(size=(20, 9))
    np.save(folder / "data.npy", data)
    command = [
        "--nnodes=2",
        "--nproc-per-node=2",
        "--rdzv-id=test",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
        "driver.py",
        str(ROOT / "snippets" / SNIPPET),
    ]
    for code, errors in run_machines(folder, command, command):
        assert code == 0, errors
    return [torch.load(folder / f"{rank}.pt") for rank in range(4)], data


def test_every_machine_ends_with_the_weights_of_whole_batches(ranks):
    results, data = ranks
    torch.manual_seed(0)
    w = nn.Linear(8, 1, bias=False, dtype=torch.float64).weight.detach().numpy()[0]
    for _ in range(5):
        error = data[:, :8] @ w - data[:, 8]
        w = w - 0.1 * 2 * error @ data[:, :8] / len(data)
    for result in results:
        np.testing.assert_allclose(result["weight"].numpy()[0], w, rtol=1e-12)


def test_every_process_knows_the_layout(ranks):
    for result in ranks[0]:
        assert result["layout"] == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_the_formula_that_old_scripts_compute(ranks):
    for rank, (number, local_rank) in enumerate(ranks[0][0]["layout"]):
        assert rank == number * 2 + local_rank


@pytest.fixture
def plain(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("plain")
def test_plain_python_is_alone():
    device = snippet.join()
    try:
        assert (dist.get_rank(), dist.get_world_size()) == (0, 1)
        cuda = torch.cuda.is_available()
        assert device == torch.device("cuda:0" if cuda else "cpu")
        assert dist.get_backend() == ("nccl" if cuda else "gloo")
        assert snippet.layout() == [[0, 0]]
    finally:
        dist.destroy_process_group()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("launched", [True, False])
@pytest.mark.parametrize("cuda", [True, False])
def test_device_and_backend(monkeypatch, launched, cuda):
    if launched:
        monkeypatch.setenv("RANK", "5")
        monkeypatch.setenv("LOCAL_RANK", "1")
    calls, devices = [], []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "set_device", devices.append)
    monkeypatch.setattr(
        dist, "init_process_group", lambda *a, **options: calls.append((a, options))
    )
    device = snippet.join()
    (backend,), options = calls[0]
    assert device == torch.device(f"cuda:{int(launched)}" if cuda else "cpu")
    assert devices == ([device] if cuda else [])
    assert backend == ("nccl" if cuda else "gloo")
    assert options.pop("device_id") == (device if cuda else None)
    if not launched:
        assert isinstance(options.pop("store"), dist.HashStore)
        assert (options.pop("rank"), options.pop("world_size")) == (0, 1)
    assert options == {}


@pytest.mark.usefixtures("plain")
def test_the_endpoint_can_not_be_reached():
    parameters = RendezvousParameters(
        "c10d", f"127.0.0.1:{free_port()}", "test", 2, 2, is_host=0, read_timeout=1
    )
    with raises_as_documented(PAGE):
        create_backend(parameters)


@pytest.mark.usefixtures("plain")
def test_a_port_that_another_program_holds():
    """One that answers in its own way; one that is silent is waited for."""

    class OtherProgram(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), OtherProgram) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"127.0.0.1:{server.server_address[1]}"
        parameters = RendezvousParameters("c10d", endpoint, "x", 2, 2, read_timeout=3)
        with raises_as_documented(PAGE) as caught:
            create_backend(parameters)
        server.shutdown()
    assert caught.type.__name__ == "RendezvousConnectionError"


def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    with raises_as_documented(PAGE):
        dist.TCPStore("127.0.0.1", taken.port, is_master=True)


def test_one_machine_waits_and_its_number_is_ignored(tmp_path):
    command = [
        "--nnodes=2",
        "--node-rank=1",
        "--rdzv-id=test",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
        "--rdzv-conf=join_timeout=1",
        "script.py",
    ]
    ((code, errors),) = run_machines(tmp_path, command)
    assert code == 1
    assert errors.splitlines()[-1] in documented_errors(PAGE)
    page = (ROOT / f"docs/en/{PAGE}.md").read_text()
    quoted = re.search(r"\{#node-rank\}\n\n```text\n(.*)\n```", page)[1]
    assert f"] {quoted}\n" in errors


def test_no_thread_of_the_group_is_left_to_be_torn_down(tmp_path):
    """Else the process aborts now and then when it is done."""
    count = "\nimport os\nprint(len(os.listdir('/proc/self/task')))\n"
    source = (ROOT / "snippets" / SNIPPET).read_text()
    left = []
    for name, text in (
        ("kept", source.replace("import torch.distributed.nn", "#")),
        ("let_go", source),
    ):
        (tmp_path / f"{name}.py").write_text(text + count)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, f"{name}.py"]
        printed = subprocess.check_output(command, cwd=tmp_path, env=environment)
        left.append(int(printed.split()[-1]))
    kept, let_go = left
    assert let_go < kept
