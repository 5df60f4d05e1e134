"""Load weights onto any device, whichever device they were saved from."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
trained = nn.Linear(4, 2, device=device)
torch.save(trained.state_dict(), "weights.pt")  # the file notes the device

model = nn.Linear(4, 2)
weights = torch.load("weights.pt", map_location="cpu", weights_only=True)
model.load_state_dict(weights)  # copies the values, moves nothing
model.to(device)

assert torch.equal(model.weight, trained.weight)
print("read on the", weights["weight"].device)
