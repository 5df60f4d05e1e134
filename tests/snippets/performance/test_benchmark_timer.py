"""benchmark-timer: what the Timer measures, and how, on a clock of our own."""

import time

import numpy as np
import pytest
import torch
from torch.utils import benchmark

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "performance/benchmark-timer"


@pytest.fixture(scope="module")
def snippet():
    return load_snippet("performance/benchmark_timer.py")


def test_it_times_what_it_says(snippet):
    assert snippet.x.shape == (256, 512)
    assert not snippet.model.training
    found = eval(snippet.timer._task_spec.stmt, snippet.names)
    (w1, b1), (w2, b2) = [
        [p.detach().double().numpy() for p in layer.parameters()]
        for layer in (snippet.model[0], snippet.model[2])
    ]
    hidden = np.maximum(snippet.x.double().numpy() @ w1.T + b1, 0)
    np.testing.assert_allclose(found.detach(), hidden @ w2.T + b2, rtol=1e-3, atol=1e-4)


def test_no_graph_is_recorded():
    seen = []
    names = {"model": lambda x: seen.append(torch.is_inference_mode_enabled()), "x": 1}
    exec(recipes()["benchmark-timer"].answer.text, names)
    assert set(seen) == {True}


def test_the_numbers_are_those_of_many_runs_of_all_threads(snippet):
    times = torch.tensor(snippet.result.times, dtype=torch.float64)
    assert snippet.result.median == pytest.approx(times.quantile(0.5).item())
    low, high = times.quantile(torch.tensor([0.25, 0.75]).double()).tolist()
    assert snippet.result.iqr == pytest.approx(high - low)
    total = sum(snippet.result.raw_times)
    assert total >= 0.5
    assert snippet.timer._task_spec.num_threads == torch.get_num_threads()
    assert snippet.result.median > 0


def test_the_number_of_threads_is_set_for_the_measurement_only():
    before = torch.get_num_threads()
    seen = []
    code = "seen.append(torch.get_num_threads())"
    names = {"seen": seen, "torch": torch}
    benchmark.Timer(code, globals=names).timeit(1)
    benchmark.Timer(code, globals=names, num_threads=before + 1).timeit(1)
    assert set(seen) == {1, before + 1}
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("times", "warns"), [([9.5, 10, 10.5], False), ([5, 10, 15], True)]
)
def test_it_warns_about_a_wide_spread(times, warns):
    spec = benchmark.TaskSpec("pass", "")
    assert (
        benchmark.Measurement(1, [float(t) for t in times], spec).has_warnings == warns
    )


def test_a_slow_call_is_measured_once():
    """It takes longer than min_run_time: no median of many, and no warning."""
    code, names = "sleep(wait)", {"sleep": time.sleep, "wait": 0.05}
    once = benchmark.Timer(code, globals=names).blocked_autorange(min_run_time=0.02)
    assert (len(once.times), once.iqr, once.has_warnings) == (1, 0, False)


def test_a_table_needs_names(capsys):
    def measured(**names):
        return benchmark.Timer("pass", **names).timeit(1)

    results = [measured(description=d, sub_label="row") for d in ("one", "two")]
    benchmark.Compare(results).print()
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("one", "two", "row"))
    with raises_as_documented(PAGE, "TypeError: object of type 'NoneType'"):
        benchmark.Compare([measured()]).print()


def test_names_must_be_passed():
    with raises_as_documented(PAGE, "NameError: name 'x'"):
        benchmark.Timer("x + 1").timeit(1)
    benchmark.Timer("np.sqrt(2)", globals=globals()).timeit(1)
