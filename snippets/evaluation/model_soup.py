"""Average the weights of several checkpoints into one model ("soup")."""

import torch
from torch import nn
from torch.optim.swa_utils import update_bn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
train_loader = torch.randn(10, 32, 4) + 3  # yours: batches x, or (x, y)
paths = [f"run{i}.pt" for i in range(3)]
for path in paths:  # yours: fine-tuned from the same weights
    nn.init.normal_(model[0].bias)
    torch.save(model.state_dict(), path)

states = [torch.load(p, map_location="cpu", weights_only=True) for p in paths]
soup = {
    key: torch.stack([state[key].float() for state in states]).mean(0)
    for key in states[0]
}
model.load_state_dict(soup)  # back to the dtype of each entry
update_bn(train_loader, model)  # only if it has BatchNorm
model.eval()
print(f"mean after BatchNorm: {abs(model(train_loader[0]).mean()):.0f}")
