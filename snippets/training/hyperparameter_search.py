"""Search learning rate and width with Optuna; random search beside it."""

import random

import optuna
import torch
from torch import nn


def data(n, seed):
    """Yours: the training set and the validation set."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 1, generator=generator) * 6 - 3
    return x, x.sin() + 0.1 * torch.randn(n, 1, generator=generator)


def train(lr, width, trial=None, epochs=30):
    """Return the loss on the validation set after the last epoch."""
    torch.manual_seed(0)  # every trial starts from the same seed
    model = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    (x, y), (x_val, y_val) = data(64, seed=1), data(64, seed=2)
    for epoch in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            loss = nn.functional.mse_loss(model(x_val), y_val).item()
        if trial is not None:
            trial.report(loss, epoch)
            if trial.should_prune():  # worse than the median of the others
                raise optuna.TrialPruned
    return loss


def objective(trial):
    """Draw the values of one trial, and return what to minimise."""
    lr = trial.suggest_float("lr", 1e-5, 1e1, log=True)
    width = trial.suggest_int("width", 4, 64, log=True)
    return train(lr, width, trial)  # yours: the loss on validation data


def main():
    """Search with Optuna, then at random."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # no line per trial
    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=25)
    states = [trial.state.name for trial in study.trials]
    lr, width = study.best_params["lr"], study.best_params["width"]
    print(f"Optuna: lr {lr:.3f}, width {width}, loss {study.best_value:.3f}")
    print(f"{states.count('PRUNED')} of {len(states)} trials ended early")
    rng = random.Random(0)  # random search: both on a log scale
    draw = [(10 ** rng.uniform(-5, 1), 2 ** rng.randint(2, 6)) for _ in states]
    loss, lr, width = min((train(*trial), *trial) for trial in draw)
    print(f"random: lr {lr:.3f}, width {width}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
