"""See which boxes NMS keeps, with all in one class and in two."""

import matplotlib.pyplot as plt
import torch
from torchvision.ops import batched_nms, box_convert

boxes = torch.tensor([[0.0, 14, 40, 68], [8, 6, 48, 60], [58, 24, 88, 68]])
scores, labels = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([0, 1, 0])
kept = {"boxes": torch.arange(3)}
kept["one class"] = batched_nms(boxes, scores, 0 * labels, 0.5)
kept["two classes"] = batched_nms(boxes, scores, labels, 0.5)

fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.5))
for ax, (title, keep) in zip(axes, kept.items(), strict=True):
    for i in keep.tolist():
        x, y, w, h = box_convert(boxes[i], "xyxy", "xywh").tolist()
        color = f"C{labels[i]}" if ax is axes[2] else "C0"
        ax.add_patch(plt.Rectangle((x, y), w, h, fill=False, ec=color))
        ax.text(x + 1, y + (7.5 if i == 1 else h - 1), f"{scores[i]:.1f}")
    ax.set(title=title, xlim=(-1, 89), ylim=(69, 5), aspect="equal")
    ax.axis("off")
fig.savefig("show_nms.svg")
assert kept["one class"].tolist() == [0, 2]
