"""Go on from a checkpoint with a learning rate and a schedule of your own."""

import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)  # the old run
saved = optimizer.state_dict()
start_epoch, epochs = 4, 8

optimizer.load_state_dict(saved)
for group in optimizer.param_groups:
    group["lr"] = group["initial_lr"] = 0.01
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(
    optimizer, T_max=epochs - start_epoch
)

for epoch in range(start_epoch, epochs):
    print(f"epoch {epoch}: {scheduler.get_last_lr()[0]:.4f}")
    optimizer.step()
    scheduler.step()
