"""Average the predictions for an image and its mirror image."""

import torch
from torch import nn

torch.manual_seed(0)
# 1000 images with a bright spot; its height is the class.
labels = torch.arange(5).repeat(200)
images = torch.randn(1000, 3, 16, 16)  # (N, 3, H, W)
images[range(1000), :, labels * 3, torch.randint(16, (1000,))] += 6
model = nn.Sequential(nn.Flatten(), nn.Linear(768, 5))
optimizer = torch.optim.Adam(model.parameters(), weight_decay=0.1)
for _ in range(150):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images[:500]), labels[:500]).backward()
    optimizer.step()
x, y = images[500:], labels[500:]

model.eval()
with torch.inference_mode():
    views = [x, x.flip(-1)]  # as it is, and left to right
    probs = torch.stack([model(view).softmax(1) for view in views]).mean(0)
predicted = probs.argmax(1)  # (N,)

without = (model(x).argmax(1) == y).float().mean()
accuracy = (predicted == y).float().mean()
print(f"accuracy {without:.2f} without, {accuracy:.2f} with")
