"""save_on_signal: real signals to real jobs, and going on afterwards."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest
import torch
from torch.utils.data import DataLoader

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "training/checkpoint-rotation"
on_signal = load_snippet("training/save_on_signal.py")


@pytest.fixture(autouse=True)
def handlers():
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGUSR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def batches(stop=None):
    for step in range(1, 20):
        if step == stop:
            kill = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM))
            kill.start()
            kill.join()
        yield torch.full((4, 1), step / 100)


def by_hand(steps):
    """Weights after the first `steps` batches of a job and the next job's."""
    torch.manual_seed(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in steps:
        x = torch.full((4, 1), x / 100)
        optimizer.zero_grad()
        (model(x) - 3 * x).square().mean().backward()
        optimizer.step()
    return model.state_dict()


def test_it_stops_saves_and_goes_on_to_the_same_weights(tmp_path, capsys):
    torch.manual_seed(1)
    on_signal.train(batches(stop=7), 13, every=5, folder=tmp_path)
    assert names(tmp_path) == [f"step{step:08}.pt" for step in (5, 7)]
    saved = torch.load(tmp_path / "step00000007.pt")
    torch.testing.assert_close(saved["model_state_dict"], by_hand(range(1, 8)))
    assert saved["optimizer_state_dict"]["state"][0]["step"] == 7

    on_signal.train(batches(), 13, every=5, folder=tmp_path)
    assert names(tmp_path)[2:] == [f"step{step:08}.pt" for step in (10, 13)]
    saved = torch.load(tmp_path / "step00000013.pt")
    expected = by_hand([*range(1, 8), *range(1, 7)])  # the loader begins again
    torch.testing.assert_close(saved["model_state_dict"], expected)
    on_signal.train(batches(), 13, every=5, folder=tmp_path)
    done = [f"{n} of 13 steps are done" for n in (0, 7, 13)]
    assert capsys.readouterr().out.splitlines() == done


def test_a_loader_of_a_few_batches_is_read_again_for_each_epoch(tmp_path):
    loader = DataLoader(torch.linspace(-1, 1, 12).view(12, 1), 4)  # 3 batches
    on_signal.train(loader, 8, folder=tmp_path)
    assert names(tmp_path) == ["step00000008.pt"]


# A job in a session of its own for each case, with workers that load its data. In step
# 7 the signal comes to the whole group, or to each process that the job has.
JOBS = """
import json, multiprocessing, os, pathlib, runpy, signal, sys, time, torch
from torch.utils.data import DataLoader

snippet = runpy.run_path(sys.argv[1])

def batches(number, all_of_them, init):
    data = torch.linspace(-1, 1, 80).view(80, 1)
    loader = DataLoader(data, 4, num_workers=2, worker_init_fn=init)
    for step, x in enumerate(loader, 1):
        if step == 7:
            send(number, all_of_them)
            time.sleep(3)  # a worker that dies of it is dead now
        yield x

def send(number, all_of_them):
    # From another process: workers know what their parent sends.
    job = [os.getpid(), *(p.pid for p in multiprocessing.active_children())]
    sender = os.fork()
    if sender == 0:
        if all_of_them:
            for pid in job:
                os.kill(pid, number)
        else:
            os.killpg(0, number)
        os._exit(0)
    os.waitpid(sender, 0)

codes = {}
for name, (number, all_of_them, helps) in json.loads(sys.argv[2]).items():
    process = os.fork()
    if process == 0:
        os.setsid()
        pathlib.Path(name).mkdir()
        os.chdir(name)
        init = snippet["leave_group"] if helps else None
        try:
            snippet["train"](batches(number, all_of_them, init), 13)
        except RuntimeError as error:
            pathlib.Path("error").write_text(str(error))
            os._exit(1)
        os._exit(0)
    codes[name] = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
print(json.dumps(codes))
"""
CASES = {
    "SIGTERM to the group": (signal.SIGTERM, False, True),
    "SIGUSR1 to each process": (signal.SIGUSR1, True, True),
    "SIGTERM, plain workers": (signal.SIGTERM, False, False),
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    script = str(ROOT / "snippets/training/save_on_signal.py")
    output = subprocess.check_output(
        [sys.executable, "-c", JOBS, script, json.dumps(CASES)],
        cwd=folder,
        text=True,
        timeout=300,
    )
    return folder, json.loads(output.splitlines()[-1])


@pytest.mark.parametrize("case", list(CASES)[:2])
def test_a_signal_to_the_whole_job_is_answered_by_a_checkpoint(jobs, case):
    folder, codes = jobs
    assert codes[case] == 0
    assert names(folder / case / "checkpoints") == ["step00000007.pt"]


def test_without_a_group_of_their_own_the_workers_end_the_job(jobs):
    folder, codes = jobs
    case = folder / "SIGTERM, plain workers"
    assert codes[case.name] == 1
    assert names(case / "checkpoints") == []
    assert (case / "error").read_text().rstrip().endswith("signal: Terminated.")


def test_not_in_another_thread(tmp_path):
    def enter():
        with raises_as_documented(PAGE, "ValueError: signal only works"):
            on_signal.train(batches(), 1, folder=tmp_path)
        done.append(True)

    done = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert done


def test_a_shell_that_waits_keeps_the_signal():
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    child = f'{sys.executable} -S -c "{code}"'
    for command, gets_it in ((f"{child}; true", False), (f"exec {child}", True)):
        with subprocess.Popen(
            ["bash", "-c", command], stdout=subprocess.PIPE, text=True
        ) as shell:
            python = int(shell.stdout.readline())
            shell.terminate()
            assert shell.wait() == -signal.SIGTERM
            assert (python == shell.pid) is gets_it
            if not gets_it:
                os.kill(python, signal.SIGKILL)  # it is still there
