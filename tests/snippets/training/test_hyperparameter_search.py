"""hyperparameter-search: the training by hand in float64, the scale of the draws."""

import inspect
import math

import numpy as np
import optuna
import pytest
import torch
from scipy import stats

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/hyperparameter-search"
before = optuna.logging.get_verbosity()
snippet = load_snippet("training/hyperparameter_search.py")
optuna.logging.set_verbosity(before)


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    yield
    optuna.logging.set_verbosity(before)


def by_hand(lr, width, epochs):
    """The validation losses of Adam with tanh units, gradients worked out."""
    torch.manual_seed(0)
    first, last = torch.nn.Linear(1, width), torch.nn.Linear(width, 1)
    p = [t.detach().double().numpy() for t in (*first.parameters(), *last.parameters())]
    m, v = [0 * a for a in p], [0 * a for a in p]
    (x, y), (x_val, y_val) = (
        [t.double().numpy() for t in snippet.data(64, seed)] for seed in (1, 2)
    )
    losses = []
    for step in range(1, epochs + 1):
        h = np.tanh(x @ p[0].T + p[1])
        d = 2 * (h @ p[2].T + p[3] - y) / len(x)
        dh = d @ p[2] * (1 - h**2)
        for i, g in enumerate((dh.T @ x, dh.sum(0), d.T @ h, d.sum(0))):
            m[i], v[i] = 0.9 * m[i] + 0.1 * g, 0.999 * v[i] + 0.001 * g**2
            scale = np.sqrt(v[i] / (1 - 0.999**step)) + 1e-8
            p[i] = p[i] - lr * m[i] / (1 - 0.9**step) / scale
        out = np.tanh(x_val @ p[0].T + p[1]) @ p[2].T + p[3]
        losses.append(((out - y_val) ** 2).mean())
    return losses


class Trial:
    """Takes reports; prunes at one epoch."""

    def __init__(self, lr, width, prune_at=None):
        self.values, self.seen, self.prune_at = (lr, width), {}, prune_at

    def suggest_float(self, *_, **__):
        return self.values[0]

    def suggest_int(self, *_, **__):
        return self.values[1]

    def report(self, value, step):
        self.seen[step] = value

    def should_prune(self):
        return max(self.seen) == self.prune_at


def test_the_objective_is_the_training_by_hand():
    losses, trial = by_hand(0.03, 8, 30), Trial(0.03, 8)
    assert snippet.objective(trial) == pytest.approx(losses[-1], rel=1e-3)
    assert list(trial.seen) == list(range(30))
    np.testing.assert_allclose(list(trial.seen.values()), losses, rtol=1e-3)
    assert snippet.objective(Trial(0.03, 8)) == trial.seen[29]  # equal seeds


def test_a_pruned_trial_ends_at_that_epoch():
    trial = Trial(0.03, 8, prune_at=3)
    with pytest.raises(optuna.TrialPruned):
        snippet.objective(trial)
    assert list(trial.seen) == [0, 1, 2, 3]


def test_the_data():
    for seed in (1, 2):
        x, y = snippet.data(5000, seed)
        assert abs(x).max() <= 3
        assert stats.kstest(x[:, 0] / 6 + 0.5, "uniform")[1] > 0.01
        assert (y - x.sin()).std().item() == pytest.approx(0.1, rel=0.05)
    assert not torch.equal(snippet.data(64, 1)[0], snippet.data(64, 2)[0])


def test_the_scales_of_the_objective(monkeypatch):
    monkeypatch.setattr(snippet, "train_one_epoch", lambda *_: None)
    monkeypatch.setattr(snippet, "evaluate", lambda _: 0.0)
    monkeypatch.setattr(snippet, "build_model", lambda _: torch.nn.Linear(1, 1))
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(snippet.objective, n_trials=300)
    lr = np.array([trial.params["lr"] for trial in study.trials])
    width = [trial.params["width"] for trial in study.trials]
    assert stats.kstest((np.log10(lr) + 5) / 4, "uniform")[1] > 0.01
    assert set(width) <= set(range(4, 65))
    assert min(width) == 4
    assert np.median(width) < 24


def test_without_log_nine_of_ten_are_above_a_hundredth():
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: t.suggest_float("lr", 1e-5, 1e-1), n_trials=300)
    assert np.mean([t.params["lr"] > 0.01 for t in study.trials]) > 0.85


def test_both_searches_find_a_good_rate():
    for study in (snippet.study, snippet.other):
        assert len(study.trials) == 25
        assert study.best_value < 0.05
        assert 1e-3 < study.best_params["lr"] < 0.1
        again = snippet.objective(optuna.trial.FixedTrial(study.best_params))
        assert again == pytest.approx(study.best_value)
    states = [trial.state.name for trial in snippet.study.trials]
    assert 0 < states.count("PRUNED") < 25


def test_the_defaults_that_the_page_names():
    study = optuna.create_study()
    assert type(study.sampler) is optuna.samplers.TPESampler
    assert type(study.pruner) is optuna.pruners.MedianPruner
    assert study.direction.name == "MINIMIZE"
    pruner = inspect.signature(optuna.pruners.MedianPruner).parameters
    assert pruner["n_warmup_steps"].default == 0
    sampler = inspect.signature(optuna.samplers.TPESampler).parameters
    assert sampler["n_startup_trials"].default == 10


def test_nan_fails_and_an_exception_ends_the_search():
    def broken(trial):
        raise RuntimeError("out of memory")

    study = optuna.create_study()
    study.optimize(lambda trial: math.nan, n_trials=2)
    assert [t.state.name for t in study.trials] == ["FAIL"] * 2
    with raises_as_documented(PAGE, "ValueError: No trials are completed yet."):
        study.best_params  # noqa: B018
    with pytest.raises(RuntimeError, match="out of memory"):
        study.optimize(broken, n_trials=2)
    study.optimize(broken, n_trials=2, catch=(RuntimeError,))
    assert len(study.trials) == 5


def test_a_stored_study_goes_on_and_a_grid_is_complete(tmp_path):
    for trials in (2, 4):
        study = optuna.create_study(
            study_name="a", storage=f"sqlite:///{tmp_path}/a.db", load_if_exists=True
        )
        study.optimize(lambda trial: trial.suggest_float("a", 0, 1), n_trials=2)
        assert len(study.trials) == trials
    grid = {"lr": [1e-3, 1e-2], "width": [16, 64]}
    study = optuna.create_study(sampler=optuna.samplers.GridSampler(grid))
    study.optimize(
        lambda t: t.suggest_float("lr", 1e-5, 1) * t.suggest_int("width", 1, 99)
    )
    assert len({tuple(t.params.values()) for t in study.trials}) == 4


def test_a_trial_without_memory_is_pruned():
    def objective(trial):
        if trial.number == 1:
            try:
                raise torch.OutOfMemoryError
            except torch.OutOfMemoryError:
                raise optuna.TrialPruned  # noqa: B904, as on the page
        return 1.0

    study = optuna.create_study()
    study.optimize(objective, n_trials=3, gc_after_trial=True)
    states = [trial.state.name for trial in study.trials]
    assert states == ["COMPLETE", "PRUNED", "COMPLETE"]
