"""Train two heads on one trunk: add the weighted losses, one backward."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    """A shared trunk with a classifier and a regressor."""

    def __init__(self, in_features, classes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(in_features, 32), nn.ReLU())
        self.classify = nn.Linear(32, classes)
        self.regress = nn.Linear(32, 1)

    def forward(self, x):  # (N, in_features)
        features = self.trunk(x)  # computed once, for both heads
        return self.classify(features), self.regress(features).squeeze(1)


def train_epoch(model, loader, optimizer):
    """Return the loss of each task, averaged over the batches."""
    model.train()
    total = 0
    for x, label, value in loader:
        logits, pred = model(x)  # (N, C), (N,)
        error = pred.reshape_as(value) - value  # (N, 1) - (N,) is (N, N)
        error = error[~value.isnan()]  # NaN: no value known
        loss_label = F.cross_entropy(logits, label)
        loss_value = error.square().sum() / max(error.numel(), 1)
        loss = loss_label + 0.01 * loss_value  # brings both to one scale
        optimizer.zero_grad()
        loss.backward()  # once, for the sum
        optimizer.step()
        total += torch.stack((loss_label, loss_value)).detach()
    return (total / len(loader)).tolist()


def main():
    """Learn a class and a value between about -30 and 30."""
    torch.manual_seed(0)
    x = torch.randn(400, 8)
    label = (x[:, 0] > 0).long()
    value = 10 * x[:, 1]
    value[::4] = torch.nan  # a quarter has no value
    loader = DataLoader(TensorDataset(x, label, value), 40, shuffle=True)
    model = TwoHeads(in_features=8, classes=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(20):
        loss_label, loss_value = train_epoch(model, loader, optimizer)
        if epoch in (0, 19):
            print(f"label {loss_label:.1f}, value {loss_value:.0f}")


if __name__ == "__main__":
    main()
