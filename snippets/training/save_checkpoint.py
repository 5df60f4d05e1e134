"""Save all that training needs to resume, in a file no kill can spoil."""

from pathlib import Path

import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
generator = torch.Generator()  # the one of DataLoader(generator=generator)
folder, epoch, best_score = Path("checkpoints"), 0, float("-inf")
checkpoint = {
    "epoch": epoch,
    "best_score": best_score,
    "model_state_dict": model.state_dict(),
    "optimizer_state_dict": optimizer.state_dict(),
    "scheduler_state_dict": scheduler.state_dict(),
    "loader_rng_state": generator.get_state(),
    "torch_rng_state": torch.get_rng_state(),
    "cuda_rng_state": torch.cuda.get_rng_state_all(),  # [] without a GPU
}
folder.mkdir(parents=True, exist_ok=True)
torch.save(checkpoint, folder / "last.tmp")
(folder / "last.tmp").replace(folder / "last.pt")  # atomic: never half a file
print(list(torch.load(folder / "last.pt", weights_only=True)))
