"""Move an optimizer: its state goes where the parameters are."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 2)  # on the CPU, and trained there
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model(torch.ones(4, 3)).sum().backward()
optimizer.step()

model.to(device)  # the parameters stay the same objects
optimizer.load_state_dict(optimizer.state_dict())  # the state follows them

for target in (torch.bfloat16, torch.float32):  # the same for another dtype
    model.to(target)
    optimizer.load_state_dict(optimizer.state_dict())
    state = optimizer.state[model.weight]
    print("weight", model.weight.dtype, "momentum", state["exp_avg"].dtype)
assert state["exp_avg"].device == model.weight.device
