"""Cross-validate a classifier: a new model and optimizer for every fold."""

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def train(model, loader, optimizer, epochs):
    """Train the classifier."""
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


@torch.no_grad()
def evaluate(model, loader):
    """Return the accuracy."""
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    """Train and evaluate five times; print the mean and the deviation."""
    torch.manual_seed(0)
    x, y = map(torch.tensor, load_breast_cancer(return_X_y=True))
    x = x.float()  # (569, 30), in columns of very different sizes
    accuracies = []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train_index, val_index in folds.split(x, y):
        part = x[train_index]  # mean and std of the training part alone
        mean, std = part.mean(0), part.std(0)
        std[part.amin(0) == part.amax(0)] = 1  # where a column is constant
        dataset = TensorDataset((x - mean) / std, y)
        loader = DataLoader(Subset(dataset, train_index), 32, shuffle=True)
        val_loader = DataLoader(Subset(dataset, val_index), 256)
        model = nn.Sequential(  # yours, new in each fold; here 2 classes
            nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Linear(16, 2)
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        train(model, loader, optimizer, epochs=5)
        accuracies.append(evaluate(model, val_loader))
    spread = np.std(accuracies, ddof=1)
    print(f"{len(accuracies)} folds: {np.mean(accuracies):.0%} ± {spread:.0%}")


if __name__ == "__main__":
    main()
