"""ddp-multi-node: two torchruns on two addresses of this computer."""

import os
import socket
import socketserver
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
import torch
import torch.distributed as dist
from torch.distributed.elastic.rendezvous import (
    RendezvousParameters,
    c10d_rendezvous_backend,
)
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import create_backend
from torch.torch_version import TorchVersion

from tests.helpers import (
    ROOT,
    assert_documented,
    assert_own_gpu,
    load_snippet,
    raises_as_documented,
)

PAGE = "distributed/ddp-multi-node"
SNIPPETS = ROOT / "snippets/distributed"
TORCHRUN = str(Path(sys.executable).parent / "torchrun")
# The snippet, and after it in the same group the script for one machine.
DRIVER = """
import runpy, sys
import torch.distributed as dist
main = runpy.run_path(sys.argv[2])["main"]  # its imports come before the group
join, leave = dist.init_process_group, dist.destroy_process_group
dist.destroy_process_group = lambda: None
runpy.run_path(sys.argv[1])
dist.init_process_group, dist.destroy_process_group = lambda *a, **given: None, leave
main()
"""


def free_port() -> int:
    """A port that nobody listens on now."""
    return dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False).port


def run_machines(folder: Path, *commands: list) -> list[tuple[int, str, str]]:
    """Run a torchrun per command, at once; return exit codes, stdout and stderr."""
    environment = {**os.environ, "PYTHONWARNINGS": "error", "CUDA_VISIBLE_DEVICES": ""}
    machines, files = [], []
    for number, command in enumerate(commands, start=1):
        own = folder / str(number)
        own.mkdir()
        environment["PET_LOCAL_ADDR"] = f"127.0.0.{number}"
        files.append((own / "out", own / "err"))
        with files[-1][0].open("w") as out, files[-1][1].open("w") as err:
            machines.append(
                subprocess.Popen(
                    [TORCHRUN, *command],
                    cwd=own,
                    env=environment,
                    stdout=out,
                    stderr=err,
                )
            )
    try:
        codes = [machine.wait(timeout=300) for machine in machines]
    finally:
        for machine in machines:
            machine.kill()
            machine.wait()
    texts = [(out.read_text(), err.read_text()) for out, err in files]
    return [(code, *text) for code, text in zip(codes, texts, strict=True)]


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """The folder, and what each of two machines with two processes printed."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "driver.py").write_text(DRIVER)
    command = [
        "--nnodes=2",
        "--nproc-per-node=2",
        "--rdzv-id=test",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=127.0.0.1:{free_port()}",
        "../driver.py",
        str(SNIPPETS / "ddp_multi_node.py"),
        str(SNIPPETS / "ddp_single_node.py"),
    ]
    results = run_machines(folder, command, command)
    for code, _, errors in results:
        assert code == 0, errors
    return folder, [out for _, out, _ in results]


def test_rank_0_sees_the_processes_of_both_machines(machines):
    lines = "".join(machines[1]).splitlines()
    assert [line for line in lines if line.startswith("rank")] == [
        "rank 0: machine 0, local rank 0",
        "rank 1: machine 0, local rank 1",
        "rank 2: machine 1, local rank 0",
        "rank 3: machine 1, local rank 1",
    ]


def test_the_script_for_one_machine_needs_no_change(machines):
    """One of the four processes prints and saves; the loss is that of all."""
    folder, printed = machines
    epochs = [line for out in printed for line in out.splitlines() if "loss" in line]
    assert [line.partition(":")[0] for line in epochs] == [
        f"epoch {epoch}" for epoch in range(5)
    ]
    assert len(list(folder.rglob("model.pt"))) == 1
    assert float(epochs[-1].rpartition(" ")[2]) < 0.3


def test_with_gpus_each_process_takes_that_of_its_machine(monkeypatch):
    assert_own_gpu(monkeypatch, lambda: load_snippet("distributed/ddp_multi_node.py"))


def test_the_endpoint_can_not_be_reached():
    parameters = RendezvousParameters(
        "c10d", f"127.0.0.1:{free_port()}", "test", 2, 2, is_host=0, read_timeout=1
    )
    with raises_as_documented(PAGE, "RendezvousConnectionError: The connection to"):
        create_backend(parameters)


def test_on_ubuntu_a_machine_knows_its_name_and_not_its_address(monkeypatch):
    """As /etc/hosts has it there."""

    def look_up(host, *_, **__):
        return [(2, 1, 6, "", ("127.0.1.1" if host == "node0" else host, 0))]

    monkeypatch.setattr(socket, "gethostname", lambda: "node0")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert c10d_rendezvous_backend._matches_machine_hostname("node0")
    assert not c10d_rendezvous_backend._matches_machine_hostname("192.168.0.5")


def test_is_host_opens_the_port_at_such_an_address(monkeypatch):
    unknown = "_matches_machine_hostname"
    monkeypatch.setattr(c10d_rendezvous_backend, unknown, lambda host: False)
    endpoint = f"127.0.0.1:{free_port()}"
    told = RendezvousParameters("c10d", endpoint, "test", 2, 2, is_host="1")
    create_backend(told)
    endpoint = f"127.0.0.1:{free_port()}"
    left = RendezvousParameters("c10d", endpoint, "test", 2, 2, read_timeout=1)
    with raises_as_documented(PAGE, "RendezvousConnectionError: The connection to"):
        create_backend(left)


def test_a_port_that_another_program_holds():
    """One that answers in its own way; one that is silent is waited for."""

    class OtherProgram(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), OtherProgram) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"127.0.0.1:{server.server_address[1]}"
        parameters = RendezvousParameters("c10d", endpoint, "x", 2, 2, read_timeout=3)
        with raises_as_documented(
            PAGE, "RendezvousConnectionError: The connection to"
        ) as caught:
            create_backend(parameters)
        server.shutdown()
    assert caught.type.__name__ == "RendezvousConnectionError"


@pytest.mark.usefixtures("own_process")
def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    with raises_as_documented(PAGE, "DistNetworkError: The server socket"):
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
    ((code, _, errors),) = run_machines(tmp_path, command)
    assert code == 1
    last = errors.splitlines()[-1]
    assert_documented(PAGE, "torch.distributed.elastic.rendezvous", last)
    if TorchVersion(torch.__version__) >= (2, 13):  # since then it says so
        said = errors[errors.index("node_rank") :]
        assert_documented(PAGE, "node_rank", said)


def test_imported_first_the_module_lets_the_group_go(tmp_path):
    """Else gloo's threads run until Python exits, and abort it now and then."""
    script = """
import os
import torch
import torch.distributed as dist

def main():
    from torch.nn.parallel import DistributedDataParallel as DDP
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    DDP(torch.nn.Linear(2, 1))(torch.ones(1, 2)).sum().backward()
    dist.destroy_process_group()

for imported in (False, True):
    process = os.fork()  # to import torch is slow
    if process == 0:
        if imported:
            import torch.distributed.nn
        main()
        print(len(os.listdir("/proc/self/task")), flush=True)
        os._exit(0)
    os.waitpid(process, 0)
"""
    (tmp_path / "script.py").write_text(script)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "script.py"]
    left = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    never, first = map(int, left.split())
    assert first < never


def test_a_machine_to_which_nobody_answers():
    wait = timedelta(seconds=2)
    with raises_as_documented(PAGE, "DistNetworkError: The client socket"):
        dist.TCPStore("127.0.0.1", free_port(), is_master=False, timeout=wait)
