"""Read Python numbers out of tensors."""

import torch

logits = torch.tensor([0.5, 2.0, 1.0], requires_grad=True)  # (C,)
loss = logits.square().mean()

value = loss.item()  # one element: a float
label = logits.argmax(-1).item()  # an int, for one sample
values = logits.tolist()  # several: a list

print(f"loss {value:.2f}, class {label}, logits {values}")
