"""Count the parameters of a model, and its size in memory."""

from torchvision.models import resnet18

model = resnet18(weights=None)
model.conv1.requires_grad_(False)

total = sum(p.numel() for p in model.parameters())
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
tensors = [*model.parameters(), *model.buffers()]
size = sum(t.numel() * t.element_size() for t in tensors)  # bytes

print(f"{total:,} parameters, {trainable:,} trainable")
print(f"{size / 1e6:.1f} MB of {model.fc.weight.dtype}")

for name, part in model.named_children():
    print(f"{name:8} {sum(p.numel() for p in part.parameters()):>10,}")
