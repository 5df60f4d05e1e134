"""Read the learning rate of an optimizer, and change it while training."""

import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

lr = optimizer.param_groups[0]["lr"]  # the rate of the next step
for group in optimizer.param_groups:  # set it, in every group
    group["lr"] = 1e-4
print("was", lr)

# With a scheduler: what it has set last, one number per group.
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(4):
    print(f"epoch {epoch}: lr {scheduler.get_last_lr()[0]:.0e}")
    optimizer.step()  # stands for an epoch of training
    scheduler.step()
