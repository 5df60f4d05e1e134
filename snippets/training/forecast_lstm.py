"""Forecast the values after the end of a series with an LSTM."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    """From steps (B, past, F) to the next values of column 0, (B, future)."""

    def __init__(self, F, future, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(F, hidden, batch_first=True)
        self.head = nn.Linear(hidden, future)

    def forward(self, x):
        output, _ = self.lstm(x - x[:, -1:])  # seen from the last step
        return x[:, -1:, 0] + self.head(output[:, -1])


def train(model, x, y, epochs=20):
    """Learn from windows x (N, past, F) and what follows, y (N, future)."""
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for x_b, y_b in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x_b), y_b).backward()
            optimizer.step()


torch.manual_seed(0)
t = torch.arange(240.0)  # months: a trend, a season and noise
values = 100 + 0.5 * t + 10 * torch.sin(2 * torch.pi * t / 12)
series = (values + torch.randn(240))[:, None]  # (T, F)

past, future, cut = 24, 12, int(0.8 * len(series))
mean, std = series[:cut].mean(0), series[:cut].std(0)  # training part only
z = (series - mean) / std
steps = z.unfold(0, past + future, 1)  # every window, (N, F, past + future)
x, y = steps[..., :past].mT, steps[:, 0, past:]
n = cut - past - future + 1  # how many end before the cut
model = Forecaster(series.size(1), future)
train(model, x[:n], y[:n])  # yours: a training loop
with torch.no_grad():
    forecast = model.eval()(z[-past:][None])[0] * std[0] + mean[0]  # (future,)

x, y = x[cut - past :], y[cut - past :]  # the targets after the cut
guesses = {"LSTM": model(x), "the last value": x[:, -1:, 0]}
guesses["the last season again"] = x[:, -12:, 0]
for name, guess in guesses.items():
    print(f"{name}: off by {(guess - y).abs().mean() * std[0]:.0f}")
