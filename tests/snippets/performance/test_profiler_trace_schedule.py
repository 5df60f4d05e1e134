"""profiler-trace, with a schedule: which steps are recorded, what the trace holds."""

import gzip
import json
import warnings
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

from tests.helpers import load_snippet, raises_as_documented

PAGE = "performance/profiler-trace"

# torch 2.11 warns at the first cycle, too, and crashes if that is an error.
pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def steps(count, prof, call=lambda: torch.ones(2) + 1):
    for _ in range(count):
        call()
        prof.step()


def plan(**changes):
    return schedule(**{"wait": 1, "warmup": 1, "active": 3, "repeat": 1} | changes)


def test_three_steps_of_five_are_in_the_table_and_in_the_trace(capsys):
    snippet = load_snippet("performance/profiler_trace_schedule.py")
    assert snippet.prof.acc_events  # as in test_the_cycles_are_summed_up
    rows = snippet.prof.key_averages()
    count = {row.key: row.count for row in rows}
    assert count["forward"] == count["ProfilerStep*"] == 3
    assert count["aten::linear"] == 3 * 2
    assert count["Optimizer.step#SGD.step"] == 3
    assert count["AddmmBackward0"] == 3 * 2
    shapes = [tuple(p.shape) for p in snippet.model.parameters()]
    assert shapes == [(512, 256), (512,), (10, 512), (10,)]
    trace = json.loads(Path("trace.json").read_text("utf-8"))
    names = Counter(event.get("name") for event in trace["traceEvents"])
    assert names["aten::linear"] == 3 * 2
    assert {f"ProfilerStep#{n}" for n in (2, 3, 4)} <= set(names)
    assert "ProfilerStep#1" not in names

    printed = capsys.readouterr().out
    first = max(rows, key=lambda row: row.self_cpu_time_total)
    assert printed.splitlines()[3].split()[0] == first.key[:55]
    assert len(printed.splitlines()[3:]) == 10 + 3  # a line, a sum, an empty line
    assert all(p.grad is None for p in snippet.model.parameters())


def test_own_times_are_without_the_children():
    with profile() as prof, record_function("outside"):
        nn.Linear(64, 64)(torch.ones(64, 64))
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["outside"].cpu_time_total > rows["aten::addmm"].cpu_time_total
    assert rows["outside"].self_cpu_time_total < rows["outside"].cpu_time_total
    own = sum(row.self_cpu_time_total for row in rows.values())
    assert own == pytest.approx(rows["outside"].cpu_time_total, rel=0.01)


def test_without_a_step_there_is_nothing():
    with profile(schedule=plan()) as prof:
        torch.ones(2) + 1
    with raises_as_documented(
        PAGE, "AssertionError: Profiler must be initialized before get"
    ):
        prof.key_averages()
    with raises_as_documented(
        PAGE, "AssertionError: Profiler must be initialized before exp"
    ):
        prof.export_chrome_trace("trace.json")


def test_too_few_steps_leave_an_empty_table():
    ready = []
    with profile(schedule=plan(), on_trace_ready=ready.append) as prof:
        steps(1, prof)
    assert prof.key_averages().table() == ""
    assert not ready


def test_a_trace_is_saved_once():
    with profile() as prof:
        torch.ones(2) + 1
    prof.export_chrome_trace("trace.json.gz")
    with gzip.open("trace.json.gz") as file:
        assert json.load(file)["traceEvents"]
    with raises_as_documented(PAGE, "RuntimeError: Trace is already saved."):
        prof.export_chrome_trace("trace.json")


def test_a_wrong_column():
    with profile() as prof:
        torch.ones(2) + 1
    with raises_as_documented(PAGE, "AttributeError: 'FunctionEventAvg'"):
        prof.key_averages().table(sort_by="time")


@pytest.mark.skipif(torch.cuda.is_available(), reason="the warning needs no GPU")
def test_cuda_is_asked_for_in_vain():
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with raises_as_documented(PAGE, "UserWarning: CUDA is not available"):
        profile(activities=activities).start()


def test_all_that_is_there_is_the_default():
    assert profile().activities == supported_activities()
    assert ProfilerActivity.CPU in supported_activities()


def adds(prof):
    return {row.key: row.count for row in prof.key_averages()}["aten::add"]


def test_the_cycles_are_summed_up():
    counts = []

    def ready(prof):
        counts.append(adds(prof))
        prof.export_chrome_trace(f"{prof.step_num}.json")

    with profile(
        schedule=plan(repeat=2), on_trace_ready=ready, acc_events=True
    ) as prof:
        steps(12, prof)
    assert counts == [3, 6]
    assert adds(prof) == 6
    for name in ("5.json", "10.json"):
        trace = json.loads(Path(name).read_text("utf-8"))
        names = [event.get("name") for event in trace["traceEvents"]]
        assert names.count("aten::add") == 3


def test_only_the_last_cycle_is_left(monkeypatch):
    monkeypatch.setattr(torch.profiler.profiler, "_WARNINGS_SHOWN", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with profile(schedule=plan(repeat=2)) as prof:
            steps(12, prof)
    assert adds(prof) == 3
    with raises_as_documented(PAGE, "UserWarning: Warning: Profiler clears events"):
        raise caught[0].message


def test_shapes_memory_and_device_time():
    with profile(record_shapes=True, profile_memory=True) as prof:
        nn.Linear(7, 3)(torch.ones(5, 7))
    table = prof.key_averages(group_by_input_shape=True).table()
    assert "[5, 7]" in table
    table = prof.key_averages().table(sort_by="self_cpu_memory_usage")
    assert "CPU Mem" in table
    assert prof.key_averages().table(sort_by="self_device_time_total")


def test_a_file_per_cycle_for_tensorboard(tmp_path):
    with profile(on_trace_ready=tensorboard_trace_handler("log")):
        torch.ones(2) + 1
    (file,) = (tmp_path / "log").iterdir()
    assert file.name.endswith(".pt.trace.json")
