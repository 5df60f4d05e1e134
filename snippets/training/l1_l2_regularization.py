"""Pull useless weights to 0: L1 as a term of the loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(200, 20)
y = x[:, :1] - x[:, 1:2] + torch.randn_like(x[:, :1])  # 2 of 20 inputs count
loader = DataLoader(TensorDataset(x, y), 50)
loss_fn = nn.MSELoss()

for strength in (0.0, 0.1):  # yours: 1e-5 to 1e-3 for a deep network
    model = nn.Linear(20, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for _ in range(50):
        weights = [p for p in model.parameters() if p.ndim > 1]  # no biases
        for x, y in loader:
            l1 = sum(p.abs().sum() for p in weights)
            loss = loss_fn(model(x), y) + strength * l1
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    used, useless = (w.abs().mean() for w in model.weight[0].split([2, 18]))
    print(f"L1 {strength}: used inputs {used:.2f}, useless {useless:.2f}")
