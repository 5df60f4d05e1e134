"""Compile a model in place and train it: the same steps, in merged kernels."""

import copy

import torch
from torch import nn


class Net(nn.Module):
    """Stands for a model of your own."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.out(nn.functional.gelu(self.hidden(x)))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
eager = copy.deepcopy(model)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch = torch.randn(32, 64), torch.randint(10, (32,))
loader = [batch] * 3  # yours: a DataLoader with drop_last=True

model.compile()  # returns at once; the first step compiles, for seconds
for x, y in loader:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()

eager.load_state_dict(model.state_dict())  # the keys are as before
torch.testing.assert_close(model(x), eager(x), rtol=1e-3, atol=1e-4)
