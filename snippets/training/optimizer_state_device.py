"""Save and load an optimizer; its state goes where the parameters are."""

import torch

device = torch.accelerator.current_accelerator(check_available=True) or "cpu"
model = torch.nn.Linear(3, 2).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model(torch.ones(4, 3, device=device)).sum().backward()
optimizer.step()
states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
torch.save(states, "states.pt")

# A new process, perhaps with another device.
model = torch.nn.Linear(3, 2)
model.to(device)  # first the model, then the optimizer, then its state
optimizer = torch.optim.AdamW(model.parameters())
states = torch.load("states.pt", map_location="cpu", weights_only=True)
model.load_state_dict(states["model"])
optimizer.load_state_dict(states["optimizer"])

state = optimizer.state[model.weight]
assert state["exp_avg"].device == model.weight.device
assert state["step"] == 1
assert optimizer.param_groups[0]["lr"] == 1e-3  # of the file
