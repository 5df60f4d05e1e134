"""normalize-columns: against the scalers of scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "data/normalize-columns"
ANSWER = recipes()["normalize-columns"].answer


def answered(x_train):
    names = {"x_train": x_train}
    exec(ANSWER.text, names)
    return names["model"]


Standardize = load_snippet("data/normalize_columns.py").Standardize


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(50, 3) * torch.tensor([0.1, 1, 1e3]) + 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_answer_is_scikit_learns(x, dtype):
    x = x.to(dtype)
    layer = answered(x[:40])[0]
    scaler = StandardScaler().fit(x[:40].double().numpy())
    expected = scaler.transform(x.double().numpy())
    assert layer(x).dtype == dtype
    np.testing.assert_allclose(layer(x), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(layer.inverse(layer(x)), x, rtol=1e-4, atol=1e-3)
    assert not [*layer.parameters()]


@pytest.mark.parametrize("number", [5.0, 0.1, 1234.567])
def test_a_constant_column(number):
    column = torch.full((1000, 1), number)
    layer = Standardize(column)
    assert layer(column).abs().max() < 1e-3 * number
    assert layer.std.item() == 1


def test_a_constant_column_by_hand_is_nan_or_one():
    column = torch.full((1000, 1), 5.0)
    assert ((column - column.mean(0)) / column.std(0)).isnan().all()
    column = torch.full((1000, 1), 0.1)
    scaled = (column - column.mean(0)) / column.std(0)
    assert 0 < column.std(0).item() < 1e-7
    assert scaled.abs().min() > 0.9


def test_saved_with_the_weights(x):
    model, again = answered(x), answered(torch.zeros(1, 3))
    assert again[0].std.tolist() == [1, 1, 1]
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(x), model(x))
    exported = torch.export.export(model, (x,)).module()
    torch.testing.assert_close(exported(x), model(x))


def test_the_other_ways(x):
    train, a = x[:40], x.double().numpy()
    low, high = train.amin(0), train.amax(0)
    expected = MinMaxScaler().fit(a[:40]).transform(a)
    np.testing.assert_allclose((x - low) / (high - low), expected, atol=1e-5)
    q1, q2, q3 = train.quantile(torch.tensor([0.25, 0.5, 0.75]), dim=0)
    expected = RobustScaler().fit(a[:40]).transform(a)
    np.testing.assert_allclose((x - q2) / (q3 - q1), expected, rtol=1e-4, atol=1e-4)
    amounts = torch.tensor([[0.0], [9.0], [999_999.0]])
    found = amounts.log1p() / np.log(10)
    torch.testing.assert_close(found, torch.tensor([[0.0], [1.0], [6.0]]))


def test_columns_of_mostly_zeros():
    x = torch.zeros(10, 2)
    x[:2, 0] = torch.tensor([3.0, 5.0])
    q1, q2, q3 = x.quantile(torch.tensor([0.25, 0.5, 0.75]), dim=0)
    assert ((x - q2) / (q3 - q1))[:2, 0].isinf().all()
    for low, scale, scaler in (
        (q2, q3 - q1, RobustScaler()),
        (x.amin(0), x.amax(0) - x.amin(0), MinMaxScaler()),
    ):
        found = (x - low) / scale.masked_fill(scale == 0, 1)
        expected = scaler.fit_transform(x.double().numpy())
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_sequences():
    x = torch.randn(8, 5, 3) * torch.tensor([0.1, 1, 1e3]) + 2
    found = Standardize(x.flatten(0, 1))(x)
    a = x.double().numpy()
    expected = (a - a.mean((0, 1))) / a.std((0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_one_row_by_its_own_statistics(x):
    row = x[:1]
    assert (row - row.mean(0)).eq(0).all()
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert row.std(0).isnan().all()


def test_seconds_need_float64():
    times = torch.tensor([1.7e9, 1.7e9 + 60], dtype=torch.float64)
    assert times.float().diff().item() == 0
    step = np.spacing(np.float32(1.7e9))
    assert step == 128
    assert (times - times.mean()).float().tolist() == [-30, 30]


def test_the_target(x):
    y = x @ torch.tensor([[1.0], [2.0], [3.0]])
    target = Standardize(y)
    assert target(y).std(correction=0).item() == pytest.approx(1, rel=1e-3)
    torch.testing.assert_close(target.inverse(target(y)), y, rtol=1e-4, atol=1e-2)


def test_the_variants(x):
    scaler, layer = StandardScaler().fit(x.numpy()), Standardize(torch.zeros(1, 3))
    layer.mean.copy_(torch.from_numpy(scaler.mean_))
    layer.std.copy_(torch.from_numpy(scaler.scale_))
    torch.testing.assert_close(layer(x), torch.from_numpy(scaler.transform(x.numpy())))
    some = torch.cat([Standardize(x[:, :2])(x[:, :2]), x[:, 2:]], 1)
    torch.testing.assert_close(some[:, :2], Standardize(x)(x)[:, :2])
    hole = x.clone()
    hole[0, 1] = float("nan")
    assert Standardize(hole)(x).isnan().all(0).tolist() == [False, True, False]
    norm, columns = nn.BatchNorm1d(3, affine=False, momentum=0.5), x / x.std(0)
    for _ in range(30):
        norm(columns)
    expected = Standardize(columns)(columns)
    torch.testing.assert_close(norm.eval()(columns), expected, rtol=0.02, atol=1e-3)


def test_the_messages(x):
    scaler = StandardScaler().fit(x.double().numpy())
    start = "RuntimeError: mat1 and mat2 must have the same dtype"
    with raises_as_documented(PAGE, start):
        nn.Linear(3, 1)(torch.tensor(scaler.transform(x.double().numpy())))
    with raises_as_documented(PAGE, start):
        nn.Sequential(Standardize(x.double()), nn.Linear(3, 1))(x)
    with raises_as_documented(PAGE, "ValueError: Expected 2D array"):
        scaler.transform(x[0].numpy())
    assert scaler.transform(x[0][None].numpy()).shape == (1, 3)
    with raises_as_documented(PAGE, "ValueError: X has 4 features"):
        scaler.transform(torch.rand(2, 4).numpy())
    with raises_as_documented(PAGE, "AttributeError: 'numpy.ndarray'"):
        Standardize(x.numpy())
    with raises_as_documented(PAGE, "NotImplementedError: std and var"):
        Standardize(x.long())
    model = answered(x)
    linear = nn.Linear(3, 1)
    old = nn.Sequential(linear).state_dict()
    start = "RuntimeError: Error(s) in loading state_dict"
    with raises_as_documented(PAGE, start) as caught:
        model.load_state_dict(old)
    assert 'Missing key(s) in state_dict: "0.mean", "0.std"' in str(caught.value)
    nn.Sequential(*model[1:]).load_state_dict(old)
    torch.testing.assert_close(model[0].mean, x.mean(0))
    assert torch.equal(model[1].weight, linear.weight)
