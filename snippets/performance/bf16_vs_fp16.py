"""Choose bfloat16 or float16 by the GPU, with one training step for both."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 1).to(device)  # the weights stay float32
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4, device=device)

native = torch.cuda.is_bf16_supported(including_emulation=False)
old = device.type == "cuda" and not native  # T4, RTX 20: only emulated
half = torch.float16 if old else torch.bfloat16
scaler = torch.amp.GradScaler(device.type, enabled=old)  # float16 only

with torch.autocast(device.type, dtype=half):
    loss = model(x).square().mean()
scaler.scale(loss).backward()  # in bfloat16: loss.backward()
scaler.step(optimizer)  # in bfloat16: optimizer.step()
scaler.update()

for dtype in (torch.float32, torch.bfloat16, torch.float16):
    stored = torch.tensor([70_000, 1e-8, 1.003], dtype=dtype).tolist()
    print(f"{dtype} stores", *(f"{value:.5g}" for value in stored))
