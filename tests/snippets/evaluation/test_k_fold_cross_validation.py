"""k-fold-cross-validation: what each fold sees, and the accuracy of scikit-learn."""

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchvision.datasets import ImageFolder

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "evaluation/k-fold-cross-validation"
snippet = load_snippet("evaluation/k_fold_cross_validation.py")
X, Y = load_breast_cancer(return_X_y=True)


def test_an_image_folder_is_augmented_in_training_alone(tmp_path):
    for i in range(20):  # 15 of a, 5 of b
        folder = tmp_path / ("b" if i % 4 == 0 else "a")
        folder.mkdir(exist_ok=True)
        Image.new("L", (2, 2), i).save(folder / f"{i}.png")
    augmented = ImageFolder(tmp_path, transform=lambda image: "augmented")
    plain = ImageFolder(tmp_path, transform=lambda image: "plain")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train_index, val_index in folds.split(plain.targets, plain.targets):
        train = list(Subset(augmented, train_index))
        val = list(Subset(plain, val_index))
        assert {image for image, _ in train} == {"augmented"}
        assert sorted(val) == [("plain", 0)] * 3 + [("plain", 1)]
        assert not set(train_index) & set(val_index)


@pytest.fixture
def runs(monkeypatch, capsys):
    """What main() passes on, without training."""
    runs, scores = [], iter([0.9, 0.8, 0.7, 0.6, 0.5])

    def train(model, loader, optimizer, epochs):
        runs.append([model, loader, optimizer, epochs])

    def evaluate(model, loader):
        assert model is runs[-1][0]
        runs[-1].append(loader)
        return next(scores)

    monkeypatch.setattr(snippet, "train", train)
    monkeypatch.setattr(snippet, "evaluate", evaluate)
    snippet.main()
    assert capsys.readouterr().out == "5 folds: 70% ± 16%\n"  # √0.025, by hand
    return runs


def test_every_sample_is_validated_once(runs):
    assert len(runs) == 5
    seen = []
    for _, train, _, _, val in runs:
        assert set(train.dataset.indices).isdisjoint(val.dataset.indices)
        assert len(train.dataset) + len(val.dataset) == len(X)
        seen.extend(val.dataset.indices)
        share = Y[val.dataset.indices].mean()  # stratified
        assert share == pytest.approx(Y.mean(), abs=0.01)
    assert sorted(seen) == list(range(len(X)))
    assert seen != list(range(len(X)))


def test_the_statistics_are_those_of_the_training_part(runs):
    for _, train, _, _, val in runs:
        index = train.dataset.indices
        mean, std = X[index].mean(0), X[index].std(0, ddof=1)
        for part in (train.dataset, val.dataset):
            expected = (X[part.indices] - mean) / std
            x, y = (torch.stack(items) for items in zip(*part, strict=True))
            np.testing.assert_allclose(x, expected, atol=1e-3)
            assert y.tolist() == Y[part.indices].tolist()


def test_columns_that_are_constant_or_tiny():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3)) * [1, 1e-9, 0] + [0, 0, 0.1]
    loaders = []

    def train(model, loader, optimizer, epochs):
        loaders.append(loader)

    names = {
        "x": torch.tensor(table).float(),
        "y": torch.arange(40) % 2,
        "train": train,
        "evaluate": lambda model, loader: 0.5,
    }
    exec(recipes()["k-fold-cross-validation"].answer.text, names)
    for loader in loaders:
        x = np.stack([x for x, _ in loader.dataset]).astype(float)
        np.testing.assert_allclose(x.std(0, ddof=1), [1, 1, 0], atol=1e-3)
        np.testing.assert_allclose(x.mean(0), 0, atol=1e-3)


def test_nothing_is_carried_on(runs):
    assert len({id(model) for model, *_ in runs}) == 5
    first = {model[0].weight[0, 0].item() for model, *_ in runs}
    assert len(first) == 5
    for model, train, optimizer, epochs, val in runs:
        assert optimizer.param_groups[0]["params"] == list(model.parameters())
        assert not optimizer.state
        assert epochs == 5
        assert isinstance(train.sampler, torch.utils.data.RandomSampler)
        assert train.batch_size == 32
        assert isinstance(val.sampler, torch.utils.data.SequentialSampler)


def test_training_and_accuracy():
    torch.manual_seed(0)
    x = torch.randn(90, 3)
    y = (x.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(x, y), 40)
    model = nn.Sequential(nn.Dropout(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    steps = []
    optimizer.register_step_pre_hook(
        lambda *_: steps.append(model[1].bias.grad.clone())
    )
    snippet.train(model.eval(), loader, optimizer, 2)
    assert model.training
    assert len(steps) == 6
    got = snippet.evaluate(model, loader)
    assert not model.training
    assert got == pytest.approx(accuracy_score(y, model(x).argmax(1)))
    grads = []  # of one batch each, not added up
    snippet.train(nn.Sequential(model[1]), loader, optimizer, 1)
    for xb, yb in loader:
        loss = F.cross_entropy(model[1](xb), yb)
        grads.append(torch.autograd.grad(loss, model[1].bias)[0])
    torch.testing.assert_close(steps[6:], grads)
    before = model[1].weight.clone()
    optimizer.param_groups[0]["lr"] = 0.5
    snippet.train(nn.Sequential(model[1]), loader, optimizer, 20)
    assert not torch.equal(before, model[1].weight)
    assert snippet.evaluate(model, loader) > 0.95


def test_groups_stay_together():
    y, patient = np.arange(60) % 2, np.arange(60) // 3
    for train, val in StratifiedGroupKFold(5).split(y, y, groups=patient):
        assert set(patient[train]).isdisjoint(patient[val])


def test_what_is_no_class():
    folds = StratifiedKFold(5)
    with raises_as_documented(PAGE, "ValueError: Supported target"):
        next(folds.split(torch.ones(20, 2), torch.rand(20)))
    one_hot = F.one_hot(torch.arange(21) % 3)
    with pytest.raises(ValueError, match="Got 'multilabel-indicator'"):
        next(folds.split(one_hot, one_hot))
    next(folds.split(one_hot, one_hot.argmax(1)))
