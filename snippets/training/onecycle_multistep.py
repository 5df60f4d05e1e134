"""Where to step three schedulers: fixed epochs, a stalled loss, one cycle."""

import torch
from torch.optim.lr_scheduler import MultiStepLR, OneCycleLR, ReduceLROnPlateau

weight = torch.nn.Parameter(torch.zeros(1))
epochs, batches = 5, 2  # batches: len(loader)

optimizer = torch.optim.SGD([weight], lr=0.1)
scheduler = MultiStepLR(optimizer, milestones=[2, 4], gamma=0.5)
for epoch in range(epochs):
    print(f"MultiStepLR, epoch {epoch}: {scheduler.get_last_lr()[0]:.3f}")
    optimizer.step()  # stands for the batches of an epoch
    scheduler.step()  # once per epoch

optimizer = torch.optim.SGD([weight], lr=0.1)
scheduler = ReduceLROnPlateau(optimizer, factor=0.2, patience=1)
for epoch, val_loss in enumerate([0.9, 0.7, 0.7, 0.8, 0.7]):
    print(
        f"ReduceLROnPlateau, epoch {epoch}: {scheduler.get_last_lr()[0]:.3f}"
    )
    optimizer.step()
    scheduler.step(val_loss)  # once per epoch, after validation

optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * batches)
for step in range(epochs * batches):
    print(f"OneCycleLR, batch {step}: {scheduler.get_last_lr()[0]:.3f}")
    optimizer.step()
    scheduler.step()  # after every batch
