"""forecast-lstm: against forecasts without a model, the law itself, scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/forecast-lstm"
ANSWER = recipes()["forecast-lstm"].answer
snippet = load_snippet("training/forecast_lstm.py")
PAST, FUTURE, CUT = 24, 12, 192


def law(t):
    return 100 + 0.5 * t + 10 * torch.sin(2 * torch.pi * t / 12)


def a_series(seed):
    torch.manual_seed(seed)
    return (law(torch.arange(240.0)) + torch.randn(240))[:, None]


def answer(series, train=snippet.train, **changes):
    """What the answer binds when it is pasted, with other numbers perhaps."""
    code, names = ANSWER.text, {"series": series, "train": train}
    for old, new in changes.values():
        assert old in code
        code = code.replace(old, new)
    exec(code, names)
    return names


def errors(names):
    """The mean error of the model, the last value, the last season after the cut."""
    x, y = names["x"][CUT - PAST :], names["y"][CUT - PAST :]
    with torch.no_grad():
        guesses = names["model"](x), x[:, -1:, 0], x[:, -12:, 0]
    return [((guess - y).abs().mean() * names["std"][0]).item() for guess in guesses]


def miss(names):
    """How far the forecast is from the law, after the end of the data."""
    return (names["forecast"] - law(torch.arange(240.0, 252))).abs().mean()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_beats_forecasts_without_a_model(seed):
    names = answer(a_series(seed))
    model, last, season = errors(names)
    assert 8 < last < 10
    assert 5 < season < 7  # half a unit a month, for a year
    assert model < 2  # the noise alone is 0.8
    assert names["forecast"].shape == (12,)
    assert miss(names) < 2


def test_without_the_last_step_it_cannot_follow_a_trend():
    levels = {
        "inside": ("self.lstm(x - x[:, -1:])", "self.lstm(x)"),
        "outside": ("x[:, -1:, 0] + self.head", "self.head"),
    }
    names = answer(a_series(1), **levels)
    assert errors(names)[0] > 5
    assert miss(names) > 15


def test_a_forecast_is_that_of_a_loop_over_steps():
    model = snippet.Forecaster(2, 3, hidden=4).double()
    x = torch.randn(5, 7, 2, dtype=torch.float64)
    cell = nn.LSTMCell(2, 4).double()
    cell.load_state_dict(
        {k.removesuffix("_l0"): v for k, v in model.lstm.state_dict().items()}
    )
    state = None
    for step in range(7):
        state = cell(x[:, step] - x[:, 6], state)
    expected = x[:, 6, :1] + model.head(state[0])
    torch.testing.assert_close(model(x), expected)


def test_what_training_and_the_forecast_see():
    """Training knows nothing of the last part; the forecast looks at the end."""
    seen = []
    t = torch.arange(240.0)
    series = torch.stack([t, -t], 1)
    names = answer(series, train=lambda model, x, y: seen.append((x, y)))
    (x, y), mean, std = seen[0], series[:CUT].mean(0), series[:CUT].std(0)
    assert x.shape == (CUT - PAST - FUTURE + 1, PAST, 2)
    for i in range(len(x)):
        torch.testing.assert_close(x[i] * std + mean, series[i : i + PAST])
        follows = series[i + PAST : i + PAST + FUTURE, 0]
        torch.testing.assert_close(y[i] * std[0] + mean[0], follows)
    assert (y[-1] * std[0] + mean[0])[-1].round() == CUT - 1
    changed = series.clone()
    changed[CUT:] *= 3
    answer(changed, train=lambda model, x, y: seen.append((x, y)))
    assert all(torch.equal(a, b) for a, b in zip(seen[0], seen[1], strict=True))
    model = names["model"]
    assert not model.training
    with torch.no_grad():
        expected = model(((series[-PAST:] - mean) / std)[None])[0] * std[0] + mean[0]
    torch.testing.assert_close(names["forecast"], expected)


def test_the_windows_of_the_demonstration_follow_the_cut():
    assert len(snippet.x) == 240 - CUT - FUTURE + 1
    first = snippet.y[0, 0] * snippet.std[0] + snippet.mean[0]
    torch.testing.assert_close(first, snippet.series[CUT, 0])


@pytest.mark.parametrize("kind", [MinMaxScaler, StandardScaler])
def test_undo_the_scaling_of_one_column(kind):
    table = np.random.default_rng(0).normal(size=(50, 2)) * [10, 3] + 5
    scaler = kind().fit(table[:40])
    y = scaler.transform(table)[:, 0]
    if kind is MinMaxScaler:
        y = (y - scaler.min_[0]) / scaler.scale_[0]
    else:
        y = y * scaler.scale_[0] + scaler.mean_[0]
    np.testing.assert_allclose(y, table[:, 0])
    with raises_as_documented(PAGE, "ValueError: non-broadcastable"):
        scaler.inverse_transform(np.zeros((12, 1)))
    with raises_as_documented(PAGE, "ValueError: Found array with dim 3"):
        scaler.inverse_transform(np.zeros((4, 12, 2)))


def test_input_that_does_not_fit():
    model = snippet.Forecaster(1, 12)
    with raises_as_documented(PAGE, "RuntimeError: input.size(-1)"):
        model.lstm(torch.zeros(4, 24))
    assert model(torch.zeros(4, 24)[..., None]).shape == (4, 12)
    with raises_as_documented(PAGE, "ValueError: LSTM: Expected input"):
        model.lstm(torch.zeros(24))
    state = (torch.zeros(1, 32, 32), torch.zeros(1, 32, 32))
    with raises_as_documented(PAGE, "RuntimeError: Expected hidden[0] size"):
        model.lstm(torch.zeros(8, 24, 1), state)
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        model(torch.zeros(4, 24, 1)).numpy()


def test_feeding_forecasts_back():
    model, z = snippet.Forecaster(1, 1), torch.randn(30, 1)
    start = z
    with torch.no_grad():
        for _ in range(12):
            z = torch.cat([z, model(z[-24:][None])])
    assert z.shape == (42, 1)
    assert torch.equal(z[:30], start)
    with torch.no_grad():
        assert torch.equal(z[30], model(start[-24:][None])[0])


def test_several_targets():
    K, z = 2, torch.randn(60, 3)
    steps = z.unfold(0, PAST + FUTURE, 1)
    y = steps[:, :K, PAST:].mT
    assert torch.equal(y[5], z[5 + PAST : 5 + PAST + FUTURE, :K])
    x, head = steps[..., :PAST].mT, nn.Linear(32, FUTURE * K)
    out = head(torch.zeros(len(x), 32)).view(-1, FUTURE, K) + x[:, -1:, :K]
    assert out.shape == y.shape


@pytest.mark.parametrize("bad", [torch.nan, 0.5])
def test_gaps_and_constant_columns_give_nan(bad):
    series = torch.cat([a_series(1), torch.full((240, 1), bad)], 1)
    names = answer(series, train=lambda model, x, y: None)
    assert names["forecast"].isnan().all()


def test_from_a_table_and_its_dates():
    index = pd.date_range("2024-01-01", periods=5, freq="MS")
    frame = pd.DataFrame({"sales": [1, 2, 3, 4, 5], "price": 0.5}, index=index)
    series = torch.tensor(frame[["sales", "price"]].to_numpy(), dtype=torch.float32)
    assert series.shape == (5, 2)
    dates = pd.date_range(frame.index[-1], periods=FUTURE + 1, freq="MS")[1:]
    assert [str(d.date()) for d in dates[[0, -1]]] == ["2024-06-01", "2025-05-01"]
