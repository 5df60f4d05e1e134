"""timeseries-windows: against a loop and NumPy, what validation sees, bad input."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import ConcatDataset, random_split

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "data/timeseries-windows"
FILE = "data/timeseries_windows.py"
windows = load_snippet(FILE).windows
series = torch.arange(20.0).view(10, 2)  # column 0: 0, 2, ..., 18
main = runpy.run_path(str(Path(ROOT, "snippets", FILE)), run_name="__main__")


@pytest.mark.parametrize(("past", "future"), [(3, 1), (4, 2), (9, 1), (1, 3)])
def test_windows_are_those_of_a_loop(past, future):
    dataset = windows(series, past, future)
    assert len(dataset) == 10 - past - future + 1
    for i, (x, y) in enumerate(dataset):
        assert torch.equal(x, series[i : i + past])
        assert y.tolist() == [2.0 * (i + past + k) for k in range(future)]


def test_they_are_those_of_numpy_and_copy_nothing():
    x, y = windows(series, 3).tensors
    view = np.lib.stride_tricks.sliding_window_view(series.numpy(), 4, axis=0)
    np.testing.assert_array_equal(x, view[:, :, :3].transpose(0, 2, 1))
    np.testing.assert_array_equal(y, view[:, 0, 3:])
    assert x.untyped_storage().data_ptr() == series.untyped_storage().data_ptr()


def test_the_split_is_by_time():
    whole, cut, past = main["z"], main["cut"], main["past"]
    assert (len(whole), cut, past) == (1000, 800, 48)
    assert main["x"].shape == (32, 48, 2)
    assert main["y"].shape == (32, 1)
    train, val = main["train"], main["val"]
    assert torch.equal(torch.cat([y for _, y in train]), whole[48:800, 0])
    assert torch.equal(torch.cat([y for _, y in val]), whole[800:, 0])
    assert torch.equal(val[0][0], whole[752:800])
    # Scaled by the first part alone, in which the trend is lower.
    torch.testing.assert_close(whole[:cut].mean(0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(whole[:cut].std(0), torch.ones(2))
    assert whole[cut:, 0].mean() > 1
    t = torch.arange(1000.0)
    back = whole[:, 0] * main["std"][0] + main["mean"][0]
    torch.testing.assert_close(back, t / 100 + (t / 8).sin(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["float64", "int64", "float32", "bool"])
def test_the_answer_takes_a_series_of_numpy(kind):
    answer = recipes()["timeseries-windows"].answer
    assert list(answer.yours) == ["series"]
    array = np.arange(200).reshape(100, 2).astype(kind)
    names = {"series": array}
    exec(answer.text, names)
    mean, std = array[:80].mean(0), array[:80].std(0, ddof=1).clip(1e-6)
    expected = ((array - mean) / std).astype("float32")
    x, y = names["val"][0]
    assert x.dtype == y.dtype == torch.float32
    np.testing.assert_allclose(x, expected[32:80], atol=1e-5)
    np.testing.assert_allclose(y, expected[80, :1], atol=1e-5)


def test_columns_that_are_hard_to_scale():
    """A flag that is 1 only after the cut, a constant, a meter that counts far up."""
    t = np.arange(100)
    flag, constant, meter = t >= 80, np.full(100, 0.1), 1.7e9 + t
    names = {"series": np.stack([flag, constant, meter], 1)}
    exec(recipes()["timeseries-windows"].answer.text, names)
    assert torch.equal(names["z"][:, 0], torch.from_numpy(flag).float())
    assert names["z"][:, 1].abs().max() < 1e-6
    expected = (t - t[:80].mean()) / t[:80].std(ddof=1)
    np.testing.assert_allclose(names["z"][:, 2], expected, atol=1e-5)


def test_a_random_split_shares_steps():
    index = torch.arange(200.0)[:, None]
    generator = torch.Generator().manual_seed(0)
    train, val = random_split(windows(index, 20), [0.8, 0.2], generator)
    seen = {step for x, _ in train for step in x.flatten().tolist()}
    targets = {y.item() for _, y in val}
    assert len(targets & seen) > 0.9 * len(targets)
    train, val = windows(index[:160], 20), windows(index[140:], 20)
    seen = {step for x, y in train for step in [*x.flatten().tolist(), y.item()]}
    assert not seen & {y.item() for _, y in val}


def test_a_target_of_another_shape():
    forecast, y = torch.zeros(32, 1), torch.randn(32)
    with (
        warnings.catch_warnings(),
        raises_as_documented(PAGE, "UserWarning: Using a target size"),
    ):
        warnings.simplefilter("error")
        F.mse_loss(forecast, y)


def test_shapes_for_layers():
    x = torch.stack([x for x, _ in windows(torch.rand(60, 2), 48)])
    lstm = nn.LSTM(2, 8, batch_first=True)
    assert nn.Linear(8, 1)(lstm(x)[0][:, -1]).shape == (12, 1)
    assert nn.Conv1d(2, 8, 3)(x.mT).shape == (12, 8, 46)
    for wrong in (x.mT, x[..., 0]):
        with raises_as_documented(PAGE, "RuntimeError: input.size(-1)"):
            lstm(wrong)
    with raises_as_documented(PAGE, "ValueError: RNN input dtype"):
        lstm(x.double())


def test_series_that_do_not_fit():
    with raises_as_documented(PAGE, "RuntimeError: maximum size"):
        windows(torch.zeros(5, 2), 5)
    with raises_as_documented(PAGE, "IndexError: too many indices"):
        windows(torch.zeros(5), 3)
    assert windows(torch.zeros(5)[:, None], 3)[0][0].shape == (3, 1)


def test_the_simplest_forecast():
    x, y = windows(series, 3).tensors
    assert (x[:, -1, :1] - y).abs().mean() == 2
    assert torch.equal(y - x[:, -1, :1], torch.full((7, 1), 2.0))


def test_variants():
    frame = pd.DataFrame({"day": ["a", "b"], "sales": [1, 2], "price": [0.5, 1.5]})
    columns = ["sales", "price"]
    table = torch.tensor(frame[columns].to_numpy(), dtype=torch.float32)
    assert table.tolist() == [[1, 0.5], [2, 1.5]]
    gap = pd.DataFrame({"sales": [1, None, 3, None, 5]})
    filled = gap.ffill().to_numpy(copy=True)  # without a copy, torch may warn
    assert torch.as_tensor(filled).flatten().tolist() == [1, 1, 3, 3, 5]
    assert torch.as_tensor(gap.to_numpy(copy=True)).mean().isnan()
    many = ConcatDataset([windows(s, 3) for s in (series, series + 100)])
    assert len(many) == 14
    assert all(abs(x[0, 0] - y) <= 6 for x, y in many)
    assert series.unfold(0, 4, 3)[:, 0, 0].tolist() == [0, 6, 12]
