"""profiler-trace: the answer counts the reader's steps, and its table names them."""

import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from torch.autograd.profiler_util import FunctionEventAvg

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["profiler-trace"].answer


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_answer_records_three_steps_and_not_the_warm_up(capsys):
    assert list(ANSWER.yours) == ["train_step"]
    calls = []

    def train_step():
        calls.append(torch.fft.fft(torch.ones(8)))

    names = {"train_step": train_step}
    exec(ANSWER.text, names)
    assert len(calls) == 4
    count = {row.key: row.count for row in names["prof"].key_averages()}
    assert count["aten::fft_fft"] == 3
    assert "aten::fft_fft" in capsys.readouterr().out


@pytest.mark.parametrize("gpu", [False, True])
def test_on_a_gpu_the_rows_are_sorted_by_its_time(monkeypatch, gpu):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    asked = Mock()
    monkeypatch.setattr(torch.profiler, "profile", lambda: nullcontext(asked))
    exec(ANSWER.text, {"train_step": int})
    (call,) = asked.key_averages().table.call_args_list
    key = call.kwargs["sort_by"]
    assert key == ("self_device_time_total" if gpu else "self_cpu_time_total")
    assert hasattr(FunctionEventAvg(), key)


def test_the_demonstration(capsys):
    snippet = load_snippet("performance/profiler_trace.py")
    rows = snippet.prof.key_averages()
    count = {row.key: row.count for row in rows}
    assert count["aten::linear"] == count["AddmmBackward0"] == 3 * 2
    assert count["Optimizer.step#SGD.step"] == 3
    trace = json.loads(Path("trace.json").read_text("utf-8"))
    names = Counter(event.get("name") for event in trace["traceEvents"])
    assert names["aten::linear"] == 3 * 2
    printed = capsys.readouterr().out.splitlines()
    first = max(rows, key=lambda row: row.self_cpu_time_total)
    assert printed[3].split()[0] == first.key[:55]
    assert len(printed[3:]) == 10 + 3  # a line, a sum, an empty line
