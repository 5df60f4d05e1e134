"""Search learning rate and width with Optuna; random search beside it."""

import optuna
import torch
from optuna.samplers import RandomSampler, TPESampler
from torch import nn
from torch.nn import functional as F

optuna.logging.set_verbosity(optuna.logging.WARNING)  # no line per trial


def data(n, seed):
    """Yours: the training set and the validation set."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 1, generator=generator) * 6 - 3
    return x, x.sin() + 0.1 * torch.randn(n, 1, generator=generator)


def build_model(width):
    """Return a new model, from the same seed in every trial."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))


def train_one_epoch(model, optimizer):
    """Go once through the training data."""
    x, y = data(64, seed=1)
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()


def evaluate(model):
    """Return the validation loss."""
    x, y = data(64, seed=2)
    return F.mse_loss(model(x), y).item()


def objective(trial):
    """Train with the values of one trial; return what to minimise."""
    lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    model = build_model(trial.suggest_int("width", 4, 64, log=True))  # yours
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(30):
        train_one_epoch(model, optimizer)  # yours
        val_loss = evaluate(model)  # yours: returns the validation loss
        trial.report(val_loss, epoch)
        if trial.should_prune():  # worse than the median of the others
            raise optuna.TrialPruned
    return val_loss


study = optuna.create_study(sampler=TPESampler(seed=0))  # minimises
study.optimize(objective, n_trials=25)
best = study.best_params  # a dict: lr and width

print(f"TPE: lr {best['lr']:.3f}, loss {study.best_value:.3f}")
other = optuna.create_study(sampler=RandomSampler(seed=0))
other.optimize(objective, n_trials=25)
print(f"random: lr {other.best_params['lr']:.3f}, loss {other.best_value:.3f}")
