"""err-address-in-use: a port that is taken, one that is free, two real processes."""

import contextlib
import errno
import shlex
import socket
import subprocess
import sys

import pytest
import torch.distributed as dist

from tests.helpers import load_snippet, raises_as_documented, recipes, run_python

PAGE = "errors/err-address-in-use"
ANSWER = recipes()["err-address-in-use"].answer
TRAIN = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
ones = torch.ones(1)
dist.all_reduce(ones)
line = f"{ones.item():.0f} processes, rank {dist.get_rank()}\\n"
print(line, end="")  # in one write: torchrun's processes do not buffer
dist.destroy_process_group()
"""
snippet = load_snippet("errors/err_address_in_use.py")


def test_the_answer_starts_a_job_while_another_has_the_port(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    torchrun, *options = shlex.split(ANSWER.text)
    assert torchrun == "torchrun"
    command = [sys.executable, "-m", "torch.distributed.run", *options]
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):  # or a program outside has it
            held.enter_context(socket.create_server(("", 29500)))
        printed = subprocess.check_output(command, cwd=tmp_path, text=True)
    ranks = [f"2 processes, rank {rank}" for rank in (0, 1)]
    assert sorted(printed.splitlines()) == ranks


@pytest.mark.usefixtures("own_process")
@pytest.mark.parametrize("way", ["tcp", "environment"])
def test_a_port_that_is_taken(way, monkeypatch):
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        given = {"init_method": f"tcp://127.0.0.1:{port}"} if way == "tcp" else {}
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        monkeypatch.setenv("MASTER_PORT", str(port))
        start = "DistNetworkError: The server socket has failed"
        with raises_as_documented(PAGE, start) as caught:
            dist.init_process_group("gloo", rank=0, world_size=1, **given)
    assert "EADDRINUSE" in str(caught.value)


@pytest.mark.usefixtures("own_process")
def test_a_second_group_in_one_process(monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", str(snippet.free_port()))
    dist.init_process_group("gloo", rank=0, world_size=1)
    start = "ValueError: trying to initialize the default process group twice!"
    with raises_as_documented(PAGE, start):
        dist.init_process_group("gloo", rank=0, world_size=1)
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=0, world_size=1)  # the mend
    dist.destroy_process_group()


def test_the_port_is_free_and_differs():
    ports = [snippet.free_port() for _ in range(5)]
    for port in ports:
        with socket.create_server(("127.0.0.1", port)):
            pass
    with socket.create_server(("127.0.0.1", ports[0])):
        assert snippet.free_port() != ports[0]


def test_two_processes_meet_whatever_the_environment_says(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:  # taken
        port = str(server.getsockname()[1])
        done = run_python(snippet.__file__, folder=tmp_path, MASTER_PORT=port)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 processes have met\n"


def test_a_server_of_python():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        raises_as_documented(PAGE, "OSError: [Errno 98]") as caught,
    ):
        socket.create_server(server.getsockname())
    assert caught.value.errno == errno.EADDRINUSE
